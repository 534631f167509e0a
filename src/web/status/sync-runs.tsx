import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { apiRequest } from '../api/request.ts'
import type { Correction, SyncRun } from '../api/responses.ts'
import { DownloadMenu } from '../components/output/download-menu.tsx'
import { formats, language, pageTexts, texts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { inLanguage } from '../i18n/table-texts.ts'
import type { Download } from '../model/files/table.ts'
import type { Language } from '../model/formats.ts'
import { failureProblems } from './problems.ts'
import { ServerText } from './server-text.tsx'

const PILL_CLASSES = { ok: 'good', parcial: 'warn', error: 'bad', running: 'waiting' } as const
const COUNTS = ['inserted', 'updated', 'unchanged'] as const
const MAX_CORRECTIONS = 3

type RevisionPage = { revisions: readonly Correction[]; next_after: number; has_more: boolean }
type Corrections = ReadonlyMap<number, readonly Correction[]>

const PAGE_SIZE = 200 // the most that the API has in a page
const MAX_PAGES = 25

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
        <table class="data above-10" aria-labelledby="runs">
          <thead>
            <tr>
              {[words.state, words.started, words.trigger, words.days].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              {COUNTS.map((name) => (
                <th key={name} scope="col" class="number">
                  {words[name]}
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
  const { started_at, finished_at, date_from, date_to } = run
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
        {COUNTS.map((name) => (
          <Cell key={name} name={words[name]} isNumber>
            {count(run[name])}
          </Cell>
        ))}
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

/** Loads the corrections of the days of these runs. Without a changed value there is no request. */
function useCorrections(runs: readonly SyncRun[]): Corrections {
  const [corrections, setCorrections] = useState<Corrections>(new Map())
  const changes = runs.filter(({ updated }) => updated > 0)
  const ids = changes.map(({ id }) => id).join(' ')
  useEffect(() => {
    if (ids === '') return
    const request = new AbortController()
    const [first = ''] = changes.flatMap(({ date_from }) => date_from ?? []).toSorted()
    void loadRevisions(first, request.signal).then((revisions) => {
      if (!request.signal.aborted) setCorrections(Map.groupBy(revisions, ({ run_id }) => run_id ?? 0))
    })
    return () => request.abort()
  }, [ids])
  return corrections
}

/** Loads revisions from a day on, page by page. A failure ends the list. */
async function loadRevisions(from: string, signal: AbortSignal): Promise<Correction[]> {
  const revisions: Correction[] = []
  const range = from === '' ? '' : `&from=${from}`
  let after = 0
  for (let count = 0; count < MAX_PAGES; count++) {
    const path = `/api/v1/revisions?limit=${PAGE_SIZE}&after=${after}${range}`
    const { value } = await apiRequest<RevisionPage>(path, { signal })
    revisions.push(...(value?.revisions ?? []))
    if (!value?.has_more) break
    after = value.next_after
  }
  return revisions
}

function runsTable(runs: readonly SyncRun[], language: Language): Download {
  const words = inLanguage(STATUS, language).runs
  return {
    title: words.title,
    source: words.source,
    columns: [
      { title: words.state, kind: 'text', only: 'people' },
      { title: words.started, name: 'started_at', kind: 'instant' },
      { title: words.finished, name: 'finished_at', kind: 'instant' },
      { title: words.trigger, kind: 'text', only: 'people' },
      { title: words.from, name: 'date_from', kind: 'day' },
      { title: words.to, name: 'date_to', kind: 'day' },
      { title: words.inserted, name: 'inserted', kind: 'count' },
      { title: words.updated, name: 'updated', kind: 'count' },
      { title: words.unchanged, name: 'unchanged', kind: 'count' },
      ...(['status', 'trigger', 'message'] as const).map((title) => ({
        ...{ title, kind: 'text' as const, only: 'programs' as const },
      })),
    ],
    rows: runs.map((run) => [
      words.states[runState(run)],
      run.started_at,
      run.finished_at ?? '',
      (words.triggers as Record<string, string>)[run.trigger] ?? run.trigger,
      run.date_from ?? '',
      run.date_to ?? '',
      ...[run.inserted, run.updated, run.unchanged].map(String),
      ...[run.status ?? '', run.trigger, run.message ?? ''],
    ]),
  }
}

function runState({ finished_at, status }: SyncRun) {
  return finished_at === null ? 'running' : (status ?? 'error')
}
