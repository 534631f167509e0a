// Values whose sums show damage. A value that differs from the source there was damaged, and the bank corrected nothing.
// A year is whole again once a run had an answer for each of its days.

import { atomically } from '../../store/engine.ts'
import { raiseRevision } from '../../store/meta.ts'
import { takeInstant } from '../../store/rates/change-log.ts'
import { acceptSums, listSumFaults } from '../../store/rates/rate-sums.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { ReadDb } from '../../store/tables.ts'
import { earliest, type IsoDate } from '../../values/dates.ts'
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
    for (const { part } of await listSumFaults(db, id)) damaged.add(partKey(id, part))
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
  const confirmed = new Set(writes.map((rate) => rateKey(rate.series_id, rate.rate_date, '')))
  const published = new Set(
    accepted.map(({ code, day, value }) => rateKey(idByCode.get(code) ?? 0, day, value)),
  )
  const years = new Set<string>()
  for (const { series_id: id, rate_date: day, value } of before) {
    const isConfirmed = published.has(rateKey(id, day, value)) || confirmed.has(rateKey(id, day, ''))
    if (!isConfirmed) years.add(partKey(id, readYear(day)))
  }
  return years
}

/**
 * Writes the sums of damaged years anew. The run had an answer for each of their days that had begun, and it confirmed
 * each value. Returns the number of these years.
 */
export async function healYears(context: RunContext): Promise<number> {
  const { db, lock, today, answered, reread, unconfirmed } = context
  let count = 0
  for (const id of reread) {
    const years = (answered.get(id) ?? []).flatMap(({ from, to }) => {
      const first = Number(readYear(from)) + (from.slice(4) === '-01-01' ? 0 : 1)
      const all = Array.from(
        { length: Math.max(0, Number(readYear(to)) - first + 1) },
        (_, at) => `${first + at}`,
      )
      return all.filter(
        (year) => to >= earliest(`${year}-12-31`, today) && !unconfirmed.has(partKey(id, year)),
      )
    })
    if (years.length === 0) continue
    count += await atomically(
      db,
      async (trx) => {
        const now = await takeInstant(trx, context.now())
        const parts = (await listSumFaults(trx, id))
          .map(({ part }) => part)
          .filter((one) => years.includes(one))
        if (parts.length > 0) await acceptSums(trx, id, parts, await raiseRevision(trx, now))
        return parts.length
      },
      lock,
    )
  }
  return count
}

function readYear(day: IsoDate): string {
  return day.slice(0, 4)
}

function partKey(id: number, part: string): string {
  return `${id} ${part}`
}

function rateKey(id: number, day: IsoDate, value: string): string {
  return `${id} ${day} ${value}`
}
