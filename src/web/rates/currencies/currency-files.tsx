import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { formats } from '../../components/view.ts'
import { CURRENCIES } from '../../i18n/currency-texts.ts'
import { PAGE } from '../../i18n/page.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import type { CurrencyRow } from '../../model/rates/currency-rows.ts'

/** Menu with the files of the rows. @param rows undefined until they are loaded */
export function CurrencyFiles(props: {
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
  return {
    title: `${currencies}, ${formats.value.day(day)}`,
    source,
    columns: [
      { title: codeTitle, name: 'currency', kind: 'text' },
      { title: columns.name, name: 'name', kind: 'text' },
      { title: `${colones}: ${columns.buy}`, name: 'compra', kind: 'number' },
      { title: `${colones}: ${columns.sell}`, name: 'venta', kind: 'number' },
      { title: `${columns.change}, %`, name: 'change_percent', kind: 'number' },
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
