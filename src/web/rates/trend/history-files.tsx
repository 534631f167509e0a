import type { Series } from '../../api/responses.ts'
import { DownloadMenu } from '../../components/download-menu.tsx'
import { icons } from '../../components/icons.tsx'
import { setView, texts } from '../../components/view.ts'
import type { Language } from '../../model/formats.ts'
import type { LoadedHistory } from './loaded-history.ts'

/** Buttons for the table and for its files. */
export function HistoryFiles(props: {
  loaded: LoadedHistory | undefined
  series: readonly Series[]
  isOpen: boolean
}) {
  const { loaded, series, isOpen } = props
  const words = texts.value.history
  return (
    <div class="buttons">
      <button type="button" class="button" aria-expanded={isOpen} onClick={() => setView({ table: !isOpen })}>
        {icons.table}
        {isOpen ? words.hideTable : words.asTable}
      </button>
      {loaded && (
        <DownloadMenu table={(language) => fileTable(loaded, series, language)} name={fileName(loaded)} />
      )}
    </div>
  )
}

async function fileTable(loaded: LoadedHistory, series: readonly Series[], language: Language) {
  const { historyTable } = await import('./history-download.ts')
  return historyTable(loaded, series, language)
}

function fileName({ pair, data }: LoadedHistory): string {
  return ['bccr', pair.replace('/', '-'), data.days[0], data.days.at(-1)].join('-')
}
