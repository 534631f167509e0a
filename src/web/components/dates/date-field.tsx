// Text field for a date, with a calendar. Enter or leaving the field reads the text. Refused text stays in the field, and
// the component that shows figures of the day shows none.

import type { FunctionComponent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { type DateError, numericDay, readDate, stepDay } from '../../model/date-text.ts'
import { Button } from '../button.tsx'
import { icons } from '../icons.tsx'
import { formats, texts } from '../view.ts'
import type { CalendarProps } from './calendar.tsx'
import type { DateChoice, DayBounds } from './date-choice.ts'

/** @param describedBy id of the sentence with the day in words */
export function DateField(props: {
  label: string
  isLabelHidden?: boolean
  choice: DateChoice
  describedBy: string
}) {
  const { label, isLabelHidden, choice, describedBy } = props
  // A draft replaces a text, and ends when that text changes. An effect would end it later, with newer characters.
  const [typed, setTyped] = useState<{ text: string; over: string } | undefined>(undefined)
  const draft = typed?.over === choice.text ? typed.text : undefined
  const setDraft = (text: string | undefined) =>
    setTyped(text === undefined ? undefined : { text, over: choice.text })
  const id = useId()
  const commit = () => {
    if (draft !== undefined) choice.read(draft)
    setDraft(undefined)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commit()
    if (event.key === 'Escape') setDraft(undefined)
    const { first, last, today } = choice.bounds
    const { day } = readDate(draft ?? choice.text, { first, last }, today)
    const next = day && stepDay(day, event.key, event.shiftKey)
    if (!next) return
    event.preventDefault()
    setDraft(undefined)
    if (next >= first && next <= last) choice.choose(next)
  }
  return (
    <div class="date-field">
      <label for={id} class={isLabelHidden ? 'unseen' : undefined}>
        {label}
      </label>
      <div class="date-box relative">
        <input
          id={id}
          class="field date"
          inputmode="numeric"
          autocomplete="off"
          spellcheck={false}
          maxLength={40}
          placeholder={texts.value.date.placeholder}
          value={draft ?? choice.text}
          aria-invalid={choice.error !== undefined}
          aria-describedby={describedBy}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onBlur={commit}
          onKeyDown={onKeyDown}
        />
        <CalendarButton label={label} choice={choice} />
      </div>
    </div>
  )
}

/** Fetches the calendar when it is opened. */
function CalendarButton({ label, choice }: { label: string; choice: DateChoice }) {
  const [Calendar, setCalendar] = useState<{ Component: FunctionComponent<CalendarProps> } | undefined>(
    undefined,
  )
  const button = useRef<HTMLButtonElement>(null)
  const name = texts.value.date.calendar(label)
  const open = () =>
    import('./calendar.tsx').then(
      ({ Calendar: Component }) => setCalendar({ Component }),
      () => undefined, // without a connection the field remains
    )
  const close = (hasFocus: boolean) => {
    setCalendar(undefined)
    if (hasFocus) button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class="plain round calendar-button"
        aria-label={name}
        title={name}
        aria-haspopup="dialog"
        aria-expanded={Calendar !== undefined}
        onClick={() => (Calendar ? close(true) : void open())}
      >
        {icons.calendar}
      </button>
      {Calendar && <Calendar.Component label={name} choice={choice} onClose={close} />}
    </>
  )
}

/** The day in words, or the reason of the refusal with a button to the last day that was accepted. */
export function DateWords(props: { id: string; choice: DateChoice; isShort?: boolean }) {
  const { id, choice, isShort } = props
  const { longDay, weekDay } = formats.value
  if (!choice.error) {
    const words = isShort ? weekDay(choice.day) : longDay(choice.day)
    return (
      <span id={id} class="date-words">
        {words}
      </span>
    )
  }
  const { today, first, last } = choice.bounds
  const back = readDate(numericDay(choice.day), { first, last }, today).day ?? today
  return (
    <span id={id} class="date-error" role="alert">
      {dateErrorText(choice.error, choice.bounds)}{' '}
      <Button class="link" onClick={() => choice.choose(back)}>
        {texts.value.date.back(numericDay(back))}
      </Button>
    </span>
  )
}

function dateErrorText(error: DateError, { first, newest, today, isOther }: DayBounds): string {
  const words = texts.value.date
  switch (error.kind) {
    case 'missing':
      return words.missing(numericDay(error.day))
    case 'before':
      return words.before(numericDay(first))
    case 'future':
      return words[isOther ? 'futureValue' : 'future'](numericDay(error.day), numericDay(newest))
    case 'order':
      return words.order
    case 'unreadable':
      return words.unreadable(numericDay(today))
  }
}
