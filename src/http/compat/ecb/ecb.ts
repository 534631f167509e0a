// The files of the ECB: units of all other currencies for one euro. Their rates are the bank's, or another provider's.
// Readers take the newest day at or before theirs, so no file spans days that were not synchronized.

import * as v from 'valibot'
import {
  type DailyTable,
  type DailyTableQuery,
  findNewestRow,
  type NewestRow,
  selectDailyTable,
} from '../../../domain/rates/day-tables.ts'
import { requireProvider } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import { createSemaphore } from '../../../runtime/semaphore.ts'
import type { Side } from '../../../store/tables.ts'
import { addDays, type IsoDate } from '../../../values/dates.ts'
import type { Api } from '../../endpoint/api.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import { completeParts } from '../missing-days.ts'
import {
  type CompatDeps,
  type CompatRequest,
  type CompatStream,
  compatEndpoint,
  compatStream,
  fewestDecimals,
  PROVIDER,
} from '../shape.ts'
import { csvParts, xmlParts } from './forms.ts'
import { zipFile } from './zip.ts'

const ROOT = '/compat/ecb/stats/eurofxref'
const XML_TYPE = 'text/xml'
const BASE = 'EUR'
const LEADING = 'USD'
const RECENT_DAYS = 90
const ZIP_WAIT = { ms: 60_000, message: 'Other files are being packed: try again in a moment' }
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: 'text/plain; charset=utf-8',
  body: (_, message) => message,
  schema: v.string(),
}

type FileQuery = { provider: string; today: IsoDate; side: Side }

export function ecbApi(deps: CompatDeps): Api {
  const packing = createSemaphore(1, ZIP_WAIT)
  const parse = ({ provider, today, side }: CompatRequest): FileQuery => ({ provider, today, side })
  const namedProvider = (query: URLSearchParams) => query.get('provider')?.trim().toLowerCase() || undefined
  const common = { namedProvider, parse }
  const recent = {
    ...common,
    find: (snapshot: RateSnapshot, query: FileQuery) =>
      requireTable(deps, snapshot, query, addDays(query.today, -RECENT_DAYS)),
    roundedTo: ({ roundedTo }: DailyTable) => roundedTo,
    leftOut: ({ leftOut }: DailyTable) => leftOut,
  }
  const history: Omit<CompatStream<FileQuery, DailyTable>, 'path' | 'contentType' | 'encode'> = {
    ...recent,
    find: (snapshot, query) => requireTable(deps, snapshot, query),
    endsAt: ({ cut, first }) => cut && first,
  }
  return {
    prefixes: ['/compat/ecb'],
    errors: ERRORS,
    endpoints: [
      compatEndpoint(deps, {
        path: `${ROOT}/eurofxref-daily.xml`,
        contentType: XML_TYPE,
        ...common,
        find: (snapshot, query) => findDay(deps, snapshot, query),
        encode: (row, _, { name }) => [...xmlParts(name, [row])].join(''),
        roundedTo: ({ crosses }) => fewestDecimals(crosses),
        leftOut: ({ leftOut }) => leftOut,
      }),
      compatStream(deps, {
        ...recent,
        path: `${ROOT}/eurofxref-hist-90d.xml`,
        contentType: XML_TYPE,
        encode: ({ rows }, _, { name }) => xmlParts(name, rows()),
      }),
      compatStream(deps, {
        ...history,
        path: `${ROOT}/eurofxref-hist.xml`,
        contentType: XML_TYPE,
        encode: ({ rows }, _, { name }) => xmlParts(name, rows()),
      }),
      compatStream(deps, {
        ...history,
        path: `${ROOT}/eurofxref-hist.csv`,
        contentType: 'text/csv',
        encode: ({ quotes, rows }) => csvParts(quotes, rows()),
      }),
      compatStream(deps, {
        ...history,
        path: `${ROOT}/eurofxref-hist.zip`,
        contentType: 'application/zip',
        encode:
          ({ quotes, rows }) =>
          async (interleave) => {
            using _turn = await packing.acquire()
            return zipFile('eurofxref-hist.csv', interleave(csvParts(quotes, rows())))
          },
      }),
    ],
  }
}

/** @throws AppError `not-found`: no such provider */
function tableQuery(
  { serveRounded }: CompatDeps,
  snapshot: RateSnapshot,
  { provider, today, side }: FileQuery,
): DailyTableQuery {
  requireProvider(snapshot, provider)
  const isBank = provider === PROVIDER
  const pivot = snapshot.pivot(provider)
  // Others publish on their working days, and stop publishing currencies: such a rate is not carried for years.
  const anchor = isBank ? 'CRC' : pivot === undefined || pivot === BASE ? LEADING : pivot
  const pair = { provider, base: BASE, leading: LEADING, anchor, side, isCarried: isBank }
  return { ...pair, to: today, servesRounded: serveRounded }
}

/** @throws AppError `not-found` */
async function findDay(deps: CompatDeps, snapshot: RateSnapshot, query: FileQuery): Promise<NewestRow> {
  const row = await findNewestRow(snapshot, tableQuery(deps, snapshot, query))
  if (!row) throw noRatesError(query)
  if (row.roundedCount > 0) deps.unserved.rounded(row.roundedCount)
  return row
}

/**
 * Selects the rows of a file: those from a day on, or as many as there are.
 * @throws AppError `unavailable`: days of the euro or of the dollar were not synchronized; `not-found`: no rows
 */
async function requireTable(
  deps: CompatDeps,
  snapshot: RateSnapshot,
  query: FileQuery,
  from?: IsoDate,
): Promise<DailyTable> {
  const table = await selectDailyTable(snapshot, tableQuery(deps, snapshot, query), from)
  if (!table) throw noRatesError(query)
  const isIncomplete = table.cut && (from !== undefined || table.first === undefined)
  const missing = isIncomplete ? table.cut : undefined
  const parts = [{ code: BASE, value: table, missing }]
  await completeParts(deps, 'ecb', parts, { areNamed: true, provider: query.provider })
  if (table.first === undefined) throw noRatesError(query)
  const { days: [leftOutDays] = [], isRounded } = table.leftOutDays ?? {}
  if (leftOutDays && from !== undefined) {
    deps.unserved.days('ecb', leftOutDays, { isRefused: false, isRounded })
  }
  return table
}

function noRatesError({ provider }: FileQuery): AppError {
  const where = provider === PROVIDER ? 'in colones are held' : `are held of ${provider}`
  return new AppError('not-found', `no rates of the euro ${where}`)
}
