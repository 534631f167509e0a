import type { Series } from '../../api/responses.ts'
import { currencyOptions } from '../../components/currency-field.tsx'
import { Options, SelectField } from '../../components/select-field.tsx'
import { formats, setView, texts, view } from '../../components/view.ts'
import { type Currency, firstRateDay, listedCurrencies } from '../../model/rates/currencies.ts'
import { PairFields } from '../pair-fields.tsx'

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
