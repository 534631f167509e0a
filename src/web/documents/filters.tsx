// Filters of the list: words of the name, invoices, state, days of arrival, agent, and company if there are several. On a
// phone they are behind a button with their number.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import type { DirectoryEntry } from '../api/documents.ts'
import { Button } from '../components/button.tsx'
import type { DateChoice } from '../components/dates/date-choice.ts'
import { DateField } from '../components/dates/date-field.tsx'
import { icons } from '../components/icons.tsx'
import { Options } from '../components/select-field.tsx'
import { formats, pageTexts, setView, texts, view } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { type DateError, numericDay, readDate } from '../model/date-text.ts'
import { costaRicaDay, FIRST_DAY } from '../model/days.ts'
import { MAX_SEARCH, QUEUE_GROUPS } from '../model/fragment.ts'
import type { LoadedDirectory } from './directory.ts'
import { type InvoiceChoice, InvoiceFilter } from './invoice-filter.tsx'

export type ArrivalPeriod = { since: DateChoice; until: DateChoice }

const TYPING_MS = 300

/** Days of arrival, each of which may be empty. */
export function usePeriod(): ArrivalPeriod {
  const { since, until } = view.value
  return {
    since: useOptionalDay(since, { max: until }, (day) => setView({ since: day })),
    until: useOptionalDay(until, { min: since }, (day) => setView({ until: day })),
  }
}

function useOptionalDay(
  day: string,
  { min = '', max = '' }: { min?: string; max?: string },
  setDay: (day: string) => void,
): DateChoice {
  const today = costaRicaDay(serverTime())
  const bounds = { first: FIRST_DAY, last: today, today, newest: today }
  const [refusal, setRefusal] = useState<{ day: string; text: string; error: DateError } | undefined>(
    undefined,
  )
  const current = refusal?.day === day ? refusal : undefined // else another link was opened
  const read = (text: string) => {
    if (text.trim() === '') {
      setRefusal(undefined)
      return setDay('')
    }
    const reading = readDate(text, bounds, today)
    const isReversed = !reading.error && (reading.day < min || (max !== '' && reading.day > max))
    const error = isReversed ? { kind: 'order' as const, day: reading.day } : reading.error
    setRefusal(error && { day, text, error })
    if (!error && reading.day !== undefined) setDay(reading.day)
  }
  return {
    ...{ day, bounds, read },
    text: current?.text ?? numericDay(day),
    error: current?.error,
    choose: (chosen) => read(numericDay(chosen)),
  }
}

export function Filters({
  directory,
  period,
  invoice,
}: {
  directory: LoadedDirectory | undefined
  period: ArrivalPeriod
  invoice: InvoiceChoice
}) {
  const words = pageTexts(DOCUMENTS).filters
  const { company, agent, state, issuer, clave } = view.value
  const [isOpen, setOpen] = useState(false)
  const ids = { filters: useId(), since: useId(), until: useId() }
  const count = [company, agent, state, issuer || clave, view.value.since, view.value.until].filter(
    Boolean,
  ).length
  const companies = directory?.companies ?? []
  return (
    <div class="row filter-row gap-8 above-10">
      <SearchField />
      <Button
        class="button filters-button"
        aria-expanded={isOpen}
        aria-controls={ids.filters}
        onClick={() => setOpen(!isOpen)}
      >
        {words.title(count)}
      </Button>
      <div id={ids.filters} class={isOpen ? 'filters open' : 'filters'}>
        <InvoiceFilter choice={invoice} />
        <label class="line small quiet filter gap-8">
          <span class="unseen">{words.state}</span>
          <select
            class="field"
            value={state}
            onChange={({ currentTarget }) =>
              setView({ state: QUEUE_GROUPS.find((one) => one === currentTarget.value) ?? '' })
            }
          >
            <Options all={(['', ...QUEUE_GROUPS] as const).map((group) => [group, words.states[group]])} />
          </select>
        </label>
        {companies.length > 1 && (
          <EntryFilter
            label={words.company}
            all={words.allCompanies}
            value={company}
            choices={companies}
            onChoose={(id) => setView({ company: id, agent: 0 })}
          />
        )}
        <EntryFilter
          label={words.agent}
          all={words.all}
          value={agent}
          choices={directory?.agents ?? []}
          onChoose={(id) => setView({ agent: id })}
        />
        <div class="filter-days flex gap-8">
          <Day label={words.since} id={ids.since} choice={period.since} />
          <Day label={words.until} id={ids.until} choice={period.until} />
        </div>
      </div>
    </div>
  )
}

/** Searches when the user stops typing. */
function SearchField() {
  const words = pageTexts(DOCUMENTS).filters
  const { search } = view.value
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const commit = (text: string) => {
    clearTimeout(timer.current)
    setView({ search: text })
    setDraft(undefined)
  }
  return (
    <label class="document-search relative">
      {icons.search}
      <span class="unseen">{words.search}</span>
      <input
        class="field"
        type="search"
        autocomplete="off"
        maxLength={MAX_SEARCH}
        placeholder={words.search}
        value={draft ?? search}
        onInput={({ currentTarget: { value } }) => {
          setDraft(value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => commit(value), TYPING_MS)
        }}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && commit(currentTarget.value)}
      />
    </label>
  )
}

function Day({ label, id, choice }: { label: string; id: string; choice: DateChoice }) {
  const { weekDay } = formats.value
  const { clearDay } = pageTexts(DOCUMENTS).filters
  return (
    <div class="filter-day">
      <DateField label={label} choice={choice} describedBy={id} />
      <p id={id} class={choice.error ? 'date-error' : 'date-words'} role={choice.error ? 'alert' : undefined}>
        {choice.error ? (
          <>
            {dateErrorText(choice.error, choice.bounds.today)}{' '}
            <Button class="link" onClick={() => choice.read(numericDay(choice.day))}>
              {choice.day === '' ? clearDay : texts.value.date.back(numericDay(choice.day))}
            </Button>
          </>
        ) : (
          choice.day && weekDay(choice.day)
        )}
      </p>
    </div>
  )
}

function dateErrorText({ kind, day = '' }: DateError, today: string): string {
  const words = pageTexts(DOCUMENTS).filters
  const { date } = texts.value
  if (kind === 'future') return words.future(numericDay(day))
  if (kind === 'before') return words.before(numericDay(FIRST_DAY))
  if (kind === 'missing') return date.missing(numericDay(day))
  return kind === 'order' ? date.order : date.unreadable(numericDay(today))
}

function EntryFilter(props: {
  label: string
  all: string
  value: number
  choices: readonly DirectoryEntry[]
  onChoose: (id: number) => void
}) {
  const isKnown = props.value === 0 || props.choices.some(({ id }) => id === props.value)
  return (
    <label class="line small quiet filter gap-8">
      <span>{props.label}</span>
      <select
        class="field"
        value={props.value}
        onChange={(event) => props.onChoose(Number(event.currentTarget.value))}
      >
        <option value={0}>{props.all}</option>
        {!isKnown && <option value={props.value}>{props.value}</option>}
        <Options all={props.choices.map(({ id, name }) => [id, name])} />
      </select>
    </label>
  )
}
