// Sends one file. Its base64 is made in pieces, which the browser may keep on disk, so that a large file does not have to
// fit into memory twice. fetch tells no progress of what is sent; XMLHttpRequest does.

import { typeOf } from '../words/contents.ts'
import { detailIn, type Failure, failureOf, PAGE_HEADER } from './ask.ts'
import { pageHalf } from './session.ts'

export type Target = { company: number; agent: number; owner: number }
export type Phase = 'reading' | 'sending' | 'saving'
export type Progress = (phase: Phase, share: number) => void

const PIECE_BYTES = 3 * 1024 * 1024 // a multiple of three: only the last piece is padded

/**
 * @param key the same for each try of one file: what was kept already is not kept twice
 * @returns why it was not kept
 */
export async function sendFile(
  file: File,
  target: Target,
  { key, progress, signal }: { key: string; progress: Progress; signal: AbortSignal },
): Promise<Failure | undefined> {
  try {
    const body = await bodyOf(file, target, progress, signal)
    return await send(body, key, progress, signal)
  } catch {
    return failureOf(0, '', signal)
  }
}

async function bodyOf(file: File, target: Target, progress: Progress, signal: AbortSignal): Promise<Blob> {
  const { company, agent, owner } = target
  const ids = `"company_id":${company},"agent_id":${agent},"owner_id":${owner}`
  const names = `"name":${JSON.stringify(file.name)},"mimetype":${JSON.stringify(typeOf(file.name, file.type))}`
  const parts: Blob[] = [new Blob([`{${ids},"documents":[{${names},"base64":"`])]
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    signal.throwIfAborted()
    progress('reading', at / file.size)
    parts.push(new Blob([await base64Of(file.slice(at, at + PIECE_BYTES))]))
  }
  return new Blob([...parts, '"}]}'], { type: 'application/json' })
}

function base64Of(piece: Blob): Promise<string> {
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

function send(
  body: Blob,
  key: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    const end = (failure: Failure | undefined) => {
      signal.removeEventListener('abort', stop)
      resolve(failure)
    }
    const stop = () => request.abort()
    signal.addEventListener('abort', stop)
    request.upload.onprogress = ({ loaded, total }) => progress('sending', loaded / total)
    request.upload.onload = () => progress('saving', 1)
    request.onload = () => {
      const { status } = request
      end(status === 200 ? undefined : failureOf(status, detailIn(request.responseText)))
    }
    request.onerror = () => end(failureOf(0, '', signal))
    request.onabort = () => end(failureOf(0, '', signal))
    request.open('POST', '/api/v1/documents/create')
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('Idempotency-Key', key)
    const half = pageHalf()
    if (half !== undefined) request.setRequestHeader(PAGE_HEADER, half)
    request.send(body)
  })
}
