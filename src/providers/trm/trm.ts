// Superintendencia Financiera de Colombia: the TRM, pesos per dollar, of the open data of Colombia. A row is valid for a
// range of days; each day of it is an observation. README.md has the facts.

import type { Provider } from '../provider.ts'
import { openConnection } from '../source-connection.ts'

const TRM = 'TRM'
const TIME_ZONE = 'America/Bogota'
const MOST_ROWS = 50_000 // a history since 1991 has some 9,000

export const trm: Provider = {
  id: 4,
  code: 'trm',
  name: 'Superintendencia Financiera de Colombia (TRM)',
  country: 'CO',
  website: 'https://www.superfinanciera.gov.co',
  isOptional: true,
  attribution: 'Fuente: Superintendencia Financiera de Colombia, TRM (datos.gov.co)',
  terms: 'https://www.datos.gov.co/d/32sa-8pi3',
  pivot: 'COP',
  timeZone: TIME_ZONE,
  // Each calendar day has a value, published the evening before.
  publication: { time: '00:00', days: 'every day' },
  benchmark: { base: 'USD', quote: 'COP', noun: 'dollar', staleDays: 2 },
  roundedSource: undefined,
  settings: {
    schedule: {
      option: 'trm-cron',
      fallback: '30 18 * * *',
      help: 'when to sync the TRM of Colombia, in the time of Bogotá, once it is enabled',
      spanish: 'cuándo se sincroniza la TRM de Colombia, en hora de Bogotá, si está habilitada',
    },
    url: {
      option: 'trm-url',
      fallback: 'https://www.datos.gov.co',
      help: 'base of the open data of Colombia',
      spanish: 'dirección base de los datos abiertos de Colombia',
    },
    pace: {
      option: 'trm-pace',
      fallback: '1000',
      help: 'least milliseconds between two requests for the TRM',
      spanish: 'mínimo de milisegundos entre dos solicitudes de la TRM',
    },
    token: undefined,
  },
  catalogue: [
    {
      externalCode: TRM,
      name: 'Tasa de cambio representativa del mercado',
      base: 'USD',
      quote: 'COP',
      rateType: 'referencia',
      table: TRM,
      plausibleRange: { low: '2500', high: '7000' },
    },
  ],
  groups: [
    {
      ...{ name: TRM, table: TRM, indicators: [TRM], chunkDays: 3660, startsOn: undefined },
      publishesDaily: true,
    },
  ],
  connect: (settings, signal, tuning) =>
    openConnection(settings, signal, { timeZone: TIME_ZONE, tuning }, ({ requester, notify }) => ({
      async read({ window }) {
        const { readRanges } = await import('./ranges.ts') // imported here for a faster start
        const request = {
          name: TRM,
          url: rangesUrl(settings.url, window),
          headers: { Accept: 'application/json' },
          secrets: [],
          isFixed: true as const,
        }
        const { observations, isOutOfDate } = await requester.get(request, async (body, headers) => ({
          observations: await readRanges(body, window, {
            ...{ code: TRM, mostRows: MOST_ROWS, today: requester.sourceDay() },
          }),
          isOutOfDate: headers.get('x-soda2-data-out-of-date') === 'true',
        }))
        if (isOutOfDate)
          notify({
            message: `${TRM}: the open data of Colombia are being updated (X-Soda2-Data-Out-Of-Date)`,
          })
        return { listed: [{ code: TRM, name: 'TRM' }], observations }
      },
    })),
}

/** Returns the URL of the rows that are valid on a day of the window. */
function rangesUrl(base: string, { from, to }: { from: string; to: string }): string {
  const query = {
    $select: 'valor,unidad,vigenciadesde,vigenciahasta',
    $where: `vigenciadesde <= '${to}T00:00:00.000' AND vigenciahasta >= '${from}T00:00:00.000'`,
    $order: 'vigenciadesde ASC',
    $limit: String(MOST_ROWS),
  }
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${base.replace(/\/+$/, '')}/resource/32sa-8pi3.json?${parameters.join('&')}`
}
