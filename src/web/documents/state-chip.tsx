// State of a document by an icon and a word, and the sentence about it in a row.

import { serverTime } from '../api/clock.ts'
import type { Document } from '../api/documents.ts'
import { icons, lineIcon } from '../components/icons.tsx'
import { pageTexts } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { abandonedAttempts, hasExpiredLease, LONG_WAIT_MINUTES } from '../model/documents/document-queue.ts'
import { visibleText } from '../model/visible.ts'
import { ageSeconds, elapsedText } from './times.ts'

const STATE_ICONS = {
  new: lineIcon(<circle class="dot" cx="12" cy="12" r="5" />),
  claimed: lineIcon(
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7v5l3 2" />
    </>,
  ),
  done: icons.done,
  failed: icons.warning,
}

export function StateChip({ state }: Pick<Document, 'state'>) {
  return (
    <span class={`chip ${state}`}>
      {STATE_ICONS[state]}
      {pageTexts(DOCUMENTS).states[state]}
    </span>
  )
}

/** Note of the worker, or what a document without an end waits for; empty: nothing. */
export function noteText(document: Document): string {
  const words = pageTexts(DOCUMENTS).documents
  const { state, note, attempts, created_at, lease_until = '' } = document
  if (state === 'done' || state === 'failed') {
    const count = abandonedAttempts(note)
    return count === undefined ? visibleText(note ?? '') : words.abandoned(count)
  }
  if (state === 'claimed') {
    if (hasExpiredLease(document, serverTime()))
      return words.noNews(elapsedText(ageSeconds(lease_until), 'short'))
    return attempts > 1 ? words.attempt(attempts) : ''
  }
  const seconds = ageSeconds(created_at)
  if (seconds <= LONG_WAIT_MINUTES * 60) return ''
  const duration = elapsedText(seconds, 'long')
  return attempts === 0 ? words.untaken(duration) : words.waitingFor(duration)
}
