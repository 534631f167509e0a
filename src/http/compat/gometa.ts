// GoMeta's dollar: the last value of each side under its own day. Its readers compare `venta_date` with their today,
// and parse numbers and ISO dates alone.

import { readStoredInstant } from '../../domain/rates/export/export.ts'
import { type LastRate, requireLastRate } from '../../domain/rates/sides.ts'
import { rawNumber } from '../../formats/json/raw.ts'
import type { Side } from '../../store/tables.ts'
import { costaRicaCtime } from '../../values/dates.ts'
import type { Api } from '../endpoint/api.ts'
import { type CompatDeps, compatEndpoint, PROVIDER, plainJsonErrors } from './shape.ts'

const OTHER_PATHS = 'this server has rates alone: /tdc/tdc.json is the one path of apis.gometa.org here'

export function gometaApi(deps: CompatDeps): Api {
  const endpoint = compatEndpoint(deps, {
    path: '/compat/gometa/tdc/tdc.json',
    contentType: 'application/json',
    hasBothSides: true,
    parse: ({ today }) => ({ day: today }),
    async find(snapshot, { day }) {
      const find = (side: Side) =>
        requireLastRate(snapshot, { provider: PROVIDER, base: 'USD', quote: 'CRC', side, day })
      const [compra, venta] = [await find('compra'), await find('venta')]
      return {
        updated: costaRicaCtime(await newestInstant(deps, [compra, venta])),
        compra: rawNumber(compra.point.value),
        venta: rawNumber(venta.point.value),
        compra_date: compra.point.rate_date,
        venta_date: venta.point.rate_date,
      }
    },
  })
  return {
    prefixes: ['/compat/gometa'],
    errors: {
      ...plainJsonErrors,
      body: (status, message) =>
        JSON.stringify({ error: status === 404 && message === 'Not found' ? OTHER_PATHS : message }),
    },
    isForWebsites: true,
    endpoints: [endpoint],
  }
}

/** Returns the instant at which the newest of the values was stored. */
async function newestInstant({ db }: CompatDeps, rates: readonly LastRate[]): Promise<number> {
  const days = rates.map(({ point }) => point.rate_date)
  const newestDay = days.toSorted().at(-1)
  const newest = rates.filter(({ point }) => point.rate_date === newestDay)
  const instants = await Promise.all(
    newest.map(({ series, column, point }) => readStoredInstant(db, series, column, point.rate_date)),
  )
  return Math.max(...instants)
}
