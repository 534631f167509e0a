// Times of documents, in Costa Rica. The list updates, so it has relative words for the last hour.

import { serverTime } from '../api/clock.ts'
import { formats, language, pageTexts } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { addDays, costaRicaDay } from '../model/days.ts'
import { formatDuration } from '../model/durations.ts'

const HOUR_MS = 3_600_000

/** Writes `today, 14:07`, `yesterday, 14:07` or a date and time. */
export function timeText(instant: string): string {
  const words = pageTexts(DOCUMENTS).times
  const { time, instant: full } = formats.value
  const [day, today] = [costaRicaDay(Date.parse(instant)), costaRicaDay(serverTime())]
  if (day === today) return words.today(time(instant))
  return day === addDays(today, -1) ? words.yesterday(time(instant)) : full(instant)
}

/** Writes `5 minutes ago` within the last hour, else the time. */
export function recentText(instant: string): string {
  const isRecent = serverTime() - Date.parse(instant) < HOUR_MS
  return isRecent ? formats.value.ago(instant, serverTime()) : timeText(instant)
}

export function ageSeconds(instant: string): number {
  return (serverTime() - Date.parse(instant)) / 1000
}

export function elapsedText(seconds: number, display: 'short' | 'long'): string {
  return formatDuration(seconds, language.value, display)
}
