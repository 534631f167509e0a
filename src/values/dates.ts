// Calendar days. A day is an IsoDate ('YYYY-MM-DD') in interfaces, and a day number (days since 1970-01-01) in loops
// and searches. The time zone of the host never matters.

export type IsoDate = string
export type Clock = () => Date

/** Earliest valid day (decisions#instants). */
export const EARLIEST_DAY: IsoDate = '1900-01-01'

/** Latest valid day. */
export const LATEST_DAY: IsoDate = '2999-12-31'

const DAY_MS = 86_400_000
/** Time zone of the program's own days: of `on`, of keys and of nightly backups. */
export const TIME_ZONE = 'America/Costa_Rica'
const COSTA_RICA_OFFSET_MS = -6 * 3_600_000 // UTC-6 all year, no daylight saving (decisions#today)
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/
const FROM_YEAR_0_MARCH = 719_468 // days from 0000-03-01 to 1970-01-01
const ZERO = 48

/** Returns true for a calendar day of the years 1900 to 2999, strictly `YYYY-MM-DD` (decisions#instants). */
export function isIsoDate(text: string): boolean {
  if (!ISO_DATE.test(text)) return false
  const { year, month, day } = splitDate(text)
  if (year < 1900 || year > 2999 || day < 1) return false
  const leapDay = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0
  return day <= (MONTH_DAYS[month - 1] ?? 0) + leapDay
}

/** Normalizes an RFC 3339 instant in UTC (decisions#instants) to milliseconds; undefined: another text. */
export function utcInstant(text: string): string | undefined {
  const [, day = '', time = '', fraction = ''] = INSTANT.exec(text) ?? []
  if (!isIsoDate(day) || time > '23:59:59' || time.slice(3, 5) > '59' || time.slice(6) > '59')
    return undefined
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

// Each answer parses and formats dates, and a Date object takes ten times as long as this arithmetic. Days are counted
// since 0000-03-01 in eras of 400 years; the leap day is the last of its year.

/** Returns the day number of an IsoDate, without validation. */
export function dayNumber(date: IsoDate): number {
  return parseDayNumber(date, 0)
}

/** Returns the day number of the IsoDate at an index of a text. */
export function parseDayNumber(text: string, from: number): number {
  const { year, month, day } = splitDate(text, from)
  const fromMarch = month > 2 ? month - 3 : month + 9
  const marchYear = month > 2 ? year : year - 1
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
  return marchYear * 365 + leapDays + Math.floor((153 * fromMarch + 2) / 5) + day - 1 - FROM_YEAR_0_MARCH
}

/** Returns the date of a day number. */
export function isoDate(day: number): IsoDate {
  const shifted = day + FROM_YEAR_0_MARCH
  const era = Math.floor(shifted / 146_097)
  const inEra = shifted - era * 146_097
  const years = inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)
  const yearOfEra = Math.floor(years / 365)
  const inYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * inYear + 2) / 153)
  const dayOfMonth = inYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${year}-${TWO_DIGITS[month]}-${TWO_DIGITS[dayOfMonth]}`
}

function splitDate(text: string, from = 0): { year: number; month: number; day: number } {
  return {
    year: twoDigits(text, from) * 100 + twoDigits(text, from + 2),
    month: twoDigits(text, from + 5),
    day: twoDigits(text, from + 8),
  }
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
}

const TWO_DIGITS = Array.from({ length: 32 }, (_, number) => String(number).padStart(2, '0'))

export function addDays(date: IsoDate, days: number): IsoDate {
  return isoDate(dayNumber(date) + days)
}

/** Returns the current day in a time zone, by default of Costa Rica, independent of the machine's (decisions#today). */
export function currentDay(clock: Clock, timeZone = TIME_ZONE): IsoDate {
  if (timeZone !== TIME_ZONE) return wallClock(clock, timeZone).toPlainDate().toString()
  return isoDate(Math.floor((clock().getTime() + COSTA_RICA_OFFSET_MS) / DAY_MS))
}

/** Returns the time of day in a time zone: `16:05`. */
export function currentTime(clock: Clock, timeZone: string): string {
  if (timeZone !== TIME_ZONE)
    return wallClock(clock, timeZone).toPlainTime().toString({ smallestUnit: 'minute' })
  return new Date(clock().getTime() + COSTA_RICA_OFFSET_MS).toISOString().slice(11, 16)
}

/** Returns an instant as C's `ctime` prints it, in Costa Rica's time: `Thu Sep 3 01:30:02 2026`. */
export function costaRicaCtime(instant: number): string {
  const local = new Date(instant + COSTA_RICA_OFFSET_MS)
  const [weekday = '', , month = '', year = '', time = ''] = local.toUTCString().split(/,? /)
  return `${weekday} ${month} ${local.getUTCDate()} ${time} ${year}`
}

/** Returns the local time in a time zone. */
function wallClock(clock: Clock, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(clock().getTime()).toZonedDateTimeISO(timeZone)
}

/** Returns the end of a day of Costa Rica, in milliseconds since 1970. */
export function endOfDay(day: IsoDate): number {
  return (dayNumber(day) + 1) * DAY_MS - COSTA_RICA_OFFSET_MS
}

export function earliest(a: IsoDate, b: IsoDate): IsoDate {
  return a < b ? a : b
}

export function latest(a: IsoDate, b: IsoDate): IsoDate {
  return a > b ? a : b
}

/** Returns the latest tomorrow of the time zones and Costa Rica's. No source has values of later days. */
export function lastTomorrow(clock: Clock, timeZones: readonly string[]): IsoDate {
  return addDays(timeZones.map((zone) => currentDay(clock, zone)).reduce(latest, currentDay(clock)), 1)
}
