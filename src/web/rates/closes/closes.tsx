// Closes and means of months, quarters or years of any pair, for accountants.

import { useState } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { icons } from '../../components/icons.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { CopyButton } from '../../components/output/copy-button.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { Options } from '../../components/select-field.tsx'
import { formats, language, pageTexts, setView, view } from '../../components/view.ts'
import { CLOSES } from '../../i18n/closes.ts'
import { addDays } from '../../model/days.ts'
import { copiedRows } from '../../model/files/copy.ts'
import { routeSeries, shortSourceText } from '../../model/files/sources.ts'
import { EVERY } from '../../model/fragment.ts'
import { listedCurrencies } from '../../model/rates/currencies.ts'
import { isAnyMissing } from '../../model/rates/holes.ts'
import { lastClosedYear, type PeriodKind, periodRows } from '../../model/rates/months.ts'
import { MissingDaysNote } from '../missing-days.tsx'
import { PairFields } from '../pair-fields.tsx'
import { loadSources } from '../published-values.ts'
import { closesTable } from './closes-download.ts'
import { ClosesFigures } from './closes-figures.tsx'
import { currencyUnits, sourceTexts } from './closes-texts.ts'
import { closesRange, type LoadedCloses, useCloses } from './loaded-closes.ts'

export function Closes({ series, today }: { series: readonly Series[]; today: string }) {
  const words = pageTexts(CLOSES)
  const { months: pair, every } = view.value
  const year = every === 'year' ? '' : view.value.year || lastClosedYear(today)
  const { loaded, failure, isLoading } = useCloses({ pair, every, year }, today)
  const [isExact, setExact] = useState(false)
  const isNone = loaded?.sides.every(({ points }) => points.length === 0)
  const note = loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />
  return (
    <section class="card months" aria-labelledby="months" aria-busy={isLoading}>
      <div class="card-head">
        <div>
          <h2 id="months">{words.title}</h2>
          <p class="hint closes-of one-line">{describeCloses(loaded ?? { pair, every, year })}</p>
        </div>
        <Files loaded={isNone ? undefined : loaded} series={series} today={today} />
      </div>
      <div class="row closes-fields above-12">
        <PairFields
          pair={pair}
          all={listedCurrencies(series, formats.value)}
          onChoose={(base, quote) => setView({ months: `${base}/${quote}` })}
        />
        <SegmentedControl<PeriodKind>
          name="every"
          label={words.period}
          value={every}
          choices={EVERY.map((value) => ({
            value,
            title: words.periods[value],
            label: (
              <>
                <span class="on-desk">{words.periods[value]}</span>
                <span class="on-phone">{words.shortPeriods[value]}</span>
              </>
            ),
          }))}
          onChoose={(value) => setView({ every: value })}
        />
        {every !== 'year' && <YearPicker year={year} first={firstYear(series, today)} today={today} />}
      </div>
      {failure ? (
        <FailureNotice failure={failure} />
      ) : loaded && isNone ? (
        <Notice title={words.none(loaded.pair, loaded.year)} text={words.noneText}>
          {note}
        </Notice>
      ) : (
        <>
          <ClosesFigures
            loaded={loaded}
            query={{ pair, every, year }}
            rows={loaded && periodRows(loaded.every, loaded.year, today, loaded.sides)}
            isExact={isExact}
            onExact={setExact}
          />
          {note}
          {loaded && <Foot loaded={loaded} series={series} />}
        </>
      )}
    </section>
  )
}

function Files(props: { loaded: LoadedCloses | undefined; series: readonly Series[]; today: string }) {
  const { loaded, series, today } = props
  const words = pageTexts(CLOSES)
  const name =
    loaded && ['bccr-cierres', loaded.pair.replace('/', '-'), loaded.year || loaded.every].join('-')
  return (
    <div class="buttons">
      <CopyButton
        class="button"
        isOff={!loaded}
        content={() => (loaded ? copiedRows(closesTable(loaded, series, today, language.value)) : '')}
      >
        {words.copy}
      </CopyButton>
      <DownloadMenu
        name={name}
        table={
          loaded &&
          (async (language) => {
            const range = { pair: loaded.pair, ...closesRange(loaded, today) }
            const sources = await loadSources([range], series, language)
            return { ...closesTable(loaded, series, today, language), sources }
          })
        }
      />
    </div>
  )
}

function Foot({ loaded, series }: { loaded: LoadedCloses; series: readonly Series[] }) {
  const words = pageTexts(CLOSES)
  const [base = '', quote = ''] = loaded.pair.split('/')
  const [day = '', time = ''] = formats.value.instant(loaded.at).split(', ')
  const sources = shortSourceText(routeSeries(series, base, quote), sourceTexts.value)
  return (
    <p class="hint closes-foot above-14">
      {sources !== '' && words.shortSource(sources)} {words.meaning[loaded.every]}{' '}
      {words.retrieved(day, time)}
    </p>
  )
}

function YearPicker({ year, first, today }: { year: string; first: string; today: string }) {
  const words = pageTexts(CLOSES)
  const last = addDays(today, 1).slice(0, 4)
  const setYear = (to: number) => setView({ year: String(to) === lastClosedYear(today) ? '' : String(to) })
  const all = Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(last) - index)
  return (
    <div class="line day-picker gap-4">
      <IconButton label={words.previous} isOff={year <= first} onClick={() => setYear(Number(year) - 1)}>
        {icons.previous}
      </IconButton>
      <select
        class="field"
        aria-label={words.year}
        value={year}
        onChange={(event) => setYear(Number(event.currentTarget.value))}
      >
        {!all.includes(Number(year)) && <option value={year}>{year}</option>}
        <Options all={all.map((one) => [one, String(one)])} />
      </select>
      <IconButton label={words.next} isOff={year >= last} onClick={() => setYear(Number(year) + 1)}>
        {icons.next}
      </IconButton>
    </div>
  )
}

/** Describes the table, as `Euro en colones (EUR/CRC), 2026, por mes`. */
function describeCloses({ pair, every, year }: { pair: string; every: PeriodKind; year: string }): string {
  const words = pageTexts(CLOSES)
  const [base = '', quote = ''] = pair.split('/')
  const { currency } = formats.value
  const name = words.pair(currency(base) ?? base, currencyUnits(quote, language.value), pair)
  return [name, year, words.every[every]].filter((part) => part !== '').join(', ')
}

/** Year of the first value of any series. */
function firstYear(series: readonly Series[], today: string): string {
  return series
    .reduce((first, { first_data_date: day }) => (day && day < first ? day : first), today)
    .slice(0, 4)
}
