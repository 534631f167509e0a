import { CopyButton } from '../../components/copy-button.tsx'
import { DownloadMenu } from '../../components/download-menu.tsx'
import { language, texts } from '../../components/view.ts'
import { encodeCsv } from '../../model/csv.ts'
import { monthRows } from '../../model/months.ts'
import type { Download, TableColumn } from '../../model/table.ts'
import type { LoadedMonths } from './loaded-months.ts'
import { monthNote } from './months-table.tsx'
import { monthsTexts } from './months-texts.ts'

/** Buttons that copy the table or save it as a file. */
export function MonthsFiles({ loaded, today }: { loaded: LoadedMonths | undefined; today: string }) {
  const words = monthsTexts.value
  const name = loaded ? `bccr-cierres-${loaded.pair.replace('/', '-')}-${loaded.year}` : ''
  const table = () => monthsTable(loaded, today)
  // A spreadsheet reads numbers in the page's language.
  const isLocal = language.value === 'es'
  const copy = () => encodeCsv(table(), { separator: '\t', isLocal, isForPrograms: false })
  return (
    <div class="buttons">
      <CopyButton class="button" isOff={!loaded} text={copy}>
        {words.copy}
      </CopyButton>
      <DownloadMenu table={table} name={name} isOff={!loaded} />
    </div>
  )
}

/** Table with the day of each figure, and with the rounding of columns that have rounded figures. */
function monthsTable(loaded: LoadedMonths | undefined, today: string): Download {
  const words = monthsTexts.value
  const { sides: names } = texts.value
  const { pair = '', year = '', sides = [] } = loaded ?? {}
  const rows = monthRows(year, today, sides)
  const columns: TableColumn[] = [
    { title: words.month, kind: 'text' },
    { title: words.note, kind: 'text' },
  ]
  const lines = rows.map((row) => [
    row.month,
    monthNote(
      row,
      sides.map(({ name }) => name),
    ),
  ])
  const addColumn = (column: TableColumn, value: (row: (typeof rows)[number]) => unknown) => {
    columns.push(column)
    for (const [at, row] of rows.entries()) lines[at]?.push(String(value(row) ?? ''))
  }
  for (const [at, { stat, side }] of (rows[0]?.cells ?? []).entries()) {
    const title = `${pair} ${words.stats[stat]} ${names[side]}`
    addColumn({ title, kind: 'number' }, ({ cells }) => cells[at]?.point?.value)
    if (stat !== 'mean')
      addColumn({ title: words.dayOf(title), kind: 'day' }, ({ cells }) => cells[at]?.point?.rate_date)
    if (rows.some(({ cells }) => cells[at]?.point?.rounded_to !== undefined))
      addColumn(
        { title: words.roundedOf(title), kind: 'number' },
        ({ cells }) => cells[at]?.point?.rounded_to,
      )
  }
  return { title: `${pair} ${year}`, source: '', columns, rows: lines }
}
