// Queue of uploads of this tab, one at a time, and the states of the documents that they made. Sending continues behind
// other screens. Sign-out clears the queue, and so does a session of another person or token.

import { effect, signal } from '@preact/signals'
import { type Document, documentPath } from '../../api/documents.ts'
import { apiRequest } from '../../api/request.ts'
import { session, signOuts } from '../../api/session.ts'
import { type Phase, type UploadFailure, type UploadTarget, uploadFile } from '../../api/upload.ts'

export type FileUpload = {
  /** Idempotency key, the same for all attempts of a file. */
  key: string
  file: File
  target: UploadTarget
  state: 'waiting' | Phase | 'done' | 'empty' | UploadFailure
  /** Progress of the state, from 0 to 1. */
  share: number
  /** Id of the document, once it was received. */
  id?: number
  document?: Document
}

const MAX_FOLLOWED = 20

export const uploads = signal<readonly FileUpload[]>([])
const requests = new Map<string, AbortController>()
let sender: string | undefined

export function addUploads(files: readonly File[], target: UploadTarget): void {
  const added = files.map((file): FileUpload => {
    const state = file.size === 0 ? 'empty' : 'waiting'
    return { key: crypto.randomUUID(), file, target, state, share: 0 }
  })
  uploads.value = [...added, ...uploads.value]
  startNext()
}

export function retryUpload(key: string): void {
  update(key, { state: 'waiting', share: 0 })
  startNext()
}

/** Stops an upload, and removes it from the list. */
export function removeUpload(key: string): void {
  uploads.value = uploads.value.filter((one) => one.key !== key)
  requests.get(key)?.abort() // its end starts the next one
}

/** Returns true if the file is not yet sent, and no failure ended the attempt. */
export function isUnderWay({ state }: FileUpload): boolean {
  return state === 'waiting' || isRunning(state)
}

/** Reads the documents without an outcome again. */
export function readOutcomes(): void {
  for (const { key, id = 0 } of uploads.value.filter(isFollowed).slice(0, MAX_FOLLOWED)) {
    void apiRequest<Document>(documentPath(id)).then(({ value }) => value && update(key, { document: value }))
  }
}

/** Returns true if the file became a document, whose outcome is not known. */
export function isFollowed({ id, document }: FileUpload): boolean {
  return id !== undefined && document?.state !== 'done' && document?.state !== 'failed'
}

function isRunning(state: FileUpload['state']): boolean {
  return state === 'reading' || state === 'sending' || state === 'saving'
}

function startNext(): void {
  const all = uploads.value
  const next = all.find(({ state }) => state === 'waiting')
  if (!next || all.some(({ state }) => isRunning(state))) return
  const { key, file, target } = next
  const request = new AbortController()
  requests.set(key, request)
  const progress = (state: Phase, share: number) => update(key, { state, share })
  progress('reading', 0)
  void uploadFile(file, target, { key, progress, signal: request.signal }).then(({ id, failure }) => {
    requests.delete(key)
    update(key, failure ? { state: failure } : { state: 'done', share: 1, id })
    startNext()
  })
}

function update(key: string, change: Partial<FileUpload>): void {
  uploads.value = uploads.value.map((one) => (one.key === key ? { ...one, ...change } : one))
}

function clear(): void {
  uploads.value = []
  for (const request of requests.values()) request.abort()
}

effect(() => {
  if (signOuts.value > 0) clear()
})

effect(() => {
  const current = session.value
  if (current.state !== 'in') return
  const next = JSON.stringify([current.person, current.token?.name])
  if (sender !== undefined && next !== sender) clear()
  sender = next
})

effect(() => {
  if (uploads.value.some(isUnderWay)) addEventListener('beforeunload', preventUnload)
  else removeEventListener('beforeunload', preventUnload)
})

/** Makes the browser warn before it closes the page. */
function preventUnload(event: Event): void {
  event.preventDefault()
}
