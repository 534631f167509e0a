// The dollar of a day: both sides, what changed since the day before, and which day answers.

import type { ComponentChildren } from 'preact'
import { useAnswer } from '../parts/answer.ts'
import { icons } from '../parts/icons.tsx'
import { FailureNotice } from '../parts/notice.tsx'
import { formats, texts, view } from '../parts/view.ts'
import type { Latest } from '../server/answers.ts'
import { addDays, type DayFault, FIRST_DAY } from '../words/days.ts'
import { difference, signOf } from '../words/decimal.ts'
import { SIDES, type Side } from '../words/fragment.ts'

/** The day of the screen: a typed one that is refused is shown, and nothing is asked for it. */
export type ShownDay = { day: string; fault: DayFault | undefined; choose: (day: string) => void }

export function Dollar({ today, shown }: { today: string; shown: ShownDay }) {
  const words = texts.value.dollar
  const { day, fault, choose } = shown
  const { value, failure } = useAnswer<Latest>(
    fault ? undefined : `/api/v1/rates/latest${view.value.on === '' ? '' : `?on=${day}`}`,
  )
  const dayBefore = value && addDays(value.rate_date, -1)
  const before = useAnswer<Latest>(dayBefore && `/api/v1/rates/latest?on=${dayBefore}`)
  return (
    <section class="card dollar" aria-labelledby="dollar">
      <div class="card-head">
        <h2 id="dollar">{words.title}</h2>
        <DayPicker today={today} shown={shown} />
      </div>
      <p class="dollar-day">
        {!fault && formats.value.longDay(day)}
        {day !== today && (
          <button type="button" class="plain" onClick={() => choose(today)}>
            {texts.value.today}
          </button>
        )}
      </p>
      {fault ? (
        <Refused fault={fault} day={day} today={today} />
      ) : failure && !value ? (
        failure.kind === 'not-found' ? (
          <Missing />
        ) : (
          <FailureNotice failure={failure} />
        )
      ) : (
        <>
          <div class="sides" aria-live="polite" aria-busy={!value}>
            {SIDES.map((side) => (
              <OneSide key={side} side={side} now={value} before={before.value} />
            ))}
          </div>
          <Facts asked={day} latest={value} />
        </>
      )}
    </section>
  )
}

function DayPicker({ today, shown }: { today: string; shown: ShownDay }) {
  const words = texts.value.dollar
  const last = addDays(today, 1) // what the bank publishes for tomorrow is there today
  const { day, fault, choose } = shown
  const step = (days: number) => choose(addDays(day, days))
  return (
    <div class="day-picker">
      <Step label={words.previous} isOff={fault !== undefined || day <= FIRST_DAY} onClick={() => step(-1)}>
        {icons.previous}
      </Step>
      <input
        type="date"
        class="field"
        aria-label={words.date}
        value={day}
        min={FIRST_DAY}
        max={last}
        aria-invalid={fault !== undefined}
        onInput={(event) => choose(event.currentTarget.value)}
      />
      <Step label={words.next} isOff={fault !== undefined || day >= last} onClick={() => step(1)}>
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

function OneSide({ side, now, before }: { side: Side; now: Latest | undefined; before: Latest | undefined }) {
  const { sides, dollar } = texts.value
  const value = now?.[side]
  const earlier = before?.[side]
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
          <span class="awaited">{now ? '—' : ''}</span>
        )}
      </p>
      {value && earlier && before ? (
        <Change by={difference(value, earlier)} since={before.rate_date} />
      ) : (
        <p class="change">{now?.missing?.includes(side) ? dollar.missing(sides[side]) : '\u00a0'}</p>
      )}
    </div>
  )
}

function Change({ by, since }: { by: string; since: string }) {
  const words = texts.value.dollar
  const sign = signOf(by)
  const kind = sign > 0 ? 'up' : sign < 0 ? 'down' : 'same'
  return (
    <p class={`change ${kind}`} title={words.against(formats.value.day(since))}>
      {sign === 0 ? words.same : formats.value.signed(by)}
      <span class="unseen"> {words.against(formats.value.day(since))}</span>
    </p>
  )
}

function Facts({ asked, latest }: { asked: string; latest: Latest | undefined }) {
  const words = texts.value.dollar
  const { day, exact } = formats.value
  if (!latest) return <p class="dollar-facts">{'\u00a0'}</p>
  const { compra, venta, rate_date, rounded_to } = latest
  return (
    <div class="dollar-facts">
      {compra && venta && (
        <p>
          {words.margin} <strong>₡{exact(difference(venta, compra))}</strong>
        </p>
      )}
      <p class={rate_date === asked ? '' : 'caution'}>
        {rate_date === asked ? words.ownDay(day(rate_date)) : words.otherDay(day(asked), day(rate_date))}
      </p>
      {rounded_to !== undefined && <p class="caution">{words.rounded(rounded_to)}</p>}
    </div>
  )
}

/** The sentence that stands where figures would, for a day that is not asked for. */
export function faultText(fault: DayFault, day: string, today: string): string {
  const words = texts.value.dollar.refused
  const format = formats.value.day
  if (fault === 'future') return words.future(format(day), format(today))
  return fault === 'before' ? words.before(format(FIRST_DAY)) : words.unreadable
}

function Refused(props: { fault: DayFault; day: string; today: string }) {
  return (
    <div class="notice" role="alert">
      <p class="notice-title">{texts.value.dollar.refused.title}</p>
      <p>{faultText(props.fault, props.day, props.today)}</p>
    </div>
  )
}

function Missing() {
  const words = texts.value.dollar
  return (
    <div class="notice">
      <p class="notice-title">{words.none}</p>
      <p>{words.noneText}</p>
    </div>
  )
}
