import { CopyButton } from '../../components/copy-button.tsx'
import { saveCsv, saveXlsx } from '../../components/downloads.ts'
import { icons } from '../../components/icons.tsx'
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
  const { csv, excel } = texts.value.history
  const name = loaded && `${loaded.pair.replace('/', '-')} ${loaded.year}`
  const table = () => monthsTable(loaded, today)
  // A spreadsheet reads numbers in the page's language.
  const copy = () => encodeCsv(table(), { separator: '\t', isLocal: language.value === 'es' })
  const local = { separator: ';', isLocal: true } as const
  return (
    <div class="buttons">
      <CopyButton class="button" isOff={!loaded} text={copy}>
        {words.copy}
      </CopyButton>
      <SaveButton isOff={!loaded} label={csv} onClick={() => saveCsv(table(), `${name}`)} />
      <SaveButton
        isOff={!loaded}
        label={words.csvLocal}
        title={words.csvLocalText}
        onClick={() => saveCsv(table(), `${name} es-CR`, local)}
      />
      <SaveButton isOff={!loaded} label={excel} onClick={() => void saveXlsx(table(), `${name}`)} />
    </div>
  )
}

function SaveButton(props: { isOff: boolean; label: string; title?: string; onClick: () => void }) {
  return (
    <button type="button" class="button" disabled={props.isOff} title={props.title} onClick={props.onClick}>
      {icons.download}
      {props.label}
    </button>
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
  return { title: `${pair} ${year}`, columns, rows: lines }
}
