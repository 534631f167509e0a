// Table of counter rates by entity. On a phone an entity has two lines: its name with the day, and its figures.

import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { TableSearch } from '../../components/table-search.tsx'
import { useApi } from '../../components/use-api.ts'
import { formats, pageTexts } from '../../components/view.ts'
import { INDICATORS } from '../../i18n/indicator-texts.ts'
import { MISSING_DATA } from '../../i18n/missing-data.ts'
import {
  type CounterEntity,
  type CounterEntry,
  type CounterSortKey,
  counterEntries,
  type PageIndicator,
  sortCounters,
} from '../../model/indicators.ts'
import { matchesQuery } from '../../model/search.ts'
import { counterFile } from './indicator-files.ts'
import { TrendChoice } from './indicator-list.tsx'

type ShownCounters = { entities: readonly CounterEntity[]; leftOut: readonly string[] }
type CounterSorting = { key: CounterSortKey; isDescending: boolean }

const EVERY_MS = 600_000
const SEARCHED_ROWS = 10
const KEYS: readonly CounterSortKey[] = ['entity', 'compra', 'venta', 'spread']
const BEST_IS_HIGHEST = 'compra'

export function CounterTable(props: {
  indicators: readonly PageIndicator[]
  selected: string | undefined
  today: string
}) {
  const words = pageTexts(INDICATORS).counters
  const { indicators, selected, today } = props
  const [query, setQuery] = useState('')
  const [sorting, setSorting] = useState<CounterSorting>({ key: 'entity', isDescending: false })
  const { value, failure } = useApi<ShownCounters>('/api/v1/ventanilla', EVERY_MS, readCounterRates)
  const all = value && sortCounters(counterEntries(value.entities, indicators), sorting)
  const visible = all?.filter(({ entity, kind }) => matchesQuery(query, [entity, kind]))
  const leftOut = value?.leftOut ?? []
  const sort = (key: CounterSortKey) =>
    setSorting({ key, isDescending: sorting.key === key ? !sorting.isDescending : key === BEST_IS_HIGHEST })
  return (
    <section class="counters" aria-labelledby="counters">
      <h3 id="counters">{words.title}</h3>
      <p class="quiet small">{words.subject}</p>
      {(all?.length ?? 0) > SEARCHED_ROWS && (
        <TableSearch words={words} query={query} count={visible?.length ?? 0} onInput={setQuery} />
      )}
      {leftOut.length > 0 && (
        <p class="caution left-out">{pageTexts(MISSING_DATA).leftOut(leftOut.join(', '))}</p>
      )}
      {failure && !value ? (
        <FailureNotice failure={failure} />
      ) : visible?.length === 0 && query !== '' ? (
        <Notice title={words.none(query)}>
          <Button onClick={() => setQuery('')}>{words.clear}</Button>
        </Notice>
      ) : (
        <table class="data compact above-12 counter-table" aria-busy={!value}>
          <caption class="unseen">{words.subject}</caption>
          <thead>
            <tr>
              {KEYS.map((key) => (
                <th
                  key={key}
                  scope="col"
                  class={key === 'entity' ? 'column-name' : 'number'}
                  aria-sort={
                    sorting.key === key ? (sorting.isDescending ? 'descending' : 'ascending') : undefined
                  }
                >
                  <Button class="sort full touch" onClick={() => sort(key)}>
                    {words.columns[key]}
                  </Button>
                </th>
              ))}
              <th scope="col" class="counter-day text-end">
                {words.columns.day}
              </th>
            </tr>
          </thead>
          <tbody>
            {visible?.map((entry) => (
              <CounterLine key={entry.entity} entry={entry} isSelected={entry.code === selected} />
            ))}
          </tbody>
        </table>
      )}
      <div class="buttons counter-files">
        <DownloadMenu
          table={visible?.length ? (language) => counterFile(visible, today, language) : undefined}
          name={`bccr-ventanilla-${today}`}
        />
      </div>
    </section>
  )
}

function CounterLine({ entry, isSelected }: { entry: CounterEntry; isSelected: boolean }) {
  const { columns } = pageTexts(INDICATORS).counters
  const { exact } = formats.value
  const { entity, code, compra, venta, spread } = entry
  const figure = (key: 'compra' | 'venta' | 'spread', text: string | null | undefined) => (
    <td class={`number counter-${key}`}>
      <span class="cell-label">{columns[key]}</span>
      {text ? exact(text) : '—'}
    </td>
  )
  return (
    <tr class={hasTwoDays(entry) ? 'two-days' : undefined}>
      <th scope="row">
        <TrendChoice code={code} name={entity} isSelected={isSelected} />
      </th>
      {figure('compra', compra)}
      {figure('venta', venta)}
      {figure('spread', spread)}
      <td class="quiet counter-day text-end">{dayText(entry)}</td>
    </tr>
  )
}

/** Day of both sides, or each with its own. */
function dayText(entry: CounterEntry): string {
  const { day } = formats.value
  const { compra_date: buy, venta_date: sell } = entry
  if (hasTwoDays(entry)) return pageTexts(INDICATORS).counters.days(day(buy ?? ''), day(sell ?? ''))
  const one = buy ?? sell
  return one === null ? '—' : day(one)
}

function hasTwoDays({ compra_date: buy, venta_date: sell }: CounterEntry): boolean {
  return buy !== null && sell !== null && buy !== sell
}

async function readCounterRates(answer: Response): Promise<ShownCounters> {
  const leftOut = answer.headers.get('x-left-out')?.match(/\d+/g) ?? []
  return { entities: (await answer.json()) as readonly CounterEntity[], leftOut }
}
