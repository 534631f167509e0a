import { Button } from '../../components/button.tsx'
import { formats, pageTexts, setView, view } from '../../components/view.ts'
import { CURRENCIES } from '../../i18n/currency-texts.ts'
import { decimalSign } from '../../model/decimal.ts'
import type { FigureFormat, Formats } from '../../model/formats.ts'
import type { CurrencyRow, SortKey } from '../../model/rates/currency-rows.ts'
import { MAIN_CURRENCIES } from '../../model/rates/currency-rows.ts'

export type Sorting = { key: SortKey; isDescending: boolean }

const NO_ROW: Omit<CurrencyRow, 'code'> = {
  ...{ buy: undefined, sell: undefined, change: undefined },
  ...{ pair: '', values: [], day: '', isMissing: false },
}
const COLONES_KEYS = ['buy', 'sell', 'change'] as const
const BANK_KEYS = ['pair', 'value', 'day'] as const

/**
 * Table of currencies, whose headings sort. On a phone it is a list of cards with the columns of one form.
 * @param rows undefined: placeholders of the main currencies
 */
export function CurrencyGrid(props: {
  rows: readonly CurrencyRow[] | undefined
  form: 'colones' | 'published'
  name: (code: string) => string
  sorting: Sorting | undefined
  onSort: (key: SortKey) => void
}) {
  const words = pageTexts(CURRENCIES)
  const { rows, form, name, sorting, onSort } = props
  const heading = (key: SortKey, group: string) => (
    <Heading key={key} name={key} group={group} sorting={sorting} onSort={onSort} />
  )
  return (
    <table class={`data compact above-12 currency-table only-${form}`}>
      <caption class="unseen">{words.form}</caption>
      <thead>
        <tr class="groups">
          <td />
          <th scope="colgroup" colSpan={COLONES_KEYS.length}>
            {words.colones}
          </th>
          <th scope="colgroup" colSpan={BANK_KEYS.length} class="bank">
            {words.bank}
          </th>
        </tr>
        <tr>
          {heading('name', '')}
          {COLONES_KEYS.map((key) => heading(key, 'colones'))}
          {BANK_KEYS.map((key) => heading(key, 'bank'))}
        </tr>
      </thead>
      <tbody>
        {rows
          ? rows.map((row) => <Row key={row.code} row={row} name={name(row.code)} isLoading={false} />)
          : MAIN_CURRENCIES.map((code) => (
              <Row key={code} row={{ ...NO_ROW, code }} name={name(code)} isLoading />
            ))}
      </tbody>
    </table>
  )
}

function Heading(props: {
  name: SortKey
  group: string
  sorting: Sorting | undefined
  onSort: (key: SortKey) => void
}) {
  const { name, group, sorting, onSort } = props
  const direction = sorting?.isDescending ? 'descending' : 'ascending'
  return (
    <th
      scope="col"
      class={`${group} column-${name}`}
      aria-sort={sorting?.key === name ? direction : undefined}
    >
      <Button class="sort full touch" onClick={() => onSort(name)}>
        {pageTexts(CURRENCIES).columns[name]}
      </Button>
    </th>
  )
}

function Row({ row, name, isLoading }: { row: CurrencyRow; name: string; isLoading: boolean }) {
  const { exact, percent, day } = formats.value
  const { code, buy, sell, change, pair, values } = row
  const price = (value: string | undefined) => value && unitFormat(code, formats.value)(value)
  const cells = {
    buy: price(buy),
    sell: price(sell),
    change: change && <Change change={change} text={percent(change)} />,
    pair,
    value: values.map(exact).join(' · '),
    day: row.day && day(row.day),
  }
  return (
    <tr>
      <th scope="row">
        <TrendButton code={code} name={name} />
      </th>
      {[...COLONES_KEYS, ...BANK_KEYS].map((key, at) => (
        <td key={key} class={`number ${at < COLONES_KEYS.length ? 'colones' : 'bank'} column-${key}`}>
          <span class="cell-label">{pageTexts(CURRENCIES).columns[key]}</span>
          <span class={`currency-${key}`}>{isLoading ? <span class="awaited" /> : cells[key] || '—'}</span>
        </td>
      ))}
    </tr>
  )
}

/** Writes colones for a unit: the dollar's are published. */
export function unitFormat(code: string | undefined, { exact, cross }: Formats): FigureFormat {
  return code === 'USD' ? exact : cross
}

function Change({ change, text }: { change: string; text: string }) {
  const sign = decimalSign(change)
  return <span class={sign > 0 ? 'change-up' : sign < 0 ? 'change-down' : undefined}>{text}</span>
}

/** Button that shows the trend of a currency in colones. */
function TrendButton({ code, name }: { code: string; name: string }) {
  const pair = `${code}/CRC`
  const show = () => {
    setView({ pair, ...(view.value.compare === code ? { compare: '' } : {}) })
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    document
      .getElementById('history')
      ?.scrollIntoView({ behavior: isCalm ? 'auto' : 'smooth', block: 'center' })
  }
  return (
    <Button
      class="currency"
      aria-pressed={view.value.pair === pair}
      title={pageTexts(CURRENCIES).trend(name)}
      onClick={show}
    >
      <span class="currency-code sunk tiny bold">{code}</span>
      <span class="currency-name">{name}</span>
    </Button>
  )
}
