// Compares parities of the central bank with those of other enabled sources on the same day. A difference is a finding
// that names both; nothing is corrected.

import type { Provider } from '../../../providers/provider.ts'
import { addDays, type IsoDate, isoDate } from '../../../values/dates.ts'
import { isInRange, product, ratio } from '../../../values/decimal.ts'
import { computeCrosses } from '../../rates/crosses.ts'
import { openRateCache, type RateSnapshot } from '../../rates/rate-cache.ts'
import type { CheckContext } from './examination.ts'

const CURRENCIES = ['EUR', 'JPY', 'GBP', 'CAD', 'MXN', 'GTQ', 'COP']
const DAYS_BACK = 10

/** Price of a dollar on a day, at both sources. */
type ParityPair = { day: IsoDate; ours: string; theirs: string }

/** Compares each optional provider with the first required one, on the newest day that both have published. */
export async function examineParities({ db, providers, report }: CheckContext): Promise<void> {
  const bank = providers.find(({ isOptional }) => !isOptional)
  const others = providers.filter(({ isOptional }) => isOptional)
  if (!bank || others.length === 0) return
  const snapshot = (await openRateCache(db, providers)).snapshot()
  for (const other of others) {
    const last = await newestBenchmarkDay(snapshot, other)
    if (last === undefined) continue
    for (const currency of CURRENCIES) {
      const parities = await findParities(snapshot, [bank.code, other.code], currency, last)
      const fault = parities && parityFault(parities)
      if (!fault) continue
      const { day, ours, theirs } = parities
      const values = `USD/${currency} of ${day} is ${ours} at ${bank.code} and ${theirs} at ${other.code}`
      report.finding('rates', `${values}: ${fault}`)
    }
  }
}

async function newestBenchmarkDay(
  snapshot: RateSnapshot,
  { code, benchmark }: Provider,
): Promise<IsoDate | undefined> {
  const series = snapshot.pairs(code).get(`${benchmark.base}/${benchmark.quote}`) ?? []
  const [column] = await snapshot.columns(series.slice(0, 1))
  const day = column?.days.at(-1)
  return day === undefined ? undefined : isoDate(day)
}

/** Finds the newest day, from `last` back, on which each source has published all legs of the parity. */
async function findParities(
  snapshot: RateSnapshot,
  [bank, other]: readonly [string, string],
  currency: string,
  last: IsoDate,
): Promise<ParityPair | undefined> {
  const computeParity = async (provider: string, day: IsoDate) => {
    const query = { provider, base: 'USD', quotes: [currency], side: 'venta', day } as const
    const [cross] = (await computeCrosses(snapshot, query)).crosses
    return cross?.date === day && cross.newest === day ? cross.rate : undefined
  }
  for (let back = 0; back < DAYS_BACK; back++) {
    const day = addDays(last, -back)
    const theirs = await computeParity(other, day)
    const ours = theirs === undefined ? undefined : await computeParity(bank, day)
    if (theirs !== undefined && ours !== undefined) return { day, ours, theirs }
  }
  return undefined
}

/** Describes why two parities cannot both be right; undefined: they agree within 3 percent. */
function parityFault({ ours, theirs }: ParityPair): string | undefined {
  const isNear = (value: string) => isInRange(theirs, product(value, '0.97'), product(value, '1.03'))
  if (isNear(ours)) return undefined
  return isNear(ratio(['1'], [ours]))
    ? 'one is the inverse of the other'
    : 'they differ by more than 3 percent'
}
