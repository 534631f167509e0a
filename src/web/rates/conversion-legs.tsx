// Equation of a conversion: each published value with its day, and the rate that they give.

import type { Conversion } from '../api/responses.ts'
import { formats, texts } from '../components/view.ts'
import { type ConversionLeg, legName } from '../model/rates/support.ts'

export function ConversionLegs({ value, pair, day }: { value: Conversion; pair: string; day: string }) {
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
export function OlderLegs({ legs, day }: { legs: readonly ConversionLeg[]; day: string }) {
  const { notPublished, notStored, pairs, otherPair } = texts.value.date
  const numericDay = formats.value.day
  return (
    <>
      {legs
        .filter(({ rate_date }) => rate_date < day)
        .map(({ pair, rate_date, covered_to }) => (
          <p key={pair} class="hint">
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

type LegSign = { sign: string; word: string }

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
