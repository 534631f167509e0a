import type { ComponentChildren } from 'preact'
import type { Correction, SyncRun } from '../api/responses.ts'
import { DownloadMenu } from '../components/output/download-menu.tsx'
import { formats, language, pageTexts, texts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { useCorrections } from './corrections.ts'
import { failureProblems } from './problems.ts'
import { runState, runsTable } from './runs-table.ts'
import { ServerText } from './server-text.tsx'

const PILL_CLASSES = { ok: 'good', parcial: 'warn', error: 'bad', running: 'waiting' } as const
const MAX_CORRECTIONS = 3

export function SyncRuns({ runs }: { runs: readonly SyncRun[] }) {
  const words = pageTexts(STATUS).runs
  const corrections = useCorrections(runs)
  return (
    <section class="card runs" aria-labelledby="runs">
      <div class="card-head">
        <h2 id="runs">{words.title}</h2>
        {runs.length > 0 && (
          <DownloadMenu
            table={(language) => runsTable(runs, language)}
            name={`cambista-sync-${runs[0]?.started_at.slice(0, 10)}`}
          />
        )}
      </div>
      {runs.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <table class="data" aria-labelledby="runs">
          <thead>
            <tr>
              {[words.state, words.started, words.trigger, words.days].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              {[words.inserted, words.updated, words.unchanged].map((title) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          {runs.map((run) => (
            <Run key={run.id} run={run} corrections={corrections.get(run.id) ?? []} />
          ))}
        </table>
      )}
    </section>
  )
}

function Run({ run, corrections }: { run: SyncRun; corrections: readonly Correction[] }) {
  const words = pageTexts(STATUS).runs
  const { day, count, instant } = formats.value
  const state = runState(run)
  const { inserted, updated, unchanged, started_at, finished_at, date_from, date_to } = run
  return (
    <tbody>
      <tr>
        <td>
          <span class={`pill ${PILL_CLASSES[state]}`}>{words.states[state]}</span>
        </td>
        <Cell name={words.started}>
          {instant(started_at)}
          {finished_at !== null && <small>{words.took(duration(started_at, finished_at))}</small>}
        </Cell>
        <Cell name={words.trigger}>
          {(words.triggers as Record<string, string>)[run.trigger] ?? run.trigger}
        </Cell>
        <Cell name={words.days}>
          {date_from && date_to ? words.range(day(date_from), day(date_to)) : '—'}
        </Cell>
        <Cell name={words.inserted} isNumber>
          {count(inserted)}
        </Cell>
        <Cell name={words.updated} isNumber>
          {count(updated)}
        </Cell>
        <Cell name={words.unchanged} isNumber>
          {count(unchanged)}
        </Cell>
      </tr>
      <RunNotes run={run} corrections={corrections} />
    </tbody>
  )
}

/** Failures in words, and the values that the bank corrected. */
function RunNotes({ run, corrections }: { run: SyncRun; corrections: readonly Correction[] }) {
  const words = pageTexts(STATUS)
  const list = (items: readonly string[]) => new Intl.ListFormat(language.value).format(items)
  const { failures, message, status } = run
  const isWordless = failures === undefined && message !== null && status !== 'ok'
  const problems = isWordless
    ? { sentences: [`${words.otherCause}.`], isIncomplete: true }
    : failureProblems(failures ?? [], { words, list, formatCount: formats.value.count })
  if (problems.sentences.length === 0 && corrections.length === 0) return null
  return (
    <tr class="run-message">
      <td />
      <td colSpan={6}>
        {problems.sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {problems.isIncomplete && message !== null && <ServerText text={message} />}
        {corrections.length > 0 && <p>{correctionText(corrections)}</p>}
      </td>
    </tr>
  )
}

function correctionText(corrections: readonly Correction[]): string {
  const { runs } = pageTexts(STATUS)
  const { day } = formats.value
  const { sides } = texts.value
  const values = corrections.slice(0, MAX_CORRECTIONS).map(({ pair, rate_type, rate_date }) => {
    const name = rate_type === 'referencia' ? pair : `${pair} ${sides[rate_type].toLowerCase()}`
    return runs.value(name, day(rate_date))
  })
  const others = corrections.length - values.length
  const rest = others > 0 ? ` ${runs.more(others)}` : ''
  return runs.corrected(corrections.length, values.join(', ') + rest)
}

/** Cell with its name, which phones show beside it. */
function Cell(props: { name: string; isNumber?: boolean; children: ComponentChildren }) {
  const { name, isNumber = false, children } = props
  return (
    <td class={isNumber ? 'number' : undefined}>
      <span class="cell-name" aria-hidden="true">
        {name}
      </span>
      <span>{children}</span>
    </td>
  )
}

/** Length of a run in seconds, or from 90 seconds on in minutes. */
function duration(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
  const [amount, unit] = seconds < 90 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute']
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' }).format(amount)
}
