// Answer of the converter: the rounded result, all its digits, the legs, and the line for the books. A result is shown
// only if it answers the current request.

import { useMemo } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import type { Conversion } from '../api/responses.ts'
import { icons } from '../components/icons.tsx'
import { FailureDetails, failureText, isLost } from '../components/notice.tsx'
import { CopyButton } from '../components/output/copy-button.tsx'
import { SignedFigure } from '../components/signed-figure.tsx'
import { useApi } from '../components/use-api.ts'
import { useDebounced } from '../components/use-debounced.ts'
import { formats, texts } from '../components/view.ts'
import { decimalSign } from '../model/decimal.ts'
import { certificateFragment, type ShownSide } from '../model/fragment.ts'
import { type ConversionLeg, legName, supportLine } from '../model/rates/support.ts'

const MISSING = '—'

/** `amount` has its sign. `on`: empty for the present day of the server. */
type ConversionRequest = { amount: string; source: string; target: string; side: ShownSide; on: string }

type LegSign = { sign: string; word: string }

/** @param request undefined: amount or date are refused */
export function ConversionOutcome(props: { request: ConversionRequest | undefined; day: string }) {
  const { request, day } = props
  const path = useDebounced(request && convertPath(request))
  const response = useApi<Conversion>(path)
  const isCurrent = request && convertPath(request) === path
  const value = isCurrent ? response.value : undefined
  const failure = isCurrent ? response.failure : undefined
  if (failure && !value) {
    const isMissing = failure.kind === 'not-found'
    return (
      <div class="outcome flex" role="status">
        {isLost(failure) ? (
          <p class="quiet">{texts.value.failures.waits}</p>
        ) : (
          <>
            <p class="refusal">{isMissing ? texts.value.convert.none : failureText(failure).title}</p>
            <FailureDetails failure={failure} />
          </>
        )}
      </div>
    )
  }
  if (request && value) return <Answer key={path} request={request} value={value} day={day} />
  return (
    <div class="outcome flex" aria-busy={request !== undefined}>
      <p class="line result">{request ? <span class="awaited" /> : <span class="figure">{MISSING}</span>}</p>
    </div>
  )
}

function Answer({ request, value, day }: { request: ConversionRequest; value: Conversion; day: string }) {
  const words = texts.value
  const { amount, source, target, side } = request
  const at = useMemo(serverTime, [value])
  const result = decimalSign(amount) < 0 ? `-${value.result}` : value.result
  const support = () =>
    supportLine({ amount, source, result, target, legs: value.legs, at }, formats.value, {
      sides: words.sides,
      rateSource: words.convert.rateSource,
      dataAsOf: words.convert.dataAsOf,
    })
  return (
    <div class="outcome flex" aria-live="polite" aria-busy={false}>
      <p class="line result">
        <output>
          <SignedFigure value={result} format={formats.value.result} unit={target} />
        </output>
        <CopyButton
          class="plain round copy"
          content={() => [[{ number: result }]]}
          label={words.convert.copy}
        />
      </p>
      <Digits request={request} value={value} result={result} />
      <ConversionLegs value={value} pair={`${source}/${target}`} day={day} />
      <OlderLegs legs={value.legs} day={day} />
      {value.rounded_to !== undefined && (
        <p class="caution small">{words.dollar.rounded(value.rounded_to)}</p>
      )}
      <div class="buttons">
        <CopyButton class="button" content={support}>
          {words.convert.copySupport}
        </CopyButton>
        <a class="button" href={certificateFragment({ amount, source, target, side, on: day })}>
          {icons.certificate}
          {words.certificate}
        </a>
      </div>
    </div>
  )
}

/** Writes the result with all digits, and the rate. A text that equals the large figure is left out. */
function Digits(props: { request: ConversionRequest; value: Conversion; result: string }) {
  const { request, value, result } = props
  const words = texts.value.convert
  const { accounting, exact } = formats.value
  const largeFigure = formats.value.accounting(result, formats.value.result)
  const whole = accounting(result, exact)
  const sign = request.target === 'CRC' ? '₡' : ''
  const rate = `${sign}${exact(value.rate)}${sign ? '' : ` ${request.target}`}`
  const parts = [
    ...(whole === largeFigure ? [] : [words.exactly(whole)]),
    ...(exact(value.rate) === largeFigure ? [] : [words.rate(request.source, rate)]),
  ]
  return <p class="digits">{parts.join(' · ')}</p>
}

function convertPath({ amount, source, target, side, on }: ConversionRequest): string {
  const params = new URLSearchParams({
    amount: amount.replace('-', ''), // the API takes positive amounts
    ...{ from: source, to: target, type: side, details: 'true' },
  })
  if (on !== '') params.set('on', on)
  return `/api/v1/convert?${params}`
}

function ConversionLegs({ value, pair, day }: { value: Conversion; pair: string; day: string }) {
  const { convert, sides } = texts.value
  const { exact } = formats.value
  if (value.legs.length === 0) return null
  const numericDay = formats.value.day
  const whole = legName({ ...value, pair, value: value.rate, inverse: false }, sides)
  return (
    <ul class="legs" aria-label={convert.legs}>
      {value.legs.map((leg, index) => (
        <LegItem
          key={leg.pair}
          sign={legSign(leg, index)}
          name={legName(leg, sides)}
          value={exact(leg.value)}
          day={convert.published(numericDay(leg.rate_date))}
        />
      ))}
      <LegItem
        sign={{ sign: '=', word: convert.equals }}
        name={whole}
        value={exact(value.rate)}
        day={convert.atDay(numericDay(day))}
      />
    </ul>
  )
}

/** Names the legs that have no value of the day. */
function OlderLegs({ legs, day }: { legs: readonly ConversionLeg[]; day: string }) {
  const { notPublished, notStored, pairs, otherPair } = texts.value.date
  const numericDay = formats.value.day
  return (
    <>
      {legs
        .filter(({ rate_date }) => rate_date < day)
        .map(({ pair, rate_date, covered_to }) => (
          <p key={pair} class="hint above-8">
            {(covered_to === undefined ? notPublished : notStored)(
              numericDay(day),
              pair === 'USD/CRC' || pair === 'EUR/USD' ? pairs[pair] : otherPair(pair),
              numericDay(rate_date),
            )}
          </p>
        ))}
    </>
  )
}

function legSign({ inverse }: ConversionLeg, index: number): LegSign | undefined {
  const { times, over } = texts.value.convert
  if (inverse) return { sign: index === 0 ? '1 ÷' : '÷', word: index === 0 ? `1 ${over}` : over }
  return index === 0 ? undefined : { sign: '×', word: times }
}

function LegItem(props: { sign: LegSign | undefined; name: string; value: string; day: string }) {
  const { sign, name, value, day } = props
  return (
    <li class={sign?.sign === '=' ? 'leg grid whole' : 'leg grid'}>
      {sign && (
        <span class="leg-sign quiet">
          <span aria-hidden="true">{sign.sign}</span>
          <span class="unseen">{sign.word}</span>
        </span>
      )}
      <span class="quiet tiny leg-name">{name}</span>
      <strong class="leg-value nowrap bold">{value}</strong>
      <small class="leg-day">{day}</small>
    </li>
  )
}
