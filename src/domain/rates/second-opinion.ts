// Compares the second opinion on the dollar with the stored values of its own days. A difference is reported and changes
// nothing. A day without a stored value is not compared.

import { OPINION_SOURCE } from '../../providers/opinion-source.ts'
import type { Provider } from '../../providers/provider.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { selectRates } from '../../store/rates/rates.ts'
import { findOpinion, type StoredOpinion } from '../../store/rates/second-opinions.ts'
import { selectProviderSeries } from '../../store/rates/series.ts'
import type { ReadDb, Side } from '../../store/tables.ts'
import type { Clock, IsoDate } from '../../values/dates.ts'
import { roundDecimal } from '../../values/decimal.ts'
import { isBenchmark } from './freshness.ts'

const SOURCE_NAME = 'Hacienda'
const LEAST_DECIMALS = 2
const DAY_MS = 86_400_000
const LONGEST_AGE_MS = 7 * DAY_MS // the last answer stays stored after the option was removed

/** Different values of a side: `value` is the stored one, `other` that of the source. */
export type OpinionDifference = { rate_type: Side; rate_date: IsoDate; value: string; other: string }

/** `differences` is empty when this machine answered in place of the source. */
export type OpinionReport = {
  source: typeof OPINION_SOURCE
  asked_at: string
  message: string
  differences: OpinionDifference[]
}

/** Reports the newest opinion of the last 7 days. Undefined: none, or the values are equal. */
export async function findOpinionReport(
  db: ReadDb,
  { clock, providers }: { clock: Clock; providers: readonly Provider[] },
): Promise<OpinionReport | undefined> {
  const opinion = await findOpinion(db, OPINION_SOURCE)
  const bank = providers.find(({ isOptional }) => !isOptional)
  if (!opinion?.answer || !bank) return undefined
  const age = clock().getTime() - Date.parse(opinion.answer.at)
  return age > LONGEST_AGE_MS ? undefined : reportOpinion(db, bank, opinion.answer)
}

/** Compares an answer with the stored values. Undefined: nothing to report. */
export async function reportOpinion(
  db: ReadDb,
  bank: Provider,
  { host, at, sides }: NonNullable<StoredOpinion['answer']>,
): Promise<OpinionReport | undefined> {
  const about = { source: OPINION_SOURCE, asked_at: at } as const
  if (sides.length === 0)
    return { ...about, message: `${host} leads to this machine: there is no second opinion`, differences: [] }
  const row = (await selectProviders(db)).find(({ code }) => code === bank.code)
  const series = row ? await selectProviderSeries(db, row.id) : []
  const differences: OpinionDifference[] = []
  for (const { rate_type, rate_date, value: other } of sides) {
    const ids = series.flatMap((one) => (isBenchmark(bank, one) && one.rate_type === rate_type ? one.id : []))
    const [stored] = await selectRates(db, ids, { from: rate_date, to: rate_date })
    if (stored && !areEqual(stored.value, other))
      differences.push({ rate_type, rate_date, value: stored.value, other })
  }
  if (differences.length === 0) return undefined
  const words = differences.map(
    ({ rate_type, rate_date, value, other }) =>
      `${rate_type} of ${rate_date} is ${value} here and ${other} at ${SOURCE_NAME}`,
  )
  return { ...about, message: `the second opinion differs: ${words.join('; ')}`, differences }
}

/**
 * Returns true for the same value at the fewer decimals of both. Each has two decimals at least: zeros at the end are cut,
 * here and at the source.
 */
function areEqual(a: string, b: string): boolean {
  const [first = 0, second = 0] = [a, b].map((value) => value.split('.')[1]?.length)
  const places = Math.max(LEAST_DECIMALS, Math.min(first, second))
  return roundDecimal(a, places) === roundDecimal(b, places)
}
