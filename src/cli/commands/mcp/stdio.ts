// MCP over stdin and stdout: a message a line, nothing else on stdout. Requests are answered as they are done; one that is
// cancelled is not answered at all.

import type { Readable } from 'node:stream'
import {
  CODES,
  errorMessage,
  type Id,
  isRecord,
  messageOf,
  parseMessage,
  type Request,
} from '../../../http/mcp/protocol/messages.ts'
import { unreadable } from '../../../http/mcp/protocol/server.ts'
import { createSemaphore } from '../../../semaphore.ts'
import { createIdReader } from './message-id.ts'

export type Line = {
  /** As it was sent. */
  text: string
  value: unknown
  request: Request
  /** Ends when the client cancels the request, or the process is asked to stop. */
  signal: AbortSignal
}

/** What a request is answered with. */
export type Answering = (line: Line) => Promise<object | undefined>

export type Streams = { input: Readable; out(text: string): void; stop: AbortSignal }

const LONGEST_LINE = 64 * 1024
const AT_ONCE = 32
const LAST_ANSWERS_MS = 2000 // a client that closes stdin gives a server about as long to end
const NEW_LINE = 0x0a
const TOO_LONG = `A message must be at most ${LONGEST_LINE} bytes`

/** Answers until stdin ends, or the process is asked to stop. */
export async function serveLines({ input, out, stop }: Streams, answer: Answering): Promise<void> {
  const running = new Map<Id, AbortController>()
  const semaphore = createSemaphore(AT_ONCE)
  const all = new Set<Promise<void>>()
  const last = new AbortController()
  const ended = AbortSignal.any([stop, last.signal])
  const say = (message: object | undefined) => message && out(`${JSON.stringify(message)}\n`)

  const serve = async (text: string) => {
    const value = jsonOf(text)
    if (value === undefined) return say(unreadable().answer)
    if (isRecord(value) && value.method === 'notifications/cancelled' && isRecord(value.params)) {
      return running.get(value.params.requestId as Id)?.abort()
    }
    const message = messageOf(value)
    if (message.kind === 'fault') return say(errorMessage(message.id, message.fault))
    if (message.kind === 'silent') return // nothing is kept that another notification could be about
    const { request } = message
    const cancel = new AbortController()
    running.set(request.id, cancel)
    try {
      const signal = AbortSignal.any([cancel.signal, ended])
      const answered = await answer({ text, value, request, signal })
      if (!cancel.signal.aborted && !stop.aborted) say(answered)
    } finally {
      if (running.get(request.id) === cancel) running.delete(request.id)
    }
  }

  const abandon = () => input.destroy()
  stop.addEventListener('abort', abandon, { once: true })
  try {
    for await (const text of linesOf(input)) {
      if (typeof text !== 'string') {
        say(errorMessage(text.id, { code: CODES.parse, message: TOO_LONG }))
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

/** Undefined: it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return parseMessage(text)
  } catch {
    return undefined
  }
}

/** The lines that are not empty; of a line over the limit only the id of its message. */
async function* linesOf(input: Readable): AsyncGenerator<string | { id: Id | null }> {
  const pieces: Buffer[] = []
  let bytes = 0
  let overlong: ReturnType<typeof createIdReader> | undefined
  const lineOf = () => {
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
  for await (const sent of input) {
    const chunk = Buffer.from(sent)
    let from = 0
    for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, from)) {
      add(chunk.subarray(from, at))
      from = at + 1
      const line = lineOf()
      if (line !== '') yield line
    }
    add(chunk.subarray(from))
  }
  const line = lineOf()
  if (line !== '') yield line
}
