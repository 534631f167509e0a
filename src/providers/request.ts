// Requests to a slow, sometimes failing service, one at a time. Limits their pace and retries where that can help.
// Failures become FetchFailures that name the request and contain no secret.

import { setTimeout as wait } from 'node:timers/promises'
import { networkReason } from '../runtime/errors.ts'
import { currentDay, type IsoDate } from '../values/dates.ts'
import { excerpt } from './json.ts'
import {
  type FailureFact,
  FetchFailure,
  type ProviderSettings,
  type RequestTuning,
  UnsynchronizedFailure,
  type Window,
} from './provider.ts'

export type SourceRequest = {
  /** Name in messages. */
  name: string
  url: string
  /** Default: GET. A POST of a provider only queries, so it is retried too. */
  method?: 'POST'
  /** Body of a POST. */
  body?: string
  headers: Record<string, string>
  /** The source has one address for all requests: advice follows HTTP 404, 413 and 414. */
  isFixed?: true
  /** Explanation that follows the reason when the host cannot be reached. */
  unreachableHint?: string
  /** Texts to mask in messages. */
  secrets: readonly string[]
  /** Returns the message in the body of an error; without it, messages quote the body. */
  readError?: (body: string) => string
  /** Returns the days of the request that the source has not synchronized, from the body of an error. */
  readUnsynchronized?: (status: number, body: string) => Window | undefined
}

type BodyReader<T> = (body: string, headers: Headers) => T | Promise<T>

export type Requester = {
  /**
   * Returns the result of `read` on the body. Errors of `read` get the name of the request and an excerpt of the body.
   * @throws RefusedFailure for 401, 403 and 404; UnsynchronizedFailure for days that the source does not have;
   * FetchFailure for every other invalid answer; the reason of the signal when the connection was aborted
   */
  get<T>(request: SourceRequest, read: BodyReader<T>): Promise<T>
  /** Current day in the time zone of the provider, from the Date of the last good answer. */
  sourceDay(): IsoDate | undefined
}

/** The source rejects the credentials: a retry with the same ones is pointless. */
export class RefusedFailure extends FetchFailure {}

const BACKOFF_MS = [2000, 4000, 8000] // upstream 1: at most 3 retries
const LONGEST_WAIT_MS = 120_000
const TIMEOUT_MS = 60_000
const BODY_LIMIT = 8 * 1024 * 1024 // decompressed; the largest answer known is well below 1 MiB
const ERROR_BODY_LIMIT = 64 * 1024
const MAX_AGE_S = 86_400 // an older answer would undo corrections, and lack days
const CUT_SHORT = 'the answer was cut short'
const INCOMPLETE_CHAIN = new Set(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])
const RETRY_STATUSES = [429, ...Array.from({ length: 100 }, (_, at) => 500 + at)]

/** Failure of an attempt; `waitMs`: delay that the source requested. */
type AttemptFailure = { failure: FetchFailure; canRetry: boolean; waitMs?: number | undefined }

export function createRequester(
  settings: Pick<ProviderSettings, 'paceMs' | 'userAgent'> & { timeZone: string },
  signal: AbortSignal,
  tuning: RequestTuning = {},
): Requester {
  const sleep = tuning.sleep ?? ((ms, stop) => wait(ms, undefined, { signal: stop }))
  let lastStart = Number.NEGATIVE_INFINITY
  // After a request exhausted its retries, further ones get a single attempt until the source answers. An unavailable
  // bank must not cost minutes for each request.
  let isDown = false
  let day: IsoDate | undefined

  const pause = async (ms: number) => {
    if (ms > 0 && !signal.aborted) await sleep(ms, signal).catch(() => undefined) // the next line throws
    signal.throwIfAborted()
  }

  return {
    async get(request, read) {
      const { createFetch } = await import('ofetch') // imported here for a faster start
      const $fetch = createFetch({ fetch: fetchWhole(tuning.bodyLimit ?? BODY_LIMIT) })
      let attempts = 0
      let lastFailure: AttemptFailure | undefined
      const fail = (options: { retry?: number | false | undefined }, why: AttemptFailure) => {
        lastFailure = why
        if (isDown || !why.canRetry) options.retry = false
      }
      const response = await $fetch
        .raw(request.url, {
          method: request.method ?? 'GET',
          body: request.body,
          headers: { ...request.headers, 'User-Agent': settings.userAgent },
          redirect: 'manual',
          responseType: 'text',
          retry: BACKOFF_MS.length,
          retryStatusCodes: RETRY_STATUSES,
          // ofetch counts the retries. Its own wait ignores the signal of a stopped run. After its own timeout each retry
          // would reuse the aborted signal, and send no request.
          async onRequest({ options }) {
            if (lastFailure)
              await pause(lastFailure.waitMs ?? (BACKOFF_MS[attempts - 1] ?? 0) * (0.75 + Math.random() / 2))
            await pause(lastStart + settings.paceMs - performance.now())
            lastStart = performance.now()
            attempts += 1
            options.signal = AbortSignal.any([signal, AbortSignal.timeout(tuning.timeoutMs ?? TIMEOUT_MS)])
          },
          onRequestError({ error, options }) {
            fail(options, connectionFailure(request, error))
          },
          onResponseError({ response, options }) {
            fail(options, statusFailure(request, response, settings.userAgent))
          },
        })
        .catch((error: unknown) => {
          signal.throwIfAborted()
          if (!lastFailure) throw error
          isDown = lastFailure.canRetry
          throw lastFailure.failure
        })
      isDown = false
      if (!response.ok) throw statusFailure(request, response, settings.userAgent).failure
      if (Number(response.headers.get('age')) > MAX_AGE_S)
        throw finalFailure(request, 'the answer is of over a day ago, from a cache (Age)').failure
      day = headerDay(response.headers.get('date'), settings.timeZone)
      return readResponse(request, response._data ?? '', response.headers, read)
    },
    sourceDay: () => day,
  }
}

function headerDay(date: string | null, timeZone: string): IsoDate | undefined {
  const instant = new Date(httpDate(date))
  return Number.isNaN(instant.getTime()) ? undefined : currentDay(() => instant, timeZone)
}

async function readResponse<T>(
  request: SourceRequest,
  text: string,
  headers: Headers,
  read: BodyReader<T>,
): Promise<T> {
  const body = maskSecrets(text, request) // an echoed secret could otherwise become a name in the message of a run
  try {
    return await read(body, headers)
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    const message = `${request.name}: ${maskSecrets(error.message, request)}`
    throw new FetchFailure(withExcerpt(message, body, request))
  }
}

/** Returns a fetch that resolves after the whole body, so that a truncated body is a failed attempt. */
function fetchWhole(limit: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { status, statusText, headers, ok } = response
    try {
      const body = ok ? await readWhole(response, limit) : await readStart(response)
      return new Response(body || null, { status, statusText, headers })
    } catch (error) {
      throw error instanceof FetchFailure ? error : new TypeError(CUT_SHORT, { cause: error })
    }
  }
}

function connectionFailure(request: SourceRequest, error: unknown): AttemptFailure {
  if (error instanceof FetchFailure) return finalFailure(request, error.message)
  const isCut = error instanceof Error && error.message === CUT_SHORT
  const certificate = certificateReason(error)
  const { hostname: host } = new URL(request.url)
  // A retry meets the same certificate.
  if (certificate !== undefined) return finalFailure(request, certificate, { code: 'tls', host })
  const isLate = isTimeout(error)
  const reason = isLate ? 'no complete answer in time' : networkReason(error)
  // The Fetch standard has a list of ports, such as 6000, that no client opens.
  if (reason === 'bad port') {
    return finalFailure(
      request,
      `${hostAndPort(request.url)} cannot be reached (bad port: it is reserved, no HTTP client opens it)`,
      { code: 'unreachable', host },
    )
  }
  const message = isCut
    ? `${CUT_SHORT} (${reason})`
    : `${hostAndPort(request.url)} cannot be reached (${reason})${request.unreachableHint ?? ''}`
  const code = isLate ? 'timeout' : isCut ? 'not_understood' : 'unreachable'
  const failure = new FetchFailure(`${request.name}: ${maskSecrets(message, request)}`, { code, host })
  return { failure, canRetry: true }
}

/** Returns the host with its port, also where the URL omits the port. */
function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/** Describes why the certificate of a source is rejected; undefined: another error. */
function certificateReason(error: unknown): string | undefined {
  const code = networkReason(error)
  if (INCOMPLETE_CHAIN.has(code)) {
    return `the chain of its certificate is incomplete: it does not send the intermediate certificate, or this machine does not know the authority (${code}), and NODE_EXTRA_CA_CERTS=FILE adds one`
  }
  return /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT)/.test(code)
    ? `its certificate is not valid (${code})`
    : undefined
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause))
}

function statusFailure(
  request: SourceRequest,
  response: Response & { _data?: string | undefined },
  userAgent: string,
): AttemptFailure {
  const { status, _data: body = '' } = response
  const prefix = `${request.name}: HTTP ${status}`
  const fact = { code: 'http_status', status } as const
  if (status >= 300 && status < 400) {
    const target = response.headers.get('location') ?? ''
    const shortTarget = maskSecrets(excerpt(target), request)
    const where = isOtherHost(target, request.url) ? `another host, "${shortTarget}"` : `"${shortTarget}"`
    return finalFailure(request, `HTTP ${status}, a redirect to ${where}, which is never followed`, fact)
  }
  const text = withExcerpt(prefix, request.readError?.(body) ?? body, request)
  const message = text + statusHint(status, request, userAgent)
  const days = request.readUnsynchronized?.(status, body)
  // No retry and no wait: the source works, and other days can be requested at once.
  if (days) return { failure: new UnsynchronizedFailure(message, days), canRetry: false }
  if (status === 401 || status === 403 || status === 404) {
    return { failure: new RefusedFailure(message, fact), canRetry: false }
  }
  if (!RETRY_STATUSES.includes(status)) return { failure: new FetchFailure(message, fact), canRetry: false }
  const waitMs = retryDelay(response.headers)
  if (waitMs !== undefined && waitMs > LONGEST_WAIT_MS) {
    return finalFailure(
      request,
      `HTTP ${status}, and it asks to wait ${Math.ceil(waitMs / 1000)} s, longer than a run waits`,
      fact,
    )
  }
  return { failure: new FetchFailure(message, fact), canRetry: true, waitMs }
}

function isOtherHost(target: string, url: string): boolean {
  return URL.canParse(target, url) && new URL(target, url).host !== new URL(url).host
}

/** Returns advice for a status that concerns the request itself and not its days. */
function statusHint(status: number, { headers, isFixed }: SourceRequest, userAgent: string): string {
  if (isFixed && status === 404) return ' (the address of these data has moved)'
  if (isFixed && (status === 413 || status === 414))
    return ' (the request of cambista is too large: report this fault)'
  if (status === 403) return ` (it refuses the User-Agent "${userAgent}", this address or the credentials)`
  if (status === 406) return ` (it does not answer in the form "${headers.Accept ?? '*/*'}")`
  return ''
}

function finalFailure(request: SourceRequest, message: string, fact?: FailureFact): AttemptFailure {
  return { failure: new FetchFailure(`${request.name}: ${message}`, fact), canRetry: false }
}

/** Returns milliseconds from Retry-After, in seconds or as a date; a date is relative to the Date of the answer. */
function retryDelay(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const until = httpDate(text)
  if (Number.isNaN(until)) return undefined
  const answerTime = httpDate(headers.get('date'))
  return Math.max(0, until - (Number.isNaN(answerTime) ? Date.now() : answerTime))
}

/** Returns the instant of a date in GMT. Date.parse alone accepts "-5", and reads a date without a zone in the machine's. */
function httpDate(date: string | null): number {
  return date?.endsWith(' GMT') ? Date.parse(date) : Number.NaN
}

/** Reads a body. @throws FetchFailure for one of more than `limit` bytes */
export async function readWhole(response: Response, limit: number): Promise<string> {
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

/** Reads the part of an error body that arrives and fits. A further failure is ignored: the status matters more. */
async function readStart(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > ERROR_BODY_LIMIT) break
    }
  } catch {
    // The status is enough.
  }
  return text
}

function withExcerpt(message: string, body: string, request: SourceRequest): string {
  const start = excerpt(maskSecrets(body, request))
  return start === '' ? message : `${message}: ${start}`
}

function maskSecrets(text: string, { secrets }: SourceRequest): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text)
}
