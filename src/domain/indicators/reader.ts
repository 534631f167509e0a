// Stored indicators as answers read them. A snapshot has one revision, and reads the values of an indicator on first
// use. A server without indicators caches nothing. `as_of` is computed backwards, as with rates (decisions#as-of).

import type { KnownIndicator, Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import { createLruCache } from '../../runtime/lru.ts'
import { snapshot } from '../../store/engine.ts'
import {
  type IndicatorVersion,
  selectIndicators,
  selectIndicatorVersion,
} from '../../store/indicators/indicators.ts'
import {
  selectAllIndicatorValues,
  selectIndicatorCoverage,
  selectLaterIndicatorChanges,
  selectLaterIndicatorRevisions,
  selectNewestValues,
  selectValueDays,
} from '../../store/indicators/values.ts'
import { selectChangeLogBounds } from '../../store/rates/change-log.ts'
import type { ReadDb } from '../../store/tables.ts'
import { columnBytes, toCoveredDays } from '../rates/column.ts'
import { withoutDays } from '../rates/covered-days.ts'
import { rejectGap } from '../rates/history/past.ts'
import { pastColumn, undoCoverage } from '../rates/history/past-column.ts'
import type { SeriesDays } from '../rates/holes.ts'
import { isOutdated, outdatedError } from '../rates/loaded-columns.ts'
import { parseColumn } from '../rates/parsed-column.ts'
import { type DescribedIndicator, describeIndicators } from './catalogue.ts'

/** The stored indicators at one revision. */
export type IndicatorSnapshot = IndicatorVersion & {
  readonly indicators: readonly DescribedIndicator[]
  /** Instants at which the change logs of indicators begin, by code. */
  readonly changeLogStarts: ReadonlyMap<string, number>
  /** Newest values by code. */
  readonly newestValues: ReadonlyMap<string, string>
  /** Indicators that are known by name. */
  readonly named: readonly KnownIndicator[]
  /** Returns the values and the covered days of a stored indicator. */
  days(code: string): Promise<SeriesDays>
}

/** Snapshots in the form of those of rates, for cached answers. */
export type IndicatorReader = {
  cache: {
    snapshot(): IndicatorSnapshot
    read<T>(query: (present: IndicatorSnapshot) => T | Promise<T>): Promise<T>
  }
  past: {
    /** @throws AppError `not-found` for an instant before the change log of an indicator, or in a gap */
    read<T>(
      present: IndicatorSnapshot,
      instant: number,
      find: (then: IndicatorSnapshot) => T | Promise<T>,
    ): Promise<T>
  }
}

type IndicatorOrigin = { code: string; load: Provider['indicators'] }

const COLUMN_BYTES = 4 * 1024 * 1024
const MOST_TRIES = 3 // a run stores a window each second
const NOTHING: IndicatorSnapshot = {
  ...{
    epoch: '',
    revision: -1,
    newestInstant: undefined,
    indicators: [],
    changeLogStarts: new Map(),
    newestValues: new Map(),
    named: [],
  },
  days: () => Promise.reject(outdatedError('indicators')),
}

/** Returns the provider that has indicators. */
export function indicatorOrigin(providers: readonly Provider[]): IndicatorOrigin {
  const provider = providers.find(({ indicators }) => indicators !== undefined)
  return { code: provider?.code ?? '', load: provider?.indicators }
}

/** Reads without a poll: each question compares the revision first. */
export function createIndicatorReader(db: ReadDb, origin: IndicatorOrigin): IndicatorReader {
  let present = NOTHING
  const refresh = async () => {
    const { epoch, revision } = await selectIndicatorVersion(db)
    if (epoch !== present.epoch || revision !== present.revision) present = await takeSnapshot(db, origin)
    return present
  }
  return {
    cache: {
      snapshot: () => present,
      async read(query) {
        for (let tries = 1; ; tries += 1) {
          try {
            return await query(await refresh())
          } catch (error) {
            if (!isOutdated(error) || tries === MOST_TRIES) throw error
          }
        }
      },
    },
    past: {
      async read(now, instant, find) {
        const { gaps } = await selectChangeLogBounds(db)
        rejectGap(gaps, instant)
        // When an indicator was disabled is not recorded, so each one with a change log at the instant answers.
        const indicators = now.indicators.map((one) => ({
          ...one,
          enabled: instant >= changeLogStart(now, one.code),
        }))
        return find({ ...now, indicators, days: (code) => readPastDays(db, now, { code, instant }) })
      },
    },
  }
}

async function takeSnapshot(
  db: ReadDb,
  { code: provider, load }: IndicatorOrigin,
): Promise<IndicatorSnapshot> {
  const columns = createLruCache<SeriesDays>(COLUMN_BYTES)
  const knownIndicators = (await load?.())?.named() ?? []
  return snapshot(db, async (trx) => {
    const version = await selectIndicatorVersion(trx)
    const rows = await selectIndicators(trx)
    const days = await selectValueDays(trx)
    return {
      ...version,
      ...{
        indicators: describeIndicators(provider, rows, { days, named: knownIndicators }),
        changeLogStarts: new Map(rows.map(({ code, added_at }) => [code, added_at])),
        newestValues: await selectNewestValues(trx),
        named: knownIndicators,
      },
      async days(code) {
        const cached = columns.get(code)
        if (cached) return cached
        const read = await snapshot(db, (later) => readDays(later, code, version))
        columns.put(code, read, columnBytes(read.column) + read.covered.byteLength)
        return read
      },
    }
  })
}

async function readDays(
  trx: ReadDb,
  code: string,
  { epoch, revision }: IndicatorVersion,
): Promise<SeriesDays> {
  const version = await selectIndicatorVersion(trx)
  if (version.epoch !== epoch || version.revision !== revision) throw outdatedError('indicators')
  const rows = await selectAllIndicatorValues(trx, code)
  const covered = toCoveredDays((await selectIndicatorCoverage(trx, code)).get(code) ?? [])
  const lines = rows.map(({ value_date, value }) => value_date + value).join('\n')
  const column = parseColumn({ name: `indicator ${code}`, count: rows.length, lines }, { anySign: true })
  const days = column.damage ? withoutDays(covered, column.damage.days) : covered
  return { column, covered: days, startsOn: undefined }
}

/** Computes the values and covered days of an instant, from the rows of one transaction. */
async function readPastDays(
  db: ReadDb,
  now: IndicatorSnapshot,
  { code, instant }: { code: string; instant: number },
): Promise<SeriesDays> {
  return snapshot(db, async (trx) => {
    const present = await readDays(trx, code, now)
    rejectEarlier(now, code, instant)
    const values = await selectAllIndicatorValues(trx, code)
    const revisions = await selectLaterIndicatorRevisions(trx, code, instant)
    const covered = (await selectIndicatorCoverage(trx, code)).get(code) ?? []
    const changes = await selectLaterIndicatorChanges(trx, code, instant)
    const columnLog = {
      name: `indicator ${code}`,
      stored: values.map(({ value_date: from, stored_at: storedAt }) => ({ from, storedAt })),
      revisions: revisions.map(({ value_date: rate_date, old_value, old_stored_at }) => ({
        ...{ rate_date, old_value, old_rounded_to: null, old_stored_at },
      })),
      imported: [],
    }
    const column = pastColumn(present.column, columnLog, instant)
    return { column, covered: toCoveredDays(undoCoverage(covered, changes)), startsOn: undefined }
  })
}

function rejectEarlier(now: IndicatorSnapshot, code: string, instant: number): void {
  const begin = changeLogStart(now, code)
  if (instant >= begin) return
  const text = new Date(begin).toISOString()
  throw new AppError('not-found', `the record of the indicator ${code} begins at ${text}`)
}

function changeLogStart({ changeLogStarts }: IndicatorSnapshot, code: string): number {
  return changeLogStarts.get(code) ?? 0
}
