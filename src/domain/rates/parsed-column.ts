// Columns from lines that a disk or a memory may have damaged. A damaged value is never answered (decisions#damaged).

import { differentParts, type PartSums, REVISIONS } from '../../store/rates/rate-sums.ts'
import { sumsByYear } from '../../store/rates/sums.ts'
import { dayNumber, EARLIEST_DAY, isIsoDate, LATEST_DAY } from '../../values/dates.ts'
import { isCanonicalDecimal, isPositive } from '../../values/decimal.ts'
import {
  type Column,
  columnFromRows,
  type DayRange,
  EXACT,
  type Lines,
  parseSoundColumn,
  withDamage,
} from './column.ts'

const MONTH_DAY =
  '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])'
const LEAP_YEAR = '(?:19|2\\d)(?:0[48]|[2468][048]|[13579][26])|2[048]00'
const DAY = `(?:(?:19|2\\d)\\d\\d-(?:${MONTH_DAY})|(?:${LEAP_YEAR})-02-29)`
const POSITIVE = '(?:[1-9]\\d*(?:\\.\\d*[1-9])?|0\\.\\d*[1-9])'
/** The begin of a line that is not sound. */
const UNSOUND = new RegExp(`^(?!${DAY}${POSITIVE}(?:r\\d\\d?)?$)`, 'm')
const VALUE = /^([-.\d]+?)(?:r(\d\d?))?$/
const DATE_LENGTH = 'YYYY-MM-DD'.length

/** Lines of the series with a name as of Damage. */
type NamedLines = Lines & { name: string }

/**
 * Parses a column. A line without a day, or without a canonical decimal above 0, is damaged: its days have no value.
 * `anySign`: zero and negative values are sound.
 */
export function parseColumn(column: NamedLines, { anySign = false } = {}): Column {
  const isSound = !anySign && column.count > 0 && column.lines.search(UNSOUND) < 0
  return (isSound ? parseSoundColumn(column) : undefined) ?? parseDoubtfulColumn(column, anySign)
}

/**
 * Parses a column of rates. A year whose sum differs from the stored one has no values, for any of them may be wrong.
 * `sums` undefined: none are current.
 */
export function parseSummedColumn(column: NamedLines, sums: PartSums | undefined): Column {
  const parts = sums ? differentParts(sums, sumsByYear(column.lines)) : []
  const years = parts.filter((part) => part !== REVISIONS)
  if (years.length === 0) return parseColumn(column)
  const lines = column.lines.split('\n').filter((line) => !years.includes(line.slice(0, 4)))
  const rest = parseColumn({ ...column, count: lines.length, lines: lines.join('\n') })
  const ranges = years.filter((year) => isIsoDate(`${year}-01-01`)).map(yearDays)
  return withDamage(rest, column.name, [...(rest.damage?.days ?? []), ...ranges])
}

/** Parses each line alone. Between two neighbours without a day in between, any day may be damaged. */
function parseDoubtfulColumn({ name, count, lines }: NamedLines, anySign: boolean): Column {
  const days: number[] = []
  const values: string[] = []
  const rounded: number[] = []
  const damaged: DayRange[] = []
  const nextDay = () => (days.at(-1) ?? dayNumber(EARLIEST_DAY) - 1) + 1
  let isGap = false
  for (const line of count === 0 ? [] : lines.split('\n')) {
    const date = line.slice(0, DATE_LENGTH)
    const day = isIsoDate(date) ? dayNumber(date) : undefined
    if (day === undefined || day < nextDay()) {
      if (day !== undefined && days.length > 0) for (const list of [days, values, rounded]) list.pop() // either may be wrong
      isGap = true
      continue
    }
    if (isGap) damaged.push({ first: nextDay(), last: day - 1 })
    isGap = false
    const [, value = '', decimals = EXACT] = VALUE.exec(line.slice(DATE_LENGTH)) ?? []
    if (!isCanonicalDecimal(value) || !(anySign || isPositive(value))) {
      damaged.push({ first: day, last: day })
      continue
    }
    days.push(day)
    values.push(value)
    rounded.push(Number(decimals))
  }
  if (isGap) damaged.push({ first: nextDay(), last: dayNumber(LATEST_DAY) })
  return withDamage(columnFromRows({ days, values, rounded }), name, damaged)
}

function yearDays(year: string): DayRange {
  return { first: dayNumber(`${year}-01-01`), last: dayNumber(`${year}-12-31`) }
}
