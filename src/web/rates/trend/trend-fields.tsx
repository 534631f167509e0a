import { useId } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { CurrencyField } from '../../components/currency-field.tsx'
import { icons } from '../../components/icons.tsx'
import { formats, setView, texts, view } from '../../components/view.ts'
import { type Currency, firstRateDay, listedCurrencies } from '../../model/rates/currencies.ts'

/** Fields for the two currencies of the chart, and for the comparison. @param days days of the chart */
export function TrendFields(props: {
  series: readonly Series[]
  days: readonly string[] | undefined
  last: string
}) {
  const { series, days, last } = props
  const words = texts.value.convert
  const { pair, compare } = view.value
  const [base = '', quote = ''] = pair.split('/')
  const currencies = listedCurrencies(series, formats.value)
  const choose = (newBase: string, newQuote: string) => {
    const isCompared = [newBase, newQuote].includes(compare)
    setView({ pair: `${newBase}/${newQuote}`, ...(isCompared ? { compare: '' } : {}) })
  }
  const swap = () => choose(quote, base)
  return (
    <div class="pair-fields">
      <CurrencyField
        label={words.source}
        value={base}
        all={currencies}
        onChoose={(code) => (code === quote ? swap() : choose(code, quote))}
      />
      <button
        type="button"
        class="plain round swap"
        aria-label={words.swap}
        title={words.swap}
        onClick={swap}
      >
        {icons.swap}
      </button>
      <CurrencyField
        label={words.target}
        value={quote}
        all={currencies}
        onChoose={(code) => (code === base ? swap() : choose(base, code))}
      />
      <CompareField
        currencies={currencies.filter(({ code }) => code !== base && code !== quote)}
        years={otherYears(firstRateDay(pair, series), days, last)}
      />
    </div>
  )
}

function CompareField({ currencies, years }: { currencies: readonly Currency[]; years: readonly string[] }) {
  const words = texts.value.history
  const { compare } = view.value
  const id = useId()
  const isListed = years.includes(compare) || currencies.some(({ code }) => code === compare)
  return (
    <div class="convert-currency">
      <label for={id}>{words.compare}</label>
      <select
        id={id}
        class="field"
        value={isListed ? compare : ''}
        onChange={(event) => setView({ compare: event.currentTarget.value })}
      >
        <option value="">{words.nothing}</option>
        <optgroup label={words.years}>
          {years.map((year) => (
            <option key={year} value={year}>
              {words.sameMonths(year)}
            </option>
          ))}
        </optgroup>
        <optgroup label={words.currencies}>
          {currencies.map(({ code, name }) => (
            <option key={code} value={code}>
              {code} · {name}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
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
