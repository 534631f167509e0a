import type { Language } from './formats.ts'

const UNITS = [
  ['day', 86_400, 2],
  ['hour', 3600, 2],
  ['minute', 60, 1],
  ['second', 1, 0],
] as const

/** Writes a duration in its largest unit, without a line break: `38 min`, or `38 minutes`. Hours and days begin at two. */
export function formatDuration(seconds: number, language: Language, unitDisplay: 'short' | 'long'): string {
  const [unit, length] = UNITS.find(([, length, least]) => seconds >= length * least) ?? UNITS[3]
  const locale = language === 'es' ? 'es-CR' : 'en'
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay })
  return format.format(Math.floor(Math.max(0, seconds) / length)).replaceAll(' ', '\u00a0')
}
