// Months of a year for accountants: close, mean, lowest and highest of any pair.

import type { Series } from '../../api/responses.ts'
import { CurrencyField } from '../../components/currency-field.tsx'
import { icons } from '../../components/icons.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { Step } from '../../components/step.tsx'
import { formats, setView, view } from '../../components/view.ts'
import { listedCurrencies } from '../../model/currencies.ts'
import { addDays } from '../../model/days.ts'
import { isAnyMissing } from '../../model/holes.ts'
import { lastClosedYear } from '../../model/months.ts'
import { MissingDaysNote } from '../missing-days.tsx'
import { useMonths } from './loaded-months.ts'
import { MonthsFiles } from './months-files.tsx'
import { MonthsTable } from './months-table.tsx'
import { monthsTexts } from './months-texts.ts'

export function MonthEnds({ series, today }: { series: readonly Series[]; today: string }) {
  const words = monthsTexts.value
  const { months: pair } = view.value
  const year = view.value.year || lastClosedYear(today)
  const { loaded, failure, isLoading } = useMonths(pair, year)
  const isNone = loaded?.sides.every(({ stats }) => stats.last.length === 0)
  const note = loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />
  return (
    <div aria-busy={isLoading}>
      <div class="convert-fields">
        <PairFields series={series} pair={pair} />
        <YearPicker year={year} first={firstYear(series, today)} today={today} />
      </div>
      {failure ? (
        <FailureNotice failure={failure} />
      ) : loaded && isNone ? (
        <Notice title={words.none(loaded.pair, loaded.year)}>
          <p>{words.noneText}</p>
          {note}
        </Notice>
      ) : (
        <>
          <MonthsTable loaded={loaded} pair={pair} year={year} today={today} />
          {note}
          <MonthsFiles loaded={loaded} today={today} />
        </>
      )}
    </div>
  )
}

function YearPicker({ year, first, today }: { year: string; first: string; today: string }) {
  const words = monthsTexts.value
  const last = addDays(today, 1).slice(0, 4)
  const setYear = (to: number) => setView({ year: String(to) === lastClosedYear(today) ? '' : String(to) })
  const all = Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(last) - index)
  return (
    <div class="day-picker">
      <Step label={words.previous} isOff={year <= first} onClick={() => setYear(Number(year) - 1)}>
        {icons.previous}
      </Step>
      <select
        class="field"
        aria-label={words.year}
        value={year}
        onChange={(event) => setYear(Number(event.currentTarget.value))}
      >
        {!all.includes(Number(year)) && <option value={year}>{year}</option>}
        {all.map((one) => (
          <option key={one} value={String(one)}>
            {one}
          </option>
        ))}
      </select>
      <Step label={words.next} isOff={year >= last} onClick={() => setYear(Number(year) + 1)}>
        {icons.next}
      </Step>
    </div>
  )
}

function PairFields({ series, pair }: { series: readonly Series[]; pair: string }) {
  const words = monthsTexts.value
  const [base = '', quote = ''] = pair.split('/')
  const all = listedCurrencies(series, formats.value)
  return (
    <>
      <CurrencyField
        label={words.source}
        value={base}
        all={all}
        onChoose={(code) => setView({ months: `${code}/${quote}` })}
      />
      <CurrencyField
        label={words.target}
        value={quote}
        all={all}
        onChoose={(code) => setView({ months: `${base}/${code}` })}
      />
    </>
  )
}

/** Year of the first value of any series. */
function firstYear(series: readonly Series[], today: string): string {
  return series
    .reduce((first, { first_data_date: day }) => (day && day < first ? day : first), today)
    .slice(0, 4)
}
