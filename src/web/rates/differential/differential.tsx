// View of exchange differences: the closing, income, expense and net, and the positions with both of their rates.

import { useState } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { CurrencyField } from '../../components/currency-field.tsx'
import { type DayBounds, useDateChoice } from '../../components/dates/date-choice.ts'
import { DateField, DateWords } from '../../components/dates/date-field.tsx'
import { icons } from '../../components/icons.tsx'
import { FailureNotice } from '../../components/notice.tsx'
import type { DownloadSource } from '../../components/output/download-list.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { formats, pageTexts, setView, texts, view } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { lastMonthEnd } from '../../model/days.ts'
import { SIDE_RULES, type SideRule } from '../../model/fragment.ts'
import { type Currency, listedCurrencies } from '../../model/rates/currencies.ts'
import { computeTotals, type Position } from '../../model/rates/differential.ts'
import { AccountingFigure } from '../pasted/figure.tsx'
import type { differentialTable } from './differential-table.ts'
import { PastePositions } from './paste-positions.tsx'
import { PositionForm } from './position-form.tsx'
import { isStored, positions } from './positions.ts'
import { PositionsTable } from './positions-table.tsx'
import { type Differences, useDifferences } from './use-differences.ts'

const MISSING = '—'
const CLOSING_WORDS = 'closing-words'

type OpenPanel = { kind: 'paste' } | { kind: 'form'; position: Position | undefined } | undefined

export function Differential({ series, bounds }: { series: readonly Series[]; bounds: DayBounds }) {
  const words = pageTexts(LISTS).differential
  const { closing, books, rule } = view.value
  const currencies = listedCurrencies(series, formats.value)
  const monthEnd = lastMonthEnd(bounds.today)
  const choice = useDateChoice(closing || monthEnd, bounds, (day) =>
    setView({ closing: day === monthEnd ? '' : day }),
  )
  const { day, error } = choice
  const { differences, failure, isBusy } = useDifferences(
    error ? undefined : { positions: positions.value, day, books, rule },
  )
  return (
    <>
      <section class="card differential" aria-labelledby="differential">
        <div>
          <h2 id="differential">{words.title}</h2>
          <p class="hint">{words.hint}</p>
        </div>
        <div class="positions-settings grid">
          <DateField label={words.closing} choice={choice} describedBy={CLOSING_WORDS} />
          <RuleField rule={rule} />
          <CurrencyField
            label={words.books}
            value={books}
            all={currencies}
            onChoose={(books) => setView({ books })}
          />
          <p class="small quiet closing-words">
            <DateWords id={CLOSING_WORDS} choice={choice} />
          </p>
        </div>
      </section>
      <TotalsCard differences={differences} day={error ? '' : day} books={books} isBusy={isBusy} />
      {failure && <FailureNotice failure={failure} waits={pageTexts(LISTS).list.waits} />}
      <PositionsCard
        {...{ currencies, bounds, firstDay: monthEnd, differences, books, day, isBusy }}
        onFile={differences && ((language) => fileTable(differences, { day, books }, series, language))}
      />
    </>
  )
}

function RuleField({ rule }: { rule: SideRule }) {
  const words = pageTexts(LISTS).differential
  return (
    <SelectField
      label={words.rule}
      value={rule}
      options={SIDE_RULES.map((one) => [one, words.rules[one]])}
      onChoose={(value) => setView({ rule: value as SideRule })}
    />
  )
}

/** @param day empty: refused */
function TotalsCard(props: {
  differences: Differences | undefined
  day: string
  books: string
  isBusy: boolean
}) {
  const { differences, day, books, isBusy } = props
  const words = pageTexts(LISTS).differential
  const { cents, exact } = formats.value
  const { sides } = texts.value
  const amounts = differences?.rows.flatMap(({ difference }) => difference?.difference ?? [])
  const totals = amounts && computeTotals(amounts)
  const sign = books === 'CRC' ? '₡' : ''
  const dayText = day === '' ? MISSING : formats.value.day(day)
  const figures = [
    ['income', words.income, totals?.income],
    ['expense', words.expense, totals?.expense],
    ['net', words.net(dayText), totals?.net],
  ] as const
  const { compra, venta } = differences?.dollar ?? {}
  return (
    <dl class="card totals grid" aria-live="polite" aria-busy={isBusy}>
      {figures.map(([name, title, value]) => (
        <div key={name} class={`total shrink total-${name}`}>
          <dt class="quiet tiny">{title}</dt>
          <dd>
            {value === undefined ? MISSING : <AccountingFigure value={value} format={cents} sign={sign} />}
            {value !== undefined && !sign && <span class="unit"> {books}</span>}
          </dd>
        </div>
      ))}
      <div class="total shrink total-dollar">
        <dt class="quiet tiny">{words.dollar(dayText)}</dt>
        <dd>
          {compra && venta ? (
            <>
              <span class="figure">
                {exact(compra)} <small>{sides.compra.toLowerCase()}</small>
              </span>
              {' · '}
              <span class="figure">
                {exact(venta)} <small>{sides.venta.toLowerCase()}</small>
              </span>
            </>
          ) : (
            MISSING
          )}
        </dd>
      </div>
    </dl>
  )
}

/** Positions, with panels that add, change and paste them. */
function PositionsCard(props: {
  currencies: readonly Currency[]
  bounds: DayBounds
  firstDay: string
  differences: Differences | undefined
  books: string
  day: string
  isBusy: boolean
  onFile: DownloadSource['table'] | undefined
}) {
  const { currencies, bounds, firstDay, differences, books, day, isBusy, onFile } = props
  const words = pageTexts(LISTS).differential
  const [panel, setPanel] = useState<OpenPanel>(undefined)
  const list = positions.value
  const close = () => setPanel(undefined)
  const edit = (position: Position | undefined) => setPanel({ kind: 'form', position })
  return (
    <section class="card positions" aria-labelledby="positions">
      <div class="card-head">
        <div>
          <h2 id="positions">{words.positions}</h2>
          <p class="hint">
            {list.length > 0 && `${words.count(formats.value.count(list.length), list.length === 1)} `}
            {words.positionsHint}
          </p>
        </div>
        <div class="buttons">
          <Button aria-expanded={panel?.kind === 'form'} onClick={() => edit(undefined)}>
            {icons.add}
            {words.add}
          </Button>
          <Button aria-expanded={panel?.kind === 'paste'} onClick={() => setPanel({ kind: 'paste' })}>
            {icons.copy}
            {words.paste}
          </Button>
          {list.length > 0 && <DownloadMenu table={onFile} name={`bccr-diferencial-${day}`} />}
        </div>
      </div>
      {panel?.kind === 'paste' && <PastePositions currencies={currencies} bounds={bounds} onClose={close} />}
      {panel?.kind === 'form' && (
        <PositionForm
          key={panel.position?.id ?? 0}
          position={panel.position}
          {...{ currencies, bounds, firstDay }}
          onClose={close}
        />
      )}
      {list.length === 0 ? (
        !panel && <p class="quiet list-none">{words.none}</p>
      ) : (
        <PositionsTable {...{ list, differences, books, day, isBusy }} onEdit={edit} />
      )}
      <PositionsFoot />
    </section>
  )
}

/** Storage of the positions. The guide has six lines with the article and version of each rule. */
function PositionsFoot() {
  const [isGuideOpen, setGuideOpen] = useState(false)
  const { foot, notStored, help, guide } = pageTexts(LISTS).differential
  const { closingRate, profit, practice, tax, realized, end } = guide
  return (
    <>
      <div class="spread rows-foot positions-foot">
        <p class="hint">{isStored.value ? foot : notStored}</p>
        <Button class="link small" aria-expanded={isGuideOpen} onClick={() => setGuideOpen(!isGuideOpen)}>
          {help}
        </Button>
      </div>
      {isGuideOpen && (
        <ul class="guide grid above-8 rounded sunk small" aria-label={help}>
          {[closingRate, profit, practice, tax, realized].map((line) => (
            <li key={line}>{line}</li>
          ))}
          <li>
            <strong>{end}</strong>
          </li>
        </ul>
      )}
    </>
  )
}

/** Fetches the code of the files when one is chosen. */
async function fileTable(...params: Parameters<typeof differentialTable>) {
  const file = await import('./differential-table.ts')
  return file.differentialTable(...params)
}
