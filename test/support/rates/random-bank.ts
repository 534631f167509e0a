// A random bank from a seed: it publishes late, corrects values, omits days, hides series, answers with nothing, and
// fails. The true answers are recorded, so that a test can compare.

import {
  FetchFailure,
  type FetchRequest,
  type Observation,
  type SourceAnswer,
} from '../../../src/providers/provider.ts'
import { addDays, dayNumber, earliest, type IsoDate, isoDate, latest } from '../../../src/values/dates.ts'
import { EUR, JPY, listDays, type MemoryBank, XDR } from './memory-bank.ts'

export const FLOOR = '2024-01-01'
export const PARITIES = ['3433', EUR, JPY, XDR]
export const CODES = ['317', '318', ...PARITIES]

/** Days after its date within which a value is published and corrected. */
const LATEST = 12
const MIDDLE: Record<string, number> = { [EUR]: 1.2, [JPY]: 120, [XDR]: 1.4, '3433': 0.8 }

export type Random = {
  /** A number from 0 to below 1. */
  next(): number
  /** A whole number from `low` to `high`. */
  int(low: number, high: number): number
  /** True with this probability, from 0 to 1. */
  chance(share: number): boolean
  /** Returns an item of a list. */
  item<T>(all: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const item = <T>(all: readonly T[]) => all[int(0, all.length - 1)] as T
  return { next, int, chance: (share) => next() < share, item }
}

/** First and last publication of a day; undefined is a day without a value. */
type Publication = { on: IsoDate; first: string; correctedOn: IsoDate; last: string }

export type RandomBank = {
  /** The real day, independent of the clock of the machine. */
  today: IsoDate
  /** Shares of requests that fail, that are answered with nothing, and that crash the program. */
  failing: number
  silent: number
  crashing: number
  /** Codes that the table omits at present. */
  hidden: Set<string>
  /** Enabled codes; the program stores no answers for others. */
  enabled: Set<string>
  /** Latest answer by code and day. */
  given: Map<string, Map<IsoDate, string>>
  /** Windows with a valid answer since the test emptied this list, by code. */
  answered: { code: string; from: IsoDate; to: IsoDate }[]
  /** Final value of a day. */
  lastValue(code: string, day: IsoDate): string | undefined
  born(code: string): IsoDate
}

/** Makes a bank in memory answer as a random bank. */
export function createRandomBank(memory: MemoryBank, random: Random, today: IsoDate): RandomBank {
  const books = new Map(CODES.map((code) => [code, createPublications(code, random)]))
  const bank: RandomBank = {
    today,
    failing: 0,
    silent: 0,
    crashing: 0,
    hidden: new Set(),
    enabled: new Set(CODES),
    given: new Map(CODES.map((code) => [code, new Map()])),
    answered: [],
    lastValue: (code, day) => books.get(code)?.book.get(day)?.last,
    born: (code) => books.get(code)?.born ?? FLOOR,
  }

  const listRows = (code: string, ask: FetchRequest): Observation[] => {
    const rows: Observation[] = []
    const last = earliest(ask.window.to, addDays(bank.today, 1))
    for (const day of listDays(latest(ask.window.from, FLOOR), last)) {
      const publication = books.get(code)?.book.get(day)
      if (!publication || publication.on > bank.today) continue
      const value = publication.correctedOn <= bank.today ? publication.last : publication.first
      rows.push({ code, day, value, roundedTo: undefined })
    }
    return rows
  }

  const truth = (ask: FetchRequest): SourceAnswer => {
    const { indicator } = ask
    // Without requests for a single series, two omissions count as an answer; so this bank never omits one there.
    const hidden = indicator !== undefined && bank.hidden.has(indicator)
    if (hidden && memory.supportsSingleSeries && random.chance(0.5)) throw new FetchFailure('HTTP 400')
    const codes =
      indicator === undefined
        ? PARITIES.filter((code) => !memory.supportsSingleSeries || !bank.hidden.has(code))
        : [indicator]
    const observations = codes.flatMap((code) => listRows(code, ask))
    const nothing = indicator === undefined && observations.length === 0 && memory.supportsSingleSeries
    const listed = nothing ? [] : codes.map((code) => ({ code, name: seriesName(code) }))
    return { listed, observations }
  }

  memory.fault = (ask) => {
    memory.today = bank.today
    if (random.chance(bank.crashing)) throw new Error('crash')
    if (random.chance(bank.failing)) throw new FetchFailure('HTTP 500')
    if (random.chance(0.02)) memory.supportsSingleSeries = !memory.supportsSingleSeries
    const answer = truth(ask)
    // A late bank answers with nothing. The program would accept that for history, and after a second such answer.
    const late = !ask.again && (ask.indicator === undefined || ask.window.to >= bank.today)
    if (late && random.chance(bank.silent)) {
      answer.observations = []
      if (ask.indicator === undefined) answer.listed = []
    }
    for (const { code } of answer.listed) bank.answered.push({ code, ...ask.window })
    for (const { code, day, value } of answer.observations) {
      if (bank.enabled.has(code)) bank.given.get(code)?.set(day, value)
    }
    return answer
  }
  return bank
}

function seriesName(code: string): string {
  return code === XDR ? 'Derechos Especiales de Giro' : `Indicador ${code}`
}

function createPublications(code: string, random: Random) {
  const daily = !PARITIES.includes(code)
  const born = daily ? FLOOR : addDays(FLOOR, random.chance(0.3) ? 0 : random.int(0, 300))
  const hole = {
    from: dayNumber(FLOOR) + random.int(0, 900),
    days: random.chance(0.3) ? random.int(20, 200) : 0,
  }
  const late = { from: dayNumber(FLOOR) + random.int(300, 900), days: random.int(0, 8) }
  const book = new Map<IsoDate, Publication>()
  for (let day = dayNumber(born); day < dayNumber(FLOOR) + 1200; day++) {
    const weekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6
    if (!daily && (weekend || random.chance(0.04))) continue
    if (day >= hole.from && day < hole.from + hole.days) continue
    const delay =
      day >= late.from && day < late.from + late.days
        ? late.from + late.days - day
        : random.chance(0.05)
          ? random.int(0, 8)
          : daily
            ? -1
            : 0
    const first = (MIDDLE[code] ?? 500) * (1 + (random.next() - 0.5) / 10)
    const last = random.chance(0.03) ? first * 1.001 : first
    book.set(isoDate(day), {
      on: isoDate(day + delay),
      first: first.toFixed(4).replace(/\.?0+$/, ''),
      correctedOn: isoDate(day + random.int(Math.max(delay, 0), LATEST)),
      last: last.toFixed(4).replace(/\.?0+$/, ''),
    })
  }
  return { born, book }
}
