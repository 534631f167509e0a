// Calendar under a date field: a dialog that is not modal, with a grid of weeks from Monday. Keys move within the range
// of days.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { addDays, addMonths, lastMonthEnd } from '../../model/days.ts'
import { monthWeeks, moveInCalendar } from '../../model/month-grid.ts'
import { Button } from '../button.tsx'
import { IconButton } from '../icon-button.tsx'
import { icons } from '../icons.tsx'
import { Options } from '../select-field.tsx'
import { formats, texts } from '../view.ts'
import type { DateChoice, DayBounds } from './date-choice.ts'

const MONDAY = '2024-01-01'

export type CalendarProps = {
  label: string
  choice: DateChoice
  /** @param hasFocus true if the focus returns to the button */
  onClose: (hasFocus: boolean) => void
}

export function Calendar({ label, choice, onClose }: CalendarProps) {
  const words = texts.value
  const { bounds } = choice
  const [day, setDay] = useState(() => clampDay((!choice.error && choice.day) || bounds.today, bounds))
  const host = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(false)
  useLayoutEffect(() => {
    const { right = 0 } = host.current?.getBoundingClientRect() ?? {}
    setAtEnd(right > document.documentElement.clientWidth)
    focusDay(host.current)
  }, [])
  useEffect(() => {
    // Pages have no dialog behaviour of their own without modality: leaving the calendar closes it.
    const onPress = ({ target }: Event) => {
      if (target instanceof Node && !host.current?.parentElement?.contains(target)) onClose(false)
    }
    document.addEventListener('pointerdown', onPress)
    return () => document.removeEventListener('pointerdown', onPress)
  }, [])
  const choose = (day: string) => {
    choice.choose(day)
    onClose(true)
  }
  const move = (to: string) => setDay(clampDay(to, bounds))
  const monthEnd = lastMonthEnd(bounds.today)
  return (
    <div
      ref={host}
      class={isAtEnd ? 'popup calendar at-end' : 'popup calendar'}
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose(true)
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.parentElement?.contains(relatedTarget))
          onClose(false)
      }}
    >
      <MonthFields day={day} bounds={bounds} onMove={move} />
      <DayGrid day={day} choice={choice} onMove={move} onChoose={choose} />
      <div class="calendar-foot flex">
        <Button class="link" onClick={() => choose(bounds.today)}>
          {words.today}
        </Button>
        <Button class="link" onClick={() => choose(monthEnd)}>
          {words.date.lastMonthEnd}
        </Button>
      </div>
    </div>
  )
}

function MonthFields({
  day,
  bounds,
  onMove,
}: {
  day: string
  bounds: DayBounds
  onMove: (day: string) => void
}) {
  const words = texts.value.date
  const [year = '', month = ''] = day.split('-')
  const years = [...yearRange(bounds)]
  const isFirst = day.slice(0, 7) <= bounds.first.slice(0, 7)
  const isLast = day.slice(0, 7) >= bounds.last.slice(0, 7)
  return (
    <div class="calendar-head flex gap-4">
      <IconButton
        label={words.previousMonth}
        isOff={isFirst}
        isUntitled
        onClick={() => onMove(addMonths(day, -1))}
      >
        {icons.previous}
      </IconButton>
      <select
        class="field"
        aria-label={words.month}
        value={month}
        onChange={({ currentTarget }) => onMove(addMonths(day, Number(currentTarget.value) - Number(month)))}
      >
        {Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0')).map((one) => (
          <option key={one} value={one} disabled={isOutside(`${year}-${one}`, bounds)}>
            {formats.value.monthName(`${year}-${one}`)}
          </option>
        ))}
      </select>
      <select
        class="field"
        aria-label={words.year}
        value={year}
        onChange={({ currentTarget }) =>
          onMove(addMonths(day, 12 * (Number(currentTarget.value) - Number(year))))
        }
      >
        <Options all={years.map((one) => [one, one])} />
      </select>
      <IconButton label={words.nextMonth} isOff={isLast} isUntitled onClick={() => onMove(addMonths(day, 1))}>
        {icons.next}
      </IconButton>
    </div>
  )
}

function DayGrid(props: {
  day: string
  choice: DateChoice
  onMove: (day: string) => void
  onChoose: (day: string) => void
}) {
  const { day, choice, onMove, onChoose } = props
  const { longDay, weekdayName } = formats.value
  const { first, last, today } = choice.bounds
  const grid = useRef<HTMLTableElement>(null)
  const hasFocus = useRef(false)
  useLayoutEffect(() => {
    if (hasFocus.current) focusDay(grid.current)
    hasFocus.current = false
  }, [day])
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveInCalendar(day, event.key, event.shiftKey)
    if (!next) return
    event.preventDefault()
    hasFocus.current = true
    onMove(next)
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the pattern of a calendar is a table as grid
    <table ref={grid} role="grid" class="days above-8 full" onKeyDown={onKeyDown}>
      <thead>
        <tr>
          {Array.from({ length: 7 }, (_, index) => weekdayName(addDays(MONDAY, index))).map((name) => (
            <th key={name} scope="col" abbr={name}>
              {name.slice(0, 2)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {monthWeeks(day).map((week) => (
          <tr key={week.find((one) => one !== undefined)}>
            {week.map((one, index) => (
              // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a cell of a grid can be selected
              <td key={one ?? index} aria-selected={one === choice.day && !choice.error}>
                {one && (
                  <Button
                    class="day"
                    tabIndex={one === day ? 0 : -1}
                    disabled={one < first || one > last}
                    aria-label={longDay(one)}
                    aria-current={one === today ? 'date' : undefined}
                    onClick={() => onChoose(one)}
                  >
                    {Number(one.slice(8))}
                  </Button>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function focusDay(host: HTMLElement | null): void {
  host?.querySelector<HTMLElement>('.day[tabindex="0"]')?.focus()
}

function clampDay(day: string, { first, last }: DayBounds): string {
  if (day < first) return first
  return day > last ? last : day
}

function isOutside(month: string, { first, last }: DayBounds): boolean {
  return month < first.slice(0, 7) || month > last.slice(0, 7)
}

/** Years of the range, newest first. */
function* yearRange({ first, last }: DayBounds): Generator<string> {
  for (let year = Number(last.slice(0, 4)); year >= Number(first.slice(0, 4)); year--) yield String(year)
}
