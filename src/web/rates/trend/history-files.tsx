import { saveCsv, saveXlsx } from '../../components/downloads.ts'
import { icons } from '../../components/icons.tsx'
import { setView, texts } from '../../components/view.ts'
import type { Download } from '../../model/table.ts'
import type { LoadedHistory } from './loaded-history.ts'

/** Buttons for the table and for its files. */
export function HistoryFiles({ loaded, isOpen }: { loaded: LoadedHistory | undefined; isOpen: boolean }) {
  const words = texts.value.history
  const save = (saveTable: (table: Download, name: string) => unknown) => {
    if (loaded) void saveTable(historyTable(loaded), fileName(loaded))
  }
  return (
    <div class="buttons">
      <button type="button" class="button" aria-expanded={isOpen} onClick={() => setView({ table: !isOpen })}>
        {icons.table}
        {isOpen ? words.hideTable : words.asTable}
      </button>
      <button type="button" class="button" disabled={!loaded} onClick={() => save(saveCsv)}>
        {icons.download}
        {words.csv}
      </button>
      <button type="button" class="button" disabled={!loaded} onClick={() => save(saveXlsx)}>
        {icons.download}
        {words.excel}
      </button>
    </div>
  )
}

function historyTable({ pair, data }: LoadedHistory): Download {
  const { history, sides } = texts.value
  return {
    title: pair,
    columns: [
      { title: history.day, kind: 'day' },
      ...data.lines.map(({ name }) => ({ title: `${pair} ${sides[name]}`, kind: 'number' as const })),
    ],
    rows: data.days.map((day, index) => [day, ...data.lines.map(({ values }) => values[index] ?? '')]),
  }
}

function fileName({ pair, data }: LoadedHistory): string {
  return [pair.replace('/', '-'), data.days[0], data.days.at(-1)].join(' ')
}
