// Queue of uploads, one at a time, and the states of the documents that they made.

import { useEffect, useRef, useState } from 'preact/hooks'
import { type Document, documentPath } from '../../api/documents.ts'
import { apiRequest, type Failure } from '../../api/request.ts'
import { type Phase, type UploadTarget, uploadFile } from '../../api/upload.ts'

export type FileUpload = {
  /** Idempotency key, the same for all attempts of a file. */
  key: string
  file: File
  target: UploadTarget
  state: 'waiting' | Phase | 'done' | 'empty' | Failure
  /** Progress of the state, from 0 to 1. */
  share: number
  /** Id of the document, once it was received. */
  id?: number
  document?: Document
}

export type UploadQueue = {
  uploads: readonly FileUpload[]
  add(files: readonly File[], target: UploadTarget): void
  retry(key: string): void
  remove(key: string): void
}

const MAX_FOLLOWED = 20

/** @param changed reads the documents without an outcome again when it changes */
export function useUploadQueue(changed: number | undefined): UploadQueue {
  const [uploads, setUploads] = useState<readonly FileUpload[]>([])
  const requests = useRef(new Map<string, AbortController>())
  const update = (key: string, change: Partial<FileUpload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)))
  const isBusy = uploads.some(({ state }) => state === 'reading' || state === 'sending' || state === 'saving')
  const next = isBusy ? undefined : uploads.find(({ state }) => state === 'waiting')
  useEffect(() => {
    if (!next) return
    const { key, file, target } = next
    const request = new AbortController()
    requests.current.set(key, request)
    update(key, { state: 'reading', share: 0 })
    const progress = (state: Phase, share: number) => update(key, { state, share })
    void uploadFile(file, target, { key, progress, signal: request.signal }).then(({ id, failure }) => {
      requests.current.delete(key)
      update(key, failure ? { state: failure } : { state: 'done', share: 1, id })
    })
  }, [next?.key, next?.state])
  useEffect(() => {
    const open = uploads.filter(({ id, document }) => id !== undefined && !hasOutcome(document))
    for (const { key, id = 0 } of open.slice(0, MAX_FOLLOWED)) {
      void apiRequest<Document>(documentPath(id)).then(
        ({ value }) => value && update(key, { document: value }),
      )
    }
  }, [changed])
  useEffect(
    () => () => {
      for (const request of requests.current.values()) request.abort() // the user leaves the screen
    },
    [],
  )
  return {
    uploads,
    add(files, target) {
      const added = files.map((file): FileUpload => {
        const state = file.size === 0 ? 'empty' : 'waiting'
        return { key: crypto.randomUUID(), file, target, state, share: 0 }
      })
      setUploads((all) => [...added, ...all])
    },
    retry: (key) => update(key, { state: 'waiting', share: 0 }),
    remove(key) {
      requests.current.get(key)?.abort()
      setUploads((all) => all.filter((one) => one.key !== key))
    },
  }
}

function hasOutcome(document: Document | undefined): boolean {
  return document?.state === 'done' || document?.state === 'failed'
}
