// Values that the central bank corrected, by the run that read them.

import { useEffect, useState } from 'preact/hooks'
import { apiRequest } from '../api/request.ts'
import type { Correction, SyncRun } from '../api/responses.ts'

type RevisionPage = { revisions: readonly Correction[]; next_after: number; has_more: boolean }
type Corrections = ReadonlyMap<number, readonly Correction[]>

const PAGE_SIZE = 200 // the most that the API has in a page
const MAX_PAGES = 25

/** Loads the corrections of the days of these runs. Without a changed value there is no request. */
export function useCorrections(runs: readonly SyncRun[]): Corrections {
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
