// Table of all currencies on the day of the dollar: colones for one unit beside the published value.

import { useMemo, useState } from 'preact/hooks'
import { apiRequest } from '../../api/request.ts'
import type { Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { TableSearch } from '../../components/table-search.tsx'
import { useLoaded } from '../../components/use-api.ts'
import { formats, pageTexts } from '../../components/view.ts'
import { CURRENCIES } from '../../i18n/currency-texts.ts'
import { MISSING_DATA } from '../../i18n/missing-data.ts'
import { PAGE } from '../../i18n/page.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import { countryNames } from '../../model/rates/countries.ts'
import { listedCurrencies } from '../../model/rates/currencies.ts'
import {
  type CurrencyRow,
  currencyRows,
  MAIN_CURRENCIES,
  orderRows,
  type SortKey,
  sortRows,
  type UnitRate,
  unitConversions,
} from '../../model/rates/currency-rows.ts'
import { matchesQuery } from '../../model/search.ts'
import { CurrencyGrid, type Sorting, unitFormat } from './currency-grid.tsx'

const HOME = 'CRC'
const FORMS = ['colones', 'published'] as const
export type CurrencyForm = (typeof FORMS)[number]

/** @param day undefined: it was refused, and the table is hidden */
export function CurrencyTable({ series, day }: { series: readonly Series[]; day: string | undefined }) {
  const words = pageTexts(CURRENCIES)
  const [query, setQuery] = useState('')
  const [isWhole, setWhole] = useState(false)
  const [form, setForm] = useState<CurrencyForm>('colones')
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined)
  const currencies = useMemo(() => {
    const all = listedCurrencies(series, formats.value)
    return new Map(all.map((currency) => [currency.code, currency]))
  }, [series, formats.value])
  const codes = useMemo(() => [...currencies.keys()].filter((code) => code !== HOME).sort(), [series])
  const { rows, failure, isLoading, day: loadedDay } = useCurrencyRates(codes, day)
  const name = (code: string) => currencies.get(code)?.name ?? formats.value.currency(code) ?? code
  const searchTexts = (code: string) => [code, name(code), currencies.get(code)?.bankName ?? '']
  const all = orderRows(rows ?? [], name)
  const matches = selectRows(all, query, searchTexts)
  const fileRows = sorting ? sortRows(matches, sorting, name) : matches
  const isShort = query.trim() === '' && !isWhole
  const visible = isShort ? fileRows.filter(({ code }) => MAIN_CURRENCIES.includes(code)) : fileRows
  const missing = all.filter(({ isMissing }) => isMissing).map(({ code }) => code)
  return (
    <div aria-busy={isLoading && !failure}>
      <p class="quiet small one-line">{words.subject(formats.value.day(rows ? loadedDay : (day ?? '')))}</p>
      <TableSearch words={words} query={query} count={visible.length} onInput={setQuery} />
      <div class="currency-forms">
        <SegmentedControl<CurrencyForm>
          name="currency-form"
          label={words.form}
          value={form}
          choices={[
            { value: 'colones', label: words.inColones },
            { value: 'published', label: words.asPublished },
          ]}
          onChoose={setForm}
        />
      </div>
      {missing.length > 0 && (
        <p class="caution left-out">{pageTexts(MISSING_DATA).leftOut(missing.join(', '))}</p>
      )}
      {failure && !rows ? (
        <FailureNotice failure={failure} />
      ) : rows && visible.length === 0 ? (
        <Notice title={query === '' ? words.noValues : words.none(query)}>
          {query !== '' && <Button onClick={() => setQuery('')}>{words.clear}</Button>}
        </Notice>
      ) : (
        <CurrencyGrid
          rows={rows && visible}
          form={form}
          name={name}
          sorting={sorting}
          onSort={(key) => setSorting(nextSorting(sorting, key))}
        />
      )}
      <div class="spread currency-foot above-14">
        {query === '' && rows && (
          <RowCount
            count={visible.length}
            all={all.length}
            isWhole={isWhole}
            onToggle={() => setWhole(!isWhole)}
          />
        )}
        <CurrencyFiles rows={rows && fileRows} day={loadedDay} name={name} />
      </div>
    </div>
  )
}

/**
 * Rows of a day. While another day loads they are those of the former one.
 * @param day undefined: it was refused, and nothing is requested
 */
function useCurrencyRates(codes: readonly string[], day: string | undefined) {
  const key = codes.length === 0 || day === undefined ? undefined : [day, ...codes].join(' ')
  const loaded = useLoaded(key, async (signal) => {
    const body = unitConversions(codes, day ?? '')
    const options = { method: 'POST', body, signal } as const
    const { value, failure } = await apiRequest<readonly UnitRate[]>('/api/v1/convert/batch', options)
    return failure ? { failure } : { value: { codes, day: day ?? '', answers: value } }
  })
  const { value, failure, previous } = loaded
  const state = value ?? (failure && previous?.day !== day ? undefined : previous)
  const rows = useMemo(() => state && currencyRows(state.codes, state.answers), [state])
  return { day: state?.day ?? '', rows, failure, isLoading: day !== undefined && !value && !failure }
}

/** The first click sorts figures and days descending, and texts ascending. */
function nextSorting(sorting: Sorting | undefined, key: SortKey): Sorting {
  const isText = key === 'name' || key === 'pair'
  return { key, isDescending: sorting?.key === key ? !sorting.isDescending : !isText }
}

/** Rows of a search, or all. */
function selectRows(
  rows: readonly CurrencyRow[],
  query: string,
  searchTexts: (code: string) => string[],
): readonly CurrencyRow[] {
  if (query.trim() === '') return rows
  return rows.filter(({ code }) => {
    const codes = code === 'USD' ? [code, HOME] : [code] // the row of the dollar is the price of the colón
    return matchesQuery(
      query,
      codes.flatMap((one) => [...searchTexts(one), ...countryNames(one)]),
    )
  })
}

function RowCount(props: { count: number; all: number; isWhole: boolean; onToggle: () => void }) {
  const words = pageTexts(CURRENCIES)
  const { count } = formats.value
  return (
    <p class="row small quiet row-count">
      {!props.isWhole && words.main(count(props.count), count(props.all))}
      <Button class="link" aria-expanded={props.isWhole} onClick={props.onToggle}>
        {props.isWhole ? words.showMain : words.showAll(count(props.all))}
      </Button>
    </p>
  )
}

/** Menu with the files of the rows. @param rows undefined until they are loaded */
function CurrencyFiles(props: {
  rows: readonly CurrencyRow[] | undefined
  day: string
  name: (code: string) => string
}) {
  const { rows, day, name } = props
  return (
    <div class="buttons">
      <DownloadMenu
        table={rows?.length ? (language) => currencyTable(rows, day, name, language) : undefined}
        name={`bccr-monedas-${day}`}
      />
    </div>
  )
}

/** Table of the rows in their order, with all digits. The published value of the dollar is that to sell. */
function currencyTable(
  rows: readonly CurrencyRow[],
  day: string,
  name: (code: string) => string,
  language: Language,
): Download {
  const { code: codeTitle, columns, colones, bank, source } = inLanguage(CURRENCIES, language)
  const { currencies } = inLanguage(PAGE, language).below
  const format = (value: string, row: number) => unitFormat(rows[row]?.code, formats.value)(value)
  return {
    title: `${currencies}, ${formats.value.day(day)}`,
    source,
    columns: [
      { title: codeTitle, name: 'currency', kind: 'text' },
      { title: columns.name, name: 'name', kind: 'text' },
      { title: `${colones}: ${columns.buy}`, name: 'compra', kind: 'number', format },
      { title: `${colones}: ${columns.sell}`, name: 'venta', kind: 'number', format },
      { title: `${columns.change}, %`, name: 'change_percent', kind: 'amount' },
      { title: `${bank}: ${columns.pair}`, name: 'pair', kind: 'text' },
      { title: `${bank}: ${columns.day}`, name: 'rate_date', kind: 'day' },
      { title: `${bank}: ${columns.value}`, name: 'value', kind: 'number' },
    ],
    rows: rows.map(({ code, buy = '', sell = '', change = '', pair, values, day: published }) => [
      ...[code, name(code), buy, sell, change, pair, published],
      values.at(-1) ?? '',
    ]),
  }
}
