// State of date fields: the day or refused text, and the days that have rates.

import { useEffect, useState } from 'preact/hooks'
import type { Latest } from '../../api/responses.ts'
import { type DateError, numericDay, type RateDays, readDate } from '../../model/date-text.ts'
import { addDays, FIRST_DAY } from '../../model/days.ts'
import { useApi } from '../use-api.ts'

/** `newest`: last day with rates. `isOther`: the days are those of other values than rates. */
export type DayBounds = RateDays & { today: string; newest: string; isOther?: boolean }
export type DateChoice = {
  day: string
  bounds: DayBounds
  /** Text of the field: the day, or refused text. */
  text: string
  error: DateError | undefined
  /** Reads text of the field. */
  read: (text: string) => void
  choose: (day: string) => void
}

type RefusedText = { day: string; text: string; error: DateError }

const NEWEST_EVERY_MS = 600_000

/**
 * State of a date field: the day of the view, or refused text.
 * @param limits days that the other field of a range allows
 */
export function useDateChoice(
  day: string,
  bounds: DayBounds,
  setDay: (day: string) => void,
  limits: { min?: string; max?: string } = {},
): DateChoice {
  const [lastRefusal, setRefusal] = useState<RefusedText | undefined>(undefined)
  const refusal = lastRefusal?.day === day ? lastRefusal : undefined // else another link was opened
  const text = refusal?.text ?? numericDay(day)
  const validate = (text: string) => {
    const reading = readDate(text, bounds, bounds.today)
    if (reading.error) return reading
    const isOutside = (limits.min ?? '') > reading.day || reading.day > (limits.max ?? reading.day)
    return isOutside ? { error: { kind: 'order' as const, day: reading.day } } : reading
  }
  const read = (newText: string) => {
    const reading = validate(newText)
    setRefusal(reading.error && { day, text: newText, error: reading.error })
    if (!reading.error) setDay(reading.day)
  }
  const { error } = validate(text)
  const isAccepted = refusal !== undefined && error === undefined // the other field, or the newest day, has changed
  useEffect(() => {
    if (isAccepted) read(text)
  }, [isAccepted])
  return {
    ...{ day, bounds, text, read },
    // Refused text stays refused until it is read again: the figures are still of the former day.
    error: error ?? refusal?.error,
    choose: (day) => read(numericDay(day)),
  }
}

/**
 * Days that date fields accept. The last one is today, or tomorrow once its rate is published.
 * Until the newest day is known, tomorrow is accepted: a link to it then shows no error first.
 */
export function useDayBounds(today: string): DayBounds {
  const tomorrow = addDays(today, 1)
  const { value, previous } = useApi<Latest>(`/api/v1/rates/latest?on=${tomorrow}`, NEWEST_EVERY_MS)
  const newest = (value ?? previous)?.rate_date
  const last = newest === undefined || newest >= tomorrow ? tomorrow : today
  return { first: FIRST_DAY, last, today, newest: newest ?? today }
}
