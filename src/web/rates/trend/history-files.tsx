import type { Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { icons } from '../../components/icons.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { setView, texts } from '../../components/view.ts'
import type { Language } from '../../model/formats.ts'
import type { Trend } from '../../model/rates/history.ts'
import type { PairRange } from '../published-values.ts'
import type { LoadedHistory } from './loaded-history.ts'

/**
 * Buttons for the table and for its files.
 * @param compared days of the second line; undefined: none
 * @param trend undefined until the history is loaded
 */
export function HistoryFiles(props: {
  loaded: LoadedHistory | undefined
  compared: PairRange | undefined
  trend: Trend | undefined
  series: readonly Series[]
  isOpen: boolean
}) {
  const { loaded, compared, trend, series, isOpen } = props
  const words = texts.value.history
  return (
    <div class="buttons">
      <Button aria-expanded={isOpen} onClick={() => setView({ table: !isOpen })}>
        {icons.table}
        {isOpen ? words.hideTable : words.asTable}
      </Button>
      <DownloadMenu
        table={loaded && trend && ((language) => fileTable(loaded, compared, trend, series, language))}
        name={loaded && trend && fileName(loaded.pair, trend)}
      />
    </div>
  )
}

async function fileTable(
  { pair, from, to, data: { days } }: LoadedHistory,
  compared: PairRange | undefined,
  trend: Trend,
  series: readonly Series[],
  language: Language,
) {
  const { loadHistoryTable } = await import('./history-download.ts')
  const range = { pair, from: days[0] ?? from, to: days.at(-1) ?? to }
  return loadHistoryTable(compared ? [range, compared] : [range], trend, series, language)
}

function fileName(pair: string, { days }: Trend): string {
  return ['bccr', pair.replace('/', '-'), days[0], days.at(-1)].join('-')
}
