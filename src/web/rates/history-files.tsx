import { icons } from '../parts/icons.tsx'
import { saveCsv, saveXlsx } from '../parts/save.ts'
import { look, texts } from '../parts/view.ts'
import type { Table } from '../words/table.ts'
import type { Loaded } from './loaded-history.ts'

/** The table, and what is shown as a file. */
export function HistoryFiles({ loaded, isOpen }: { loaded: Loaded | undefined; isOpen: boolean }) {
  const words = texts.value.history
  const save = (saved: (table: Table, name: string) => unknown) => {
    if (loaded) void saved(tableOf(loaded), nameOf(loaded))
  }
  return (
    <div class="buttons">
      <button type="button" class="button" aria-expanded={isOpen} onClick={() => look({ table: !isOpen })}>
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

function tableOf({ pair, data }: Loaded): Table {
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

function nameOf({ pair, data }: Loaded): string {
  return [pair.replace('/', '-'), data.days[0], data.days.at(-1)].join(' ')
}
