// Rates of the dollar on a day: both sides, their change since the previous day, and the day of publication. A refused
// date shows a dash in place of each figure.

import { useId } from 'preact/hooks'
import { isOffline } from '../api/connection.ts'
import type { Latest } from '../api/responses.ts'
import { Button } from '../components/button.tsx'
import type { DateChoice } from '../components/dates/date-choice.ts'
import { DateField, DateWords } from '../components/dates/date-field.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { icons } from '../components/icons.tsx'
import { FailureNotice, isLost, Notice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, texts, view } from '../components/view.ts'
import { addDays } from '../model/days.ts'
import { decimalSign, subtract } from '../model/decimal.ts'
import { certificateFragment, type ShownSide, SIDES } from '../model/fragment.ts'
import { TrendLine } from './trend-line.tsx'

const MISSING = '—'
const FIGURE_SPACE = '\u2007' // as wide as a digit

export function Dollar({ choice }: { choice: DateChoice }) {
  const words = texts.value.dollar
  const { day, error } = choice
  const {
    value,
    failure,
    receivedAt,
    previous: lastValue,
  } = useApi<Latest>(
    error ? undefined : `/api/v1/rates/latest?${view.value.day === '' ? '' : `on=${day}&`}details=true`,
  )
  const previousDay = value && addDays(value.rate_date, -1)
  const previous = useApi<Latest>(previousDay && `/api/v1/rates/latest?on=${previousDay}`)
  return (
    <section class="card dollar" aria-labelledby="dollar">
      <h2 id="dollar">{words.title}</h2>
      <p class="quiet small">{words.of}</p>
      <DayPicker choice={choice} />
      {failure && !value && !error ? (
        failure.kind === 'not-found' ? (
          <NoRatesNotice />
        ) : lastValue && isLost(failure) ? (
          <Notice title={texts.value.failures.waits} />
        ) : (
          <FailureNotice failure={failure} />
        )
      ) : (
        <>
          <dl class="sides grid" aria-live="polite" aria-busy={!value && !error}>
            {SIDES.map((side) => (
              <SideRate
                key={side}
                side={side}
                latest={value}
                previous={previous.value}
                lostAt={isOffline.value ? receivedAt : undefined}
                isRefused={error !== undefined}
              />
            ))}
          </dl>
          <TrendLine day={value && !error ? value.rate_date : undefined} />
          <Facts requestedDay={day} latest={error ? undefined : value} />
        </>
      )}
    </section>
  )
}

function DayPicker({ choice }: { choice: DateChoice }) {
  const words = texts.value.dollar
  const { day, error, choose, bounds } = choice
  const { first, last, today } = bounds
  const id = useId()
  const isOff = error !== undefined
  return (
    <>
      <div class="line day-picker gap-4">
        <IconButton
          label={words.previous}
          isOff={isOff || day <= first}
          onClick={() => choose(addDays(day, -1))}
        >
          {icons.previous}
        </IconButton>
        <DateField label={words.date} isLabelHidden choice={choice} describedBy={id} />
        <IconButton label={words.next} isOff={isOff || day >= last} onClick={() => choose(addDays(day, 1))}>
          {icons.next}
        </IconButton>
        {(day !== today || isOff) && (
          <Button class="plain" onClick={() => choose(today)}>
            {texts.value.today}
          </Button>
        )}
      </div>
      <p class="quiet dollar-day touch">
        <DateWords id={id} choice={choice} />
      </p>
    </>
  )
}

function SideRate(props: {
  side: ShownSide
  latest: Latest | undefined
  previous: Latest | undefined
  /** Time of the value, while the server is gone. */
  lostAt: number | undefined
  isRefused: boolean
}) {
  const { side, latest, previous, lostAt, isRefused } = props
  const { sides, dollar, failures } = texts.value
  const value = isRefused ? undefined : latest?.[side]
  const previousValue = previous?.[side]
  return (
    <div class={`side side-${side}`}>
      <dt class="quiet">{sides[side]}</dt>
      <dd class="side-value nowrap bold">
        {value ? (
          <>
            <span class="sign" aria-hidden="true">
              ₡
            </span>
            {formats.value.exact(value)}
            <span class="unseen"> {dollar.colones}</span>
          </>
        ) : (
          <span class="awaited">{latest || isRefused ? MISSING : ''}</span>
        )}
      </dd>
      {value && lostAt !== undefined ? (
        <dd class="change">{failures.receivedAt(formats.value.time(lostAt))}</dd>
      ) : value && previousValue && previous ? (
        <Change by={subtract(value, previousValue)} since={previous.rate_date} />
      ) : (
        <dd class="change">
          {!isRefused && latest?.missing?.includes(side) ? dollar.missing(sides[side]) : '\u00a0'}
        </dd>
      )}
    </div>
  )
}

function Change({ by, since }: { by: string; since: string }) {
  const words = texts.value.dollar
  const { signed, shortDay } = formats.value
  const sign = decimalSign(by)
  const kind = sign > 0 ? 'up' : sign < 0 ? 'down' : 'same'
  return (
    <dd class={`change ${kind}`}>
      <span class="nowrap">{sign === 0 ? words.same : signed(by)}</span> {words.against(shortDay(since))}
    </dd>
  )
}

function Facts({ requestedDay, latest }: { requestedDay: string; latest: Latest | undefined }) {
  const words = texts.value.dollar
  const { day, exact } = formats.value
  const { notPublished, notStored, pairs } = texts.value.date
  if (!latest) {
    return (
      <div class="row small quiet dollar-facts one-line">
        {/* Reserves the lines of the facts, so that they move nothing. */}
        <p class="reserved">
          {words.margin} ₡{FIGURE_SPACE.repeat(4)}
        </p>
        <p class="reserved">
          {words.ownDay} {FIGURE_SPACE.repeat(10)}
        </p>
        <Button disabled>
          {icons.certificate}
          {texts.value.certificate}
        </Button>
      </div>
    )
  }
  const { compra, venta, rate_date, rounded_to, covered_to } = latest
  const older = covered_to === undefined ? notPublished : notStored
  return (
    <div class="row small quiet dollar-facts one-line">
      {compra && venta && (
        <p>
          {words.margin} <strong>₡{exact(subtract(venta, compra))}</strong>
        </p>
      )}
      {rate_date === requestedDay ? (
        <p>
          {words.ownDay} <strong>{day(rate_date)}</strong>
        </p>
      ) : (
        <p class="caution">{older(day(requestedDay), pairs['USD/CRC'], day(rate_date))}</p>
      )}
      {rounded_to !== undefined && <p class="caution">{words.rounded(rounded_to)}</p>}
      <a
        class="button"
        href={certificateFragment({
          ...{ amount: '1', source: 'USD', target: 'CRC', side: 'both', on: requestedDay },
        })}
      >
        {icons.certificate}
        {texts.value.certificate}
      </a>
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
