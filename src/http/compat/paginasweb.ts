// The dollar of paginasweb.cr: both sides of one day. Programs write days in several forms, and one doubles a slash.

import { latestRates } from '../../domain/rates/queries.ts'
import { rawNumber } from '../../formats/json/raw.ts'
import { AppError } from '../../runtime/errors.ts'
import { earliest, type IsoDate, isIsoDate } from '../../values/dates.ts'
import type { Api } from '../endpoint/api.ts'
import { type CompatDeps, type CompatRequest, compatEndpoint, PROVIDER, plainJsonErrors } from './shape.ts'

const ROOT = '/compat/paginasweb/api'

export function paginaswebApi(deps: CompatDeps): Api {
  const endpoint = (
    path: typeof ROOT | `${typeof ROOT}/{day}/{month}/{year}`,
    parseRequest: (request: CompatRequest) => IsoDate,
  ) =>
    compatEndpoint(deps, {
      path,
      contentType: 'application/json',
      hasBothSides: true,
      parse: (request) => ({ day: parseRequest(request) }),
      async find(snapshot, { day }) {
        const pair = { provider: PROVIDER, base: 'USD', quote: 'CRC' }
        const { rate_date, compra, venta } = await latestRates(snapshot, { ...pair, day })
        if (compra === null || venta === null) {
          const side = compra === null ? 'compra' : 'venta'
          throw new AppError('not-found', `no ${side} of ${rate_date} is held`)
        }
        return { compra: rawNumber(compra), venta: rawNumber(venta), fecha: rate_date }
      },
    })
  return {
    prefixes: ['/compat/paginasweb'],
    errors: plainJsonErrors,
    isForWebsites: true,
    endpoints: [
      endpoint(ROOT, ({ today }) => today),
      endpoint(`${ROOT}/{day}/{month}/{year}`, ({ params, today }) =>
        earliest(parseDay([params.day, params.month, params.year]), today),
      ),
    ],
  }
}

/** Parses d/m/yyyy or yyyy/m/d, with or without zeros. @throws AppError `bad-request` */
function parseDay(parts: readonly (string | undefined)[]): IsoDate {
  const isYear = (part = '') => part.length === 4
  const [day, month, year] = isYear(parts[0]) ? parts.toReversed() : parts
  const date = [year, month?.padStart(2, '0'), day?.padStart(2, '0')].join('-')
  if (!isIsoDate(date)) throw new AppError('bad-request', 'a day is d/m/yyyy or yyyy/m/d, such as 3/9/2026')
  return date
}
