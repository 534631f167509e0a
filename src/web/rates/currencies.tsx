import type { FunctionComponent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { DayRates, Rate, Series } from '../api/responses.ts'
import { DownloadMenu } from '../components/download-menu.tsx'
import { icons } from '../components/icons.tsx'
import { FailureNotice, Notice } from '../components/notice.tsx'
import type { ApiState } from '../components/use-api.ts'
import { formats, setView, texts, view } from '../components/view.ts'
import { PAGE } from '../i18n/page.ts'
import { inLanguage } from '../i18n/table.ts'
import { foreignCurrency } from '../model/currencies.ts'
import type { Language } from '../model/formats.ts'
import { matchesQuery } from '../model/search.ts'
import type { Download } from '../model/table.ts'

type CurrencyRow = Rate & { code: string; name: string; bankName: string }

/** Value of every series on one day. */
export function Currencies({
  series,
  rates,
  day,
  LeftOutNote,
}: {
  series: readonly Series[]
  rates: ApiState<DayRates>
  day: string
  LeftOutNote: FunctionComponent<{ ids: readonly number[]; series: readonly Series[] }>
}) {
  const words = texts.value.currencies
  const [query, setQuery] = useState('')
  const id = useId()
  const leftOut = rates.value?.leftOut ?? []
  const rows = currencyRows(rates.value?.rates ?? [], series)
  const hits = rows.filter(({ code, name, bankName, pair }) =>
    matchesQuery(query, [code, name, bankName, pair]),
  )
  return (
    <section class="card currencies" aria-labelledby="currencies" aria-busy={!rates.value}>
      <div class="card-head">
        <div>
          <h2 id="currencies">{words.title}</h2>
          <p class="quiet">{words.of(formats.value.day(day))}</p>
        </div>
        <div class="search">
          {icons.search}
          <label class="unseen" for={id}>
            {words.search}
          </label>
          <input
            id={id}
            type="search"
            class="field"
            placeholder={words.search}
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          <span class="unseen" role="status">
            {query !== '' && words.found(hits.length)}
          </span>
        </div>
      </div>
      {leftOut.length > 0 && <LeftOutNote ids={leftOut} series={series} />}
      {rates.failure && !rates.value ? (
        <FailureNotice failure={rates.failure} />
      ) : rates.value && hits.length === 0 ? (
        <Notice title={query === '' ? texts.value.dollar.none : words.none(query)}>
          {query !== '' && (
            <button type="button" class="button" onClick={() => setQuery('')}>
              {words.clear}
            </button>
          )}
        </Notice>
      ) : (
        <Rows rows={hits} day={day} />
      )}
      <div class="buttons">
        <DownloadMenu
          table={(language) => currencyTable(hits, day, language)}
          name={`bccr-monedas-${day}`}
          isOff={hits.length === 0}
        />
      </div>
    </section>
  )
}

function Rows({ rows, day }: { rows: readonly CurrencyRow[]; day: string }) {
  return (
    <ul class="currency-list">
      {rows.map((row) => (
        <li key={row.series_id}>
          <CurrencyRow row={row} day={day} />
        </li>
      ))}
    </ul>
  )
}

/** Row that is a button to the history of its pair. */
function CurrencyRow({ row, day }: { row: CurrencyRow; day: string }) {
  const { currencies, sides } = texts.value
  const { name, code, pair, value, rate_date, rate_type } = row
  const show = () => {
    setView({ pair })
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    document
      .getElementById('history')
      ?.scrollIntoView({ behavior: isCalm ? 'auto' : 'smooth', block: 'center' })
  }
  return (
    <button
      type="button"
      class="currency"
      aria-pressed={view.value.pair === pair}
      title={currencies.chart(name)}
      onClick={show}
    >
      <span class="currency-code">{code}</span>
      <span class="currency-name">
        {name}
        <small>
          {pair}
          {rate_type !== 'referencia' && ` · ${sides[rate_type]}`}
          {rate_date !== day && ` · ${formats.value.day(rate_date)}`}
        </small>
      </span>
      <span class="currency-value">{formats.value.exact(value)}</span>
    </button>
  )
}

function currencyRows(rates: readonly Rate[], series: readonly Series[]): CurrencyRow[] {
  const names = new Map(series.map(({ id, name }) => [id, name]))
  return rates.map((rate) => {
    const code = foreignCurrency(rate)
    const bankName = names.get(rate.series_id) ?? ''
    return { ...rate, code, bankName, name: formats.value.currency(code) ?? (bankName || code) }
  })
}

function currencyTable(rows: readonly CurrencyRow[], day: string, language: Language): Download {
  const { currencies, history, sides, convert } = inLanguage(PAGE, language)
  return {
    title: `${currencies.title}, ${formats.value.day(day)}`,
    source: currencies.source,
    columns: [
      { title: currencies.code, name: 'currency', kind: 'text' },
      { title: currencies.name, name: 'name', kind: 'text' },
      { title: currencies.pair, name: 'pair', kind: 'text' },
      { title: convert.side, name: 'rate_type', kind: 'text' },
      { title: history.day, name: 'rate_date', kind: 'day' },
      { title: currencies.value, name: 'value', kind: 'number' },
    ],
    rows: rows.map(({ code, name, pair, rate_type, rate_date, value }) => [
      code,
      name,
      pair,
      sides[rate_type],
      rate_date,
      value,
    ]),
  }
}
