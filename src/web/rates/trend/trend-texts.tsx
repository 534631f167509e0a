import type { Conversion, Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { currencyOptions } from '../../components/currency-field.tsx'
import { Options, SelectField } from '../../components/select-field.tsx'
import { useApi } from '../../components/use-api.ts'
import { useDebounced } from '../../components/use-debounced.ts'
import { formats, setView, texts, view } from '../../components/view.ts'
import {
  type Currency,
  firstRateDay,
  foreignCurrency,
  listedCurrencies,
  lowerFirst,
} from '../../model/rates/currencies.ts'
import type { Trend } from '../../model/rates/history.ts'
import { PairFields } from '../pair-fields.tsx'

/** Title of the chart, with the pair and days of its lines. */
export function TrendTitle({ pair, trend }: { pair: string; trend: Trend | undefined }) {
  const words = texts.value.history
  return (
    <div class="card-head">
      <div>
        <h2 id="history">{words.title}</h2>
        <p class="quiet small">{trend ? subject(pair, trend) : '\u00a0'}</p>
      </div>
      {trend?.lines[0]?.name === 'main' && (
        <Button class="link" onClick={() => setView({ compare: '' })}>
          {words.endComparison}
        </Button>
      )}
    </div>
  )
}

function subject(pair: string, { days, lines }: Trend): string {
  const words = texts.value.history
  const { day, currency } = formats.value
  const [base = '', quote = ''] = pair.split('/')
  const price = (name: string) => words.priceIn(name, quote === 'CRC' ? words.colones : quote)
  const side = texts.value.sides[view.value.side].toLowerCase()
  const [first, second] = lines
  const [from, to] = [day(days[0] ?? ''), day(days.at(-1) ?? '')]
  if (first?.realValues && second) {
    return words.indexFrom(`${price(words.both(first.label, lowerFirst(second.label)))}, ${side}`, from)
  }
  const name = price(currency(base) ?? base)
  return words.period(first?.ownDays ? `${name}, ${side}` : name, from, to)
}

export function TrendSource({ pairs }: { pairs: readonly string[] }) {
  const { source, sources, both } = texts.value.history
  const codes = pairs.map((pair) => pair.split('/'))
  const hasColon = codes.some((pair) => pair.includes('CRC'))
  const hasParity = codes.some((pair) => !pair.includes('CRC') || !pair.includes('USD'))
  const values =
    hasColon && hasParity
      ? both(sources.dollar, sources.parities)
      : hasColon
        ? sources.dollar
        : sources.parities
  return <p class="hint trend-source above-14">{source(values)}</p>
}

/** Names the days of the legs of a value that was computed from values of two days. */
export function LegDays(props: { pair: string; side: string; day: string; oldest: string }) {
  const { pair, side, day, oldest } = props
  const { history } = texts.value
  const { shortDay, currency } = formats.value
  const [from = '', to = ''] = pair.split('/')
  const params = { amount: '1', from, to, type: side, on: day, details: 'true' }
  const path = `/api/v1/convert?${new URLSearchParams(params)}`
  const debounced = useDebounced(path)
  const { value } = useApi<Conversion>(debounced)
  const current = debounced === path ? value : undefined
  const legs = current?.legs.map((leg, at) => {
    const [base_currency = '', quote_currency = ''] = leg.pair.split('/')
    const code = foreignCurrency({ base_currency, quote_currency })
    const name = currency(code) ?? code
    return at === 0
      ? history.firstLeg(name, shortDay(leg.rate_date))
      : history.otherLeg(lowerFirst(name), shortDay(leg.rate_date))
  })
  return <span class="quiet">{legs?.join('; ') ?? history.olderDays(shortDay(oldest), shortDay(day))}</span>
}

/** Fields for the two currencies of the chart, and for the comparison. @param days days of the chart */
export function TrendFields(props: {
  series: readonly Series[]
  days: readonly string[] | undefined
  last: string
}) {
  const { series, days, last } = props
  const { pair, compare } = view.value
  const [base = '', quote = ''] = pair.split('/')
  const currencies = listedCurrencies(series, formats.value)
  const choose = (newBase: string, newQuote: string) => {
    const isCompared = [newBase, newQuote].includes(compare)
    setView({ pair: `${newBase}/${newQuote}`, ...(isCompared ? { compare: '' } : {}) })
  }
  return (
    <PairFields pair={pair} all={currencies} swap="swap" onChoose={choose}>
      <CompareField
        currencies={currencies.filter(({ code }) => code !== base && code !== quote)}
        years={otherYears(firstRateDay(pair, series), days, last)}
      />
    </PairFields>
  )
}

function CompareField({ currencies, years }: { currencies: readonly Currency[]; years: readonly string[] }) {
  const words = texts.value.history
  const { compare } = view.value
  const isListed = years.includes(compare) || currencies.some(({ code }) => code === compare)
  return (
    <SelectField
      class="convert-currency"
      label={words.compare}
      value={isListed ? compare : ''}
      options={[]}
      onChoose={(compare) => setView({ compare })}
    >
      <option value="">{words.nothing}</option>
      <optgroup label={words.years}>
        <Options all={years.map((year) => [year, words.sameMonths(year)])} />
      </optgroup>
      <optgroup label={words.currencies}>
        <Options all={currencyOptions(currencies)} />
      </optgroup>
    </SelectField>
  )
}

/** Years with values other than that of the last day, newest first. */
function otherYears(first: string | undefined, days: readonly string[] | undefined, last: string): string[] {
  const end = days?.at(-1)?.slice(0, 4)
  if (first === undefined || end === undefined) return []
  const newest = Number(last.slice(0, 4))
  return Array.from({ length: newest - Number(first.slice(0, 4)) + 1 }, (_, at) =>
    String(newest - at),
  ).filter((year) => year !== end)
}
