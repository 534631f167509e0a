import type { SyncRun } from '../api/responses.ts'
import { DownloadMenu } from '../components/download-menu.tsx'
import { formats } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { inLanguage } from '../i18n/table.ts'
import type { Language } from '../model/formats.ts'
import type { Download } from '../model/table.ts'
import { statusTexts } from './texts.ts'

const PILL_CLASSES = { ok: 'good', parcial: 'warn', error: 'bad', running: 'waiting' } as const

export function SyncRuns({ runs }: { runs: readonly SyncRun[] }) {
  const words = statusTexts.value
  return (
    <section class="card runs" aria-labelledby="runs">
      <div class="card-head">
        <h2 id="runs">{words.runs}</h2>
        {runs.length > 0 && (
          <DownloadMenu table={(language) => runsTable(runs, language)} name={fileName(runs)} />
        )}
      </div>
      {runs.length === 0 ? (
        <p class="quiet">{words.noRuns}</p>
      ) : (
        <table class="data">
          <thead>
            <tr>
              <th scope="col">{words.run.state}</th>
              <th scope="col">{words.run.started}</th>
              <th scope="col">{words.run.trigger}</th>
              <th scope="col">{words.run.range}</th>
              <th scope="col" class="number">
                {words.run.inserted}
              </th>
              <th scope="col" class="number">
                {words.run.updated}
              </th>
              <th scope="col" class="number">
                {words.run.unchanged}
              </th>
            </tr>
          </thead>
          {runs.map((run) => (
            <Run key={run.id} run={run} />
          ))}
        </table>
      )}
    </section>
  )
}

function runsTable(runs: readonly SyncRun[], language: Language): Download {
  const { runs: title, runsSource, run: words, states, triggers } = inLanguage(STATUS, language)
  return {
    title,
    source: runsSource,
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
      states[runState(run)],
      run.started_at,
      run.finished_at ?? '',
      (triggers as Record<string, string>)[run.trigger] ?? run.trigger,
      run.date_from ?? '',
      run.date_to ?? '',
      ...[run.inserted, run.updated, run.unchanged].map(String),
      ...[run.status ?? '', run.trigger, run.message ?? ''],
    ]),
  }
}

function fileName(runs: readonly SyncRun[]): string {
  return `cambista-sync-${runs[0]?.started_at.slice(0, 10)}`
}

function runState({ finished_at, status }: SyncRun) {
  return finished_at === null ? 'running' : (status ?? 'error')
}

function Run({ run }: { run: SyncRun }) {
  const words = statusTexts.value
  const { day, count, instant } = formats.value
  const state = runState(run)
  return (
    <tbody>
      <tr>
        <td>
          <span class={`pill ${PILL_CLASSES[state]}`}>{words.states[state]}</span>
        </td>
        <td>
          {instant(run.started_at)}
          {run.finished_at !== null && (
            <small>{words.run.took(runDuration(run.started_at, run.finished_at))}</small>
          )}
        </td>
        <td>{(words.triggers as Record<string, string>)[run.trigger] ?? run.trigger}</td>
        <td>
          {run.date_from && run.date_to ? (
            <>
              {day(run.date_from)} <span aria-hidden="true">→</span> {day(run.date_to)}
            </>
          ) : (
            '—'
          )}
        </td>
        <Count name={words.run.inserted}>{count(run.inserted)}</Count>
        <Count name={words.run.updated}>{count(run.updated)}</Count>
        <Count name={words.run.unchanged}>{count(run.unchanged)}</Count>
      </tr>
      {run.message !== null && (
        <tr class="run-message">
          <td colSpan={7} lang="en">
            {run.message}
          </td>
        </tr>
      )}
    </tbody>
  )
}

/** Figure of a run. Phones hide the table head, so it carries its own name. */
function Count({ name, children }: { name: string; children: string }) {
  return (
    <td class="number">
      <span class="cell-name" aria-hidden="true">
        {name}
      </span>
      {children}
    </td>
  )
}

function runDuration(from: string, to: string): string {
  const seconds = Math.round((Date.parse(to) - Date.parse(from)) / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
