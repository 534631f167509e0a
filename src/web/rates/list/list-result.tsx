// Converted list: counts, a filter, the table, and the total of the rounded rows.

import { useMemo, useState } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import type { DayBounds } from '../../components/dates/date-choice.ts'
import { CopyButton } from '../../components/output/copy-button.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { SignedFigure } from '../../components/signed-figure.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import type { PastedTable } from '../../model/pasted/columns.ts'
import type { RowOutcome } from '../../model/pasted/outcomes.ts'
import { oldLegAge, rateText, routeParts } from '../../model/pasted/route.ts'
import { detailHeadings } from '../../model/pasted/rows.ts'
import type { ConversionLeg } from '../../model/rates/support.ts'
import { AccountingFigure } from '../pasted/figure.tsx'
import { wording } from '../pasted/lists-texts.ts'
import { useDrawnRows } from '../pasted/use-drawn-rows.ts'
import { listCells, listTable, outcomeError, resultTitle } from './list-files.ts'
import { listState, setList } from './list-state.ts'
import type { ConvertedList } from './use-conversion.ts'

const MISSING = '—'

type ResultProps = {
  list: ConvertedList
  table: PastedTable
  bounds: DayBounds
  replacements: ReadonlyMap<string, string>
}

export function ListResult(props: ResultProps & { series: readonly Series[]; isBusy: boolean }) {
  const { list, isBusy } = props
  const words = pageTexts(LISTS).list
  const { count } = formats.value
  const [filter, setFilter] = useState<'all' | 'errors'>('all')
  const badRows = useMemo(() => list.outcomes.filter(({ conversion }) => !conversion), [list])
  const outcomes = filter === 'all' ? list.outcomes : badRows
  const { drawn, limit, more } = useDrawnRows(outcomes.length, outcomes)
  return (
    <section class="card list-result" aria-labelledby="list-result" aria-busy={isBusy}>
      <div class="card-head">
        <div>
          <h2 id="list-result">{words.result}</h2>
          <Summary list={list} badCount={badRows.length} />
        </div>
        <div class="buttons">
          <SegmentedControl
            name="list-filter"
            label={words.filter}
            value={filter}
            choices={[
              { value: 'all', label: words.all },
              { value: 'errors', label: words.withError },
            ]}
            onChoose={setFilter}
          />
          <CopyButton class="button" content={() => listCells(props, wording.value)}>
            {words.copy}
          </CopyButton>
          <DownloadMenu
            table={(fileLanguage) => listTable(props, props.series, fileLanguage)}
            name={`bccr-lista-${list.target}`}
          />
        </div>
      </div>
      {outcomes.length === 0 ? (
        <p class="quiet list-none">{words.noErrors}</p>
      ) : (
        <ResultTable {...props} outcomes={outcomes.slice(0, drawn)} />
      )}
      {limit < outcomes.length && (
        <div class="line quiet table-foot above-14">
          <span>{words.drawn(count(limit), count(outcomes.length))}</span>
          <Button onClick={more}>{words.more}</Button>
        </div>
      )}
      <p class="hint rows-foot">{words.foot}</p>
    </section>
  )
}

function Summary({ list, badCount }: { list: ConvertedList; badCount: number }) {
  const words = pageTexts(LISTS).list
  const { count, instant, time } = formats.value
  const [day = ''] = instant(list.at).split(',')
  const converted = list.total.count
  return (
    <p class="small quiet" role="status">
      <strong class="good-text">{words.converted(count(converted), converted === 1)}</strong>
      {badCount > 0 && (
        <>
          {' · '}
          <strong class="refusal">{words.failed(count(badCount))}</strong>
        </>
      )}
      {' · '}
      {texts.value.sides[list.side].toLowerCase()}
      {' · '}
      {words.queried(day, time(list.at))}
    </p>
  )
}

function ResultTable(props: ResultProps & { outcomes: readonly RowOutcome[] }) {
  const { list, table, bounds, replacements, outcomes } = props
  const words = pageTexts(LISTS).list
  const details = detailHeadings(table)
  const { total, target } = list
  const titles = [
    [words.row],
    [words.date],
    ...details.map((heading) => [heading || words.detail]),
    [words.amount, 'number'],
    [words.currency],
    [words.rate, 'number'],
    [words.derivation],
    [resultTitle(target, wording.value), 'number'],
  ]
  return (
    <table class="data carded list-table">
      <caption class="unseen">{words.result}</caption>
      <thead>
        <tr>
          {titles.map(([title, name], index) => (
            <th key={`${index + 1}`} scope="col" class={name}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {outcomes.map((outcome) => (
          <ResultRow
            key={outcome.row.number}
            outcome={outcome}
            details={details}
            target={target}
            bounds={bounds}
            replacements={replacements}
          />
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={6 + details.length}>
            {words.total(formats.value.count(total.count), total.count === 1)}
          </th>
          <td class="number">
            <SignedFigure value={total.sum} format={formats.value.cents} unit={target} />
          </td>
        </tr>
      </tfoot>
    </table>
  )
}

function ResultRow(props: {
  outcome: RowOutcome
  details: readonly string[]
  target: string
  bounds: DayBounds
  replacements: ReadonlyMap<string, string>
}) {
  const { outcome, details, target, bounds, replacements } = props
  const words = pageTexts(LISTS).list
  const { row, conversion } = outcome
  const { day, exact } = formats.value
  return (
    <tr class={conversion ? undefined : 'bad-row'}>
      <th scope="row" data-label={words.row}>
        {row.number}
      </th>
      <td data-label={words.date}>{row.day === undefined ? row.dateText : day(row.day)}</td>
      {details.map((heading, index) => (
        <td key={`${index + 1}`} class="detail" data-label={heading || words.detail}>
          {row.details[index]}
        </td>
      ))}
      <td class="number" data-label={words.amount}>
        {row.amount === undefined ? row.amountText : <AccountingFigure value={row.amount} format={exact} />}
      </td>
      <td data-label={words.currency}>{row.replacedCurrency ?? row.currency}</td>
      {conversion && row.day !== undefined ? (
        <>
          <td class="number" data-label={words.rate}>
            {rateText(conversion.rate, conversion.legs, formats.value)}
          </td>
          <td class="quiet tiny route" data-label={words.derivation}>
            <RouteText legs={conversion.legs} day={row.day} />
            {row.replacedCurrency !== undefined && (
              <span class="route-part">
                {conversion.legs.length > 0 && ' · '}
                {words.treated(row.replacedCurrency, row.currency ?? '')}
              </span>
            )}
          </td>
          <td class="number result-cell" data-label={resultTitle(target, wording.value)}>
            <AccountingFigure value={conversion.result} format={formats.value.cents} />
          </td>
        </>
      ) : (
        <>
          <td colSpan={2} class="refusal">
            {outcomeError(outcome, bounds, wording.value)}{' '}
            <TreatButton outcome={outcome} replacements={replacements} />
          </td>
          <td class="number" data-label={resultTitle(target, wording.value)}>
            {MISSING}
          </td>
        </>
      )}
    </tr>
  )
}

/** Treats every row of a currency without rates as one that is at par. */
function TreatButton({
  outcome,
  replacements,
}: {
  outcome: RowOutcome
  replacements: ReadonlyMap<string, string>
}) {
  const { error } = outcome.row
  const code = error?.kind === 'unknown-currency' ? error.code : ''
  const other = replacements.get(code)
  if (other === undefined) return null
  return (
    <Button class="link" onClick={() => setList({ asDollar: [...listState.value.asDollar, code] })}>
      {pageTexts(LISTS).list.treat(other)}
    </Button>
  )
}

function RouteText({ legs, day }: { legs: readonly ConversionLeg[]; day: string }) {
  const age = oldLegAge(legs, day)
  return (
    <>
      {routeParts(legs, day, formats.value, texts.value.sides).map((part, index) => (
        <span key={part.name} class="route-part">
          {index > 0 && ' '}
          {part.sign}
          {part.name} <strong>{part.value}</strong> ({part.day})
        </span>
      ))}
      {age !== undefined && (
        <>
          {' '}
          <span class="chip old">{pageTexts(LISTS).list.old(String(age))}</span>
        </>
      )}
    </>
  )
}
