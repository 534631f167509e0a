import type { SyncRun } from '../api/responses.ts'
import { formats } from '../components/view.ts'
import { statusTexts } from './texts.ts'

const PILL_CLASSES = { ok: 'good', parcial: 'warn', error: 'bad', running: 'waiting' } as const

export function SyncRuns({ runs }: { runs: readonly SyncRun[] }) {
  const words = statusTexts.value
  return (
    <section class="card runs" aria-labelledby="runs">
      <div class="card-head">
        <h2 id="runs">{words.runs}</h2>
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

function Run({ run }: { run: SyncRun }) {
  const words = statusTexts.value
  const { day, count, instant } = formats.value
  const state = run.finished_at === null ? 'running' : (run.status ?? 'error')
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
