// Table of the last syncs for their files.

import type { SyncRun } from '../api/responses.ts'
import { STATUS } from '../i18n/status.ts'
import { inLanguage } from '../i18n/table-texts.ts'
import type { Download } from '../model/files/table.ts'
import type { Language } from '../model/formats.ts'

export function runsTable(runs: readonly SyncRun[], language: Language): Download {
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

export function runState({ finished_at, status }: SyncRun) {
  return finished_at === null ? 'running' : (status ?? 'error')
}
