// Uploads one file. Base64 is encoded in pieces, which the browser may store on disk: memory never contains a large
// file twice. XMLHttpRequest reports upload progress; fetch does not.

import { uploadType } from '../../values/upload-types.ts'
import { createFailure, errorDetail, type Failure, PAGE_HEADER } from './request.ts'
import { readPageSecret } from './session.ts'

export type UploadTarget = { company: number; agent: number; owner: number }
export type Phase = 'reading' | 'sending' | 'saving'
/** `key`: idempotency key, the same for all attempts of a file, which is stored once. */
export type Transfer = {
  key: string
  progress: (phase: Phase, share: number) => void
  signal: AbortSignal
}

const PIECE_BYTES = 3 * 1024 * 1024 // a multiple of three: only the last piece is padded

/** Outcome without a document. `unreadable`: the file was changed or removed after the choice. */
export type UploadFailure = Failure | 'unreadable'
export type UploadResult = { id: number; failure?: undefined } | { id?: undefined; failure: UploadFailure }

/** Sends one file. `id`: the new document. */
export async function uploadFile(
  file: File,
  target: UploadTarget,
  transfer: Transfer,
): Promise<UploadResult> {
  const { signal } = transfer
  const body = await encodeBody(file, target, transfer).catch(() => undefined) // the answer has the reason
  if (body) return postBody(body, transfer)
  return { failure: signal.aborted ? createFailure(0, '', signal) : 'unreadable' }
}

async function encodeBody(file: File, target: UploadTarget, { progress, signal }: Transfer): Promise<Blob> {
  const { company, agent, owner } = target
  const ids = `"company_id":${company},"agent_id":${agent},"owner_id":${owner}`
  const metadata = `"name":${JSON.stringify(file.name)},"mimetype":${JSON.stringify(uploadType(file.name, file.type))}`
  const parts: Blob[] = [new Blob([`{${ids},"documents":[{${metadata},"base64":"`])]
  for (let offset = 0; offset < file.size; offset += PIECE_BYTES) {
    signal.throwIfAborted()
    progress('reading', offset / file.size)
    parts.push(new Blob([await encodeBase64(file.slice(offset, offset + PIECE_BYTES))]))
  }
  return new Blob([...parts, '"}]}'], { type: 'application/json' })
}

function encodeBase64(piece: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => {
      const url = String(reader.result)
      resolve(url.slice(url.indexOf(',') + 1))
    }
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(piece)
  })
}

function postBody(body: Blob, { key, progress, signal }: Transfer): Promise<UploadResult> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    const settle = (result: UploadResult) => {
      signal.removeEventListener('abort', abort)
      resolve(result)
    }
    const fail = (status: number, detail: string) =>
      settle({ failure: createFailure(status, detail, signal) })
    const abort = () => request.abort()
    signal.addEventListener('abort', abort)
    request.upload.onprogress = ({ loaded, total }) => progress('sending', loaded / total)
    request.upload.onload = () => progress('saving', 1)
    request.onload = () => {
      const { status, responseText } = request
      const id = status === 200 ? createdId(responseText) : undefined
      if (id === undefined) fail(status === 200 ? 0 : status, errorDetail(responseText))
      else settle({ id })
    }
    request.onerror = () => fail(0, '')
    request.onabort = () => fail(0, '')
    request.open('POST', './api/v1/documents/create')
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('Idempotency-Key', key)
    const secret = readPageSecret()
    if (secret !== undefined) request.setRequestHeader(PAGE_HEADER, secret)
    request.send(body)
  })
}

/** Id of the document in the response; undefined: the response is not the API's. */
function createdId(body: string): number | undefined {
  try {
    const { created_documents } = JSON.parse(body) as { created_documents?: { id: number }[] }
    return created_documents?.[0]?.id
  } catch {
    return undefined // a proxy answers with HTML
  }
}
