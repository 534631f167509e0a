// MCP over stdin and stdout: a message a line, and nothing else on stdout. Answers come in the order of completion. A
// cancelled request gets no answer.

import type { Readable } from 'node:stream'
import {
  CODES,
  errorMessage,
  type Id,
  parseMessage,
  type Request,
  toMessage,
} from '../../../http/mcp/protocol/messages.ts'
import { parseErrorOutcome } from '../../../http/mcp/protocol/server.ts'
import { createSemaphore } from '../../../runtime/semaphore.ts'
import { isJsonObject } from '../../../values/json-object.ts'
import { createIdReader } from './message-id.ts'

export type RequestLine = {
  /** The line itself. */
  text: string
  value: unknown
  request: Request
  /** Aborts when the client cancels the request, or the process must stop. */
  signal: AbortSignal
}

/** Returns the answer to a request. */
export type LineHandler = (line: RequestLine) => Promise<object | undefined>

export type Streams = { input: Readable; out(text: string): void; stop: AbortSignal }

const LONGEST_LINE = 64 * 1024
const MAX_RUNNING = 32
const LAST_ANSWERS_MS = 2000 // about the time that clients allow after they close stdin
const NEW_LINE = 0x0a
const TOO_LONG = `A message must be at most ${LONGEST_LINE} bytes`

/** Answers until stdin ends, or the process must stop. */
export async function serveLines({ input, out, stop }: Streams, answer: LineHandler): Promise<void> {
  const running = new Map<Id, AbortController>()
  const semaphore = createSemaphore(MAX_RUNNING)
  const all = new Set<Promise<void>>()
  const last = new AbortController()
  const anyStop = AbortSignal.any([stop, last.signal])
  const send = (message: object | undefined) => message && out(`${JSON.stringify(message)}\n`)

  const serve = async (text: string) => {
    const value = parseLine(text)
    if (value === undefined) return send(parseErrorOutcome().answer)
    if (isJsonObject(value) && value.method === 'notifications/cancelled' && isJsonObject(value.params)) {
      return running.get(value.params.requestId as Id)?.abort()
    }
    const message = toMessage(value)
    if (message.kind === 'error') return send(errorMessage(message.id, message.error))
    if (message.kind === 'ignored') return // no other notification matters to a server without state
    const { request } = message
    const cancel = new AbortController()
    running.set(request.id, cancel)
    try {
      const signal = AbortSignal.any([cancel.signal, anyStop])
      const reply = await answer({ text, value, request, signal })
      if (!cancel.signal.aborted && !stop.aborted) send(reply)
    } finally {
      if (running.get(request.id) === cancel) running.delete(request.id)
    }
  }

  const abandon = () => input.destroy()
  stop.addEventListener('abort', abandon, { once: true })
  try {
    for await (const text of readLines(input)) {
      if (typeof text !== 'string') {
        send(errorMessage(text.id, { code: CODES.parse, message: TOO_LONG }))
        continue
      }
      const permit = await semaphore.acquire()
      const work = serve(text).finally(() => {
        permit[Symbol.dispose]()
        all.delete(work)
      })
      all.add(work)
    }
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    stop.removeEventListener('abort', abandon)
  }
  const timer = setTimeout(() => last.abort(), LAST_ANSWERS_MS)
  await Promise.all(all)
  clearTimeout(timer)
}

/** Returns undefined for invalid JSON. */
function parseLine(text: string): unknown {
  try {
    return parseMessage(text)
  } catch {
    return undefined
  }
}

/** Yields the lines that are not empty. A line over the limit yields only the id of its message. */
async function* readLines(input: Readable): AsyncGenerator<string | { id: Id | null }> {
  const pieces: Buffer[] = []
  let bytes = 0
  let overlong: ReturnType<typeof createIdReader> | undefined
  const takeLine = () => {
    const line = overlong ? { id: overlong.id() } : Buffer.concat(pieces).toString().trim()
    pieces.length = 0
    bytes = 0
    overlong = undefined
    return line
  }
  const add = (piece: Buffer) => {
    bytes += piece.length
    if (overlong) return overlong.push(piece)
    pieces.push(piece)
    if (bytes <= LONGEST_LINE) return
    overlong = createIdReader()
    for (const one of pieces) overlong.push(one)
    pieces.length = 0
  }
  for await (const data of input) {
    const chunk = Buffer.from(data)
    let from = 0
    for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, from)) {
      add(chunk.subarray(from, at))
      from = at + 1
      const line = takeLine()
      if (line !== '') yield line
    }
    add(chunk.subarray(from))
  }
  const line = takeLine()
  if (line !== '') yield line
}
