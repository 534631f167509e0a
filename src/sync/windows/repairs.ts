// Values whose sums show damage. A value that differs from the source there was damaged, and the bank corrected nothing.
// A year is whole again once a run had an answer for each of its days.

import { atomically, snapshot } from '../../store/engine.ts'
import { raiseRevision } from '../../store/meta.ts'
import { takeInstant } from '../../store/rates/change-log.ts'
import { acceptSums, listDamagedParts } from '../../store/rates/rate-sums.ts'
import { rateKey, type StoredRate, selectRates } from '../../store/rates/rates.ts'
import type { ReadDb } from '../../store/tables.ts'
import { addDays, earliest, type IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import type { RunContext } from '../state.ts'
import { type AcceptedRate, type Changes, compareRates } from './accept.ts'

/**
 * Compares accepted values with stored ones. Reads the sums only if a value differs. `written`: series that the
 * transaction has written, so that their sums are pending.
 */
export async function compareOrRepair(
  db: ReadDb,
  accepted: readonly AcceptedRate[],
  idByCode: ReadonlyMap<string, number>,
  { before, written }: { before: readonly StoredRate[]; written: ReadonlySet<number> },
): Promise<Changes> {
  const changes = compareRates(accepted, idByCode, before)
  const corrected = changes.revisions.filter(
    ({ kind, series_id }) => kind === 'correction' && !written.has(series_id),
  )
  const damaged = new Set<string>()
  for (const id of new Set(corrected.map(({ series_id }) => series_id)))
    for (const part of await listDamagedParts(db, id)) damaged.add(partKey(id, part))
  if (damaged.size === 0) return changes
  return compareRates(accepted, idByCode, before, (id, day) => damaged.has(partKey(id, readYear(day))))
}

/** Years, as `SERIES YEAR`, with a stored value that an answer does not confirm digit by digit. */
export function unconfirmedYears(
  accepted: readonly AcceptedRate[],
  idByCode: ReadonlyMap<string, number>,
  { before, writes }: { before: readonly StoredRate[]; writes: Changes['writes'] },
): Set<string> {
  if (before.length === 0) return new Set()
  const writtenKeys = new Set(writes.map(rateKey))
  const published = new Set(
    accepted.map(({ code, day, value, roundedTo }) => `${idByCode.get(code)} ${day} ${value} ${roundedTo}`),
  )
  const unconfirmed = before.filter(
    (rate) =>
      !writtenKeys.has(rateKey(rate)) && !published.has(`${rateKey(rate)} ${rate.value} ${rate.rounded_to}`),
  )
  return new Set(unconfirmed.map(({ series_id, rate_date }) => partKey(series_id, readYear(rate_date))))
}

/**
 * Writes the sums of damaged years anew. The run had an answer for each of their days that had begun, and it confirmed
 * each value. Returns the number of these years.
 */
export async function healYears(context: RunContext): Promise<number> {
  const { db, lock, today, answered, unconfirmed } = context
  let count = 0
  for (const [id, days] of answered) {
    const ends = new Map(
      days.flatMap((interval) => wholeYears(interval, today).map((year) => [year, interval.to])),
    )
    const isHealed = (part: string) => ends.has(part) && !unconfirmed.has(partKey(id, part))
    // The lock of the change log is for damage alone.
    if (ends.size === 0 || !(await snapshot(db, (trx) => listDamagedParts(trx, id))).some(isHealed)) continue
    count += await atomically(
      db,
      async (trx) => {
        const now = await takeInstant(trx, context.now())
        const parts: string[] = []
        for (const part of (await listDamagedParts(trx, id)).filter(isHealed)) {
          const laterDays = { from: addDays(ends.get(part) ?? today, 1), to: `${part}-12-31` }
          if ((await selectRates(trx, [id], laterDays)).length === 0) parts.push(part)
        }
        if (parts.length > 0) await acceptSums(trx, id, parts, await raiseRevision(trx, now))
        return parts.length
      },
      lock,
    )
  }
  return count
}

/** Whole years of an interval, the current one up to today. */
function wholeYears({ from, to }: Interval, today: IsoDate): string[] {
  const first = Number(readYear(from)) + (from.endsWith('-01-01') ? 0 : 1)
  const count = Math.max(0, Number(readYear(to)) - first + 1)
  return Array.from({ length: count }, (_, at) => `${first + at}`).filter(
    (year) => to >= earliest(`${year}-12-31`, today),
  )
}

function readYear(day: IsoDate): string {
  return day.slice(0, 4)
}

function partKey(id: number, part: string): string {
  return `${id} ${part}`
}
