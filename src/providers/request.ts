// One request at a time to a slow, sometimes sick service: keeps the pace, tries again where that can help, and
// turns everything that went wrong into a FetchFailure that names what was asked and shows no secret.

import { setTimeout as wait } from 'node:timers/promises'
import { type IsoDate, todayIn } from '../dates.ts'
import { excerptOf } from './json.ts'
import { FetchFailure, type ProviderSettings, type RequestTuning } from './provider.ts'

export type SourceRequest = {
  /** What a message calls it. */
  name: string
  url: string
  headers: Record<string, string>
  /** Texts that no message may show. */
  secrets: readonly string[]
  /** What the body of an error says; without it, the body as it is. */
  readError?: (body: string) => string
}

type Reader<T> = (body: string) => T | Promise<T>

export type Requester = {
  /**
   * What `read` makes of the body. What it throws gets the request's name and an excerpt of the body.
   * @throws RefusedFailure for 401, 403 and 404; FetchFailure for everything else that is not a good answer;
   * the signal's reason when the session was aborted
   */
  get<T>(request: SourceRequest, read: Reader<T>): Promise<T>
  /** Which day it is in the provider's zone by the clock of the source, as its last good answer said. */
  sourceDay(): IsoDate | undefined
}

/** The source does not let us in: asking again with the same credentials is pointless. */
export class RefusedFailure extends FetchFailure {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.name = 'RefusedFailure'
    this.status = status
  }
}

const BACKOFF_MS = [2000, 4000, 8000] // upstream 1: at most 3 retries
const LONGEST_WAIT_MS = 120_000
const TIMEOUT_MS = 60_000
const BODY_LIMIT = 8 * 1024 * 1024 // decompressed; the largest answer known is well below 1 MiB
const ERROR_BODY_LIMIT = 64 * 1024

type Outcome =
  | { body: string; date: string | null }
  // `again`: worth another try, after `waitMs` where the source said how long.
  | { failure: FetchFailure; again: boolean; waitMs: number | undefined }

export function createRequester(
  settings: Pick<ProviderSettings, 'paceMs' | 'userAgent'> & { timeZone: string },
  signal: AbortSignal,
  tuning: RequestTuning = {},
): Requester {
  const sleep = tuning.sleep ?? ((ms, stop) => wait(ms, undefined, { signal: stop }))
  let lastStart = Number.NEGATIVE_INFINITY
  // A source that exhausted one request's retries gets single attempts until it answers: a bank that is down
  // must not cost minutes for each thing that we wanted to ask.
  let down = false
  let day: IsoDate | undefined

  const pause = async (ms: number) => {
    if (ms > 0 && !signal.aborted) await sleep(ms, signal).catch(() => undefined)
    signal.throwIfAborted()
  }

  const attempt = async (request: SourceRequest): Promise<Outcome> => {
    await pause(lastStart + settings.paceMs - performance.now())
    lastStart = performance.now()
    return fetchOnce(request, settings.userAgent, signal, tuning)
  }

  return {
    async get(request, read) {
      for (let tried = 0; ; tried++) {
        const outcome = await attempt(request)
        if ('body' in outcome) {
          down = false
          day = dayOfHeader(outcome.date, settings.timeZone)
          return readBody(request, outcome.body, read)
        }
        if (!outcome.again) {
          down = false
          throw outcome.failure
        }
        const backoff = BACKOFF_MS[tried]
        if (down || backoff === undefined) {
          down = true
          throw outcome.failure
        }
        await pause(outcome.waitMs ?? backoff * (0.75 + Math.random() / 2))
      }
    },
    sourceDay: () => day,
  }
}

function dayOfHeader(date: string | null, timeZone: string): IsoDate | undefined {
  const instant = new Date(date ?? Number.NaN)
  return Number.isNaN(instant.getTime()) ? undefined : todayIn(() => instant, timeZone)
}

async function readBody<T>(request: SourceRequest, answered: string, read: Reader<T>): Promise<T> {
  const body = masked(answered, request) // what echoes a secret as a name would put it into a run's message
  try {
    return await read(body)
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    const message = `${request.name}: ${masked(error.message, request)}`
    throw new FetchFailure(withExcerpt(message, body, request))
  }
}

async function fetchOnce(
  request: SourceRequest,
  userAgent: string,
  signal: AbortSignal,
  tuning: RequestTuning,
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(tuning.timeoutMs ?? TIMEOUT_MS)
  let response: Response | undefined
  try {
    const { $fetch } = await import('ofetch') // not before the first request: a start need not wait for it
    response = await $fetch.raw(request.url, {
      headers: { ...request.headers, 'User-Agent': userAgent },
      redirect: 'manual',
      responseType: 'stream',
      ignoreResponseError: true,
      retry: false,
      signal: AbortSignal.any([signal, timeout]),
    })
    if (!response.ok) {
      const start = await readStart(response)
      signal.throwIfAborted()
      return failedStatus(request, response, start)
    }
    const date = response.headers.get('date')
    return { body: await readWhole(response, tuning.bodyLimit ?? BODY_LIMIT), date }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof FetchFailure) return given(request, error.message)
    const reason = timeout.aborted ? 'no complete answer in time' : networkReason(error)
    const message = response ? `the answer was cut short (${reason})` : `cannot be reached (${reason})`
    const failure = new FetchFailure(`${request.name}: ${masked(message, request)}`)
    return { failure, again: true, waitMs: undefined }
  }
}

function failedStatus(request: SourceRequest, response: Response, body: string): Outcome {
  const { status } = response
  const said = `${request.name}: HTTP ${status}`
  if (status >= 300 && status < 400) {
    const place = masked(excerptOf(response.headers.get('location') ?? ''), request)
    return given(request, `HTTP ${status}, a redirect to "${place}", which is never followed`)
  }
  const message = withExcerpt(said, request.readError?.(body) ?? body, request)
  if (status === 401 || status === 403 || status === 404) {
    return { failure: new RefusedFailure(message, status), again: false, waitMs: undefined }
  }
  if (status !== 429 && status < 500) {
    return { failure: new FetchFailure(message), again: false, waitMs: undefined }
  }
  const waitMs = retryAfter(response.headers)
  if (waitMs !== undefined && waitMs > LONGEST_WAIT_MS) {
    return given(
      request,
      `HTTP ${status}, and it asks to wait ${Math.ceil(waitMs / 1000)} s, longer than a run waits`,
    )
  }
  return { failure: new FetchFailure(message), again: true, waitMs }
}

function given(request: SourceRequest, message: string): Outcome {
  return { failure: new FetchFailure(`${request.name}: ${message}`), again: false, waitMs: undefined }
}

/** Milliseconds of a Retry-After in seconds or as a date; a date is read against the answer's own clock. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const until = Date.parse(text)
  // The engine takes almost anything for a date, such as "-5".
  if (Number.isNaN(until) || !text.endsWith(' GMT')) return undefined
  const sent = Date.parse(headers.get('date') ?? '')
  return Math.max(0, until - (Number.isNaN(sent) ? Date.now() : sent))
}

async function readWhole(response: Response, limit: number): Promise<string> {
  let text = ''
  let size = 0
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > limit) throw new FetchFailure(`the answer is larger than ${limit} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** As much of an error's body as arrives and fits: whatever else goes wrong, its status is the news. */
async function readStart(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > ERROR_BODY_LIMIT) break
    }
  } catch {
    // The status says enough.
  }
  return text
}

function withExcerpt(message: string, body: string, request: SourceRequest): string {
  const excerpt = excerptOf(masked(body, request))
  return excerpt === '' ? message : `${message}: ${excerpt}`
}

function masked(text: string, { secrets }: SourceRequest): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text)
}

/** The innermost cause says it best: `ECONNREFUSED` under `fetch failed`. */
function networkReason(error: unknown): string {
  let innermost = error
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause
  if (!(innermost instanceof Error)) return String(innermost)
  return 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : innermost.message
}
