// Rates of the dollar on a day: both sides, their change since the previous day, and the day of publication.

import type { ComponentChildren } from 'preact'
import type { Latest } from '../api/responses.ts'
import { icons } from '../components/icons.tsx'
import { FailureNotice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, texts, view } from '../components/view.ts'
import { addDays, type DayError, FIRST_DAY } from '../model/days.ts'
import { decimalSign, subtract } from '../model/decimal.ts'
import { type ShownSide, SIDES } from '../model/fragment.ts'

/** Day of the screen. A rejected one stays in its field, but no rates are requested. */
export type DayChoice = { day: string; error: DayError | undefined; choose: (day: string) => void }

export function Dollar({ today, choice }: { today: string; choice: DayChoice }) {
  const words = texts.value.dollar
  const { day, error, choose } = choice
  const { value, failure } = useApi<Latest>(
    error ? undefined : `/api/v1/rates/latest${view.value.on === '' ? '' : `?on=${day}`}`,
  )
  const previousDay = value && addDays(value.rate_date, -1)
  const previous = useApi<Latest>(previousDay && `/api/v1/rates/latest?on=${previousDay}`)
  return (
    <section class="card dollar" aria-labelledby="dollar">
      <div class="card-head">
        <h2 id="dollar">{words.title}</h2>
        <DayPicker today={today} choice={choice} />
      </div>
      <p class="dollar-day">
        {!error && formats.value.longDay(day)}
        {day !== today && (
          <button type="button" class="plain" onClick={() => choose(today)}>
            {texts.value.today}
          </button>
        )}
      </p>
      {error ? (
        <DayErrorNotice error={error} day={day} today={today} />
      ) : failure && !value ? (
        failure.kind === 'not-found' ? (
          <NoRatesNotice />
        ) : (
          <FailureNotice failure={failure} />
        )
      ) : (
        <>
          <div class="sides" aria-live="polite" aria-busy={!value}>
            {SIDES.map((side) => (
              <SideRate key={side} side={side} latest={value} previous={previous.value} />
            ))}
          </div>
          <Facts requestedDay={day} latest={value} />
        </>
      )}
    </section>
  )
}

function DayPicker({ today, choice }: { today: string; choice: DayChoice }) {
  const words = texts.value.dollar
  const last = addDays(today, 1) // the bank publishes rates a day early
  const { day, error, choose } = choice
  const step = (days: number) => choose(addDays(day, days))
  return (
    <div class="day-picker">
      <Step label={words.previous} isOff={error !== undefined || day <= FIRST_DAY} onClick={() => step(-1)}>
        {icons.previous}
      </Step>
      <input
        type="date"
        class="field"
        aria-label={words.date}
        value={day}
        min={FIRST_DAY}
        max={last}
        aria-invalid={error !== undefined}
        onInput={(event) => choose(event.currentTarget.value)}
      />
      <Step label={words.next} isOff={error !== undefined || day >= last} onClick={() => step(1)}>
        {icons.next}
      </Step>
    </div>
  )
}

export function Step(props: {
  label: string
  isOff: boolean
  onClick: () => void
  children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class="plain round"
      aria-label={props.label}
      title={props.label}
      disabled={props.isOff}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  )
}

function SideRate(props: { side: ShownSide; latest: Latest | undefined; previous: Latest | undefined }) {
  const { side, latest, previous } = props
  const { sides, dollar } = texts.value
  const value = latest?.[side]
  const previousValue = previous?.[side]
  return (
    <div class={`side side-${side}`}>
      <p class="side-name">{sides[side]}</p>
      <p class="side-value">
        {value ? (
          <>
            <span class="sign">₡</span>
            {formats.value.exact(value)}
          </>
        ) : (
          <span class="awaited">{latest ? '—' : ''}</span>
        )}
      </p>
      {value && previousValue && previous ? (
        <Change by={subtract(value, previousValue)} since={previous.rate_date} />
      ) : (
        <p class="change">{latest?.missing?.includes(side) ? dollar.missing(sides[side]) : '\u00a0'}</p>
      )}
    </div>
  )
}

function Change({ by, since }: { by: string; since: string }) {
  const words = texts.value.dollar
  const sign = decimalSign(by)
  const kind = sign > 0 ? 'up' : sign < 0 ? 'down' : 'same'
  return (
    <p class={`change ${kind}`} title={words.against(formats.value.day(since))}>
      {sign === 0 ? words.same : formats.value.signed(by)}
      <span class="unseen"> {words.against(formats.value.day(since))}</span>
    </p>
  )
}

function Facts({ requestedDay, latest }: { requestedDay: string; latest: Latest | undefined }) {
  const words = texts.value.dollar
  const { day, exact } = formats.value
  if (!latest) return <p class="dollar-facts">{'\u00a0'}</p>
  const { compra, venta, rate_date, rounded_to } = latest
  return (
    <div class="dollar-facts">
      {compra && venta && (
        <p>
          {words.margin} <strong>₡{exact(subtract(venta, compra))}</strong>
        </p>
      )}
      <p class={rate_date === requestedDay ? '' : 'caution'}>
        {rate_date === requestedDay
          ? words.ownDay(day(rate_date))
          : words.otherDay(day(requestedDay), day(rate_date))}
      </p>
      {rounded_to !== undefined && <p class="caution">{words.rounded(rounded_to)}</p>}
    </div>
  )
}

/** Message in place of figures for a rejected day. */
export function dayErrorText(error: DayError, day: string, today: string): string {
  const words = texts.value.dollar.refused
  const format = formats.value.day
  if (error === 'future') return words.future(format(day), format(today))
  return error === 'before' ? words.before(format(FIRST_DAY)) : words.unreadable
}

function DayErrorNotice(props: { error: DayError; day: string; today: string }) {
  return (
    <div class="notice" role="alert">
      <p class="notice-title">{texts.value.dollar.refused.title}</p>
      <p>{dayErrorText(props.error, props.day, props.today)}</p>
    </div>
  )
}

function NoRatesNotice() {
  const words = texts.value.dollar
  return (
    <div class="notice">
      <p class="notice-title">{words.none}</p>
      <p>{words.noneText}</p>
    </div>
  )
}
