// One request at a time to a slow, sometimes sick service: keeps the pace, tries again where that can help, and
// turns everything that went wrong into a FetchFailure that names what was asked and shows no secret.

import { setTimeout as wait } from 'node:timers/promises'
import { type IsoDate, todayIn } from '../dates.ts'
import { networkReason } from '../errors.ts'
import { excerptOf } from './json.ts'
import {
  FetchFailure,
  type ProviderSettings,
  type RequestTuning,
  UnsynchronizedFailure,
  type Window,
} from './provider.ts'

export type SourceRequest = {
  /** What a message calls it. */
  name: string
  url: string
  headers: Record<string, string>
  /** Texts that no message may show. */
  secrets: readonly string[]
  /** What the body of an error says; without it, the body as it is. */
  readError?: (body: string) => string
  /** The days of the request that the source has not synchronized, if an error says so. */
  readUnsynchronized?: (status: number, body: string) => Window | undefined
}

type Reader<T> = (body: string, headers: Headers) => T | Promise<T>

export type Requester = {
  /**
   * What `read` makes of the body. What it throws gets the request's name and an excerpt of the body.
   * @throws RefusedFailure for 401, 403 and 404; UnsynchronizedFailure for days that the source does not have;
   * FetchFailure for everything else that is not a good answer; the signal's reason when the session was aborted
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
const CUT_SHORT = 'the answer was cut short'
const INCOMPLETE_CHAIN = new Set(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])
const RETRIED = [429, ...Array.from({ length: 100 }, (_, at) => 500 + at)]

/** Why an attempt failed; `again`: worth another, after `waitMs` where the source said how long. */
type Failed = { failure: FetchFailure; again: boolean; waitMs?: number | undefined }

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

  return {
    async get(request, read) {
      const { createFetch } = await import('ofetch') // not before the first request: a start need not wait for it
      const $fetch = createFetch({ fetch: fetchWhole(tuning.bodyLimit ?? BODY_LIMIT) })
      let tried = 0
      let failed: Failed | undefined
      const fail = (options: { retry?: number | false | undefined }, why: Failed) => {
        failed = why
        if (down || !why.again) options.retry = false
      }
      const response = await $fetch
        .raw(request.url, {
          headers: { ...request.headers, 'User-Agent': settings.userAgent },
          redirect: 'manual',
          responseType: 'text',
          retry: BACKOFF_MS.length,
          retryStatusCodes: RETRIED,
          // ofetch would wait without looking at the signal: a run that is stopped must end at once.
          async onRequest({ options }) {
            if (failed)
              await pause(failed.waitMs ?? (BACKOFF_MS[tried - 1] ?? 0) * (0.75 + Math.random() / 2))
            await pause(lastStart + settings.paceMs - performance.now())
            lastStart = performance.now()
            tried += 1
            options.signal = AbortSignal.any([signal, AbortSignal.timeout(tuning.timeoutMs ?? TIMEOUT_MS)])
          },
          onRequestError({ error, options }) {
            fail(options, failedRequest(request, error))
          },
          onResponseError({ response, options }) {
            fail(options, failedStatus(request, response, settings.userAgent))
          },
        })
        .catch((error: unknown) => {
          signal.throwIfAborted()
          if (!failed) throw error
          down = failed.again
          throw failed.failure
        })
      down = false
      if (!response.ok) throw failedStatus(request, response, settings.userAgent).failure
      day = dayOfHeader(response.headers.get('date'), settings.timeZone)
      return readBody(request, response._data ?? '', response.headers, read)
    },
    sourceDay: () => day,
  }
}

function dayOfHeader(date: string | null, timeZone: string): IsoDate | undefined {
  const instant = new Date(date ?? Number.NaN)
  return Number.isNaN(instant.getTime()) ? undefined : todayIn(() => instant, timeZone)
}

async function readBody<T>(
  request: SourceRequest,
  answered: string,
  headers: Headers,
  read: Reader<T>,
): Promise<T> {
  const body = masked(answered, request) // what echoes a secret as a name would put it into a run's message
  try {
    return await read(body, headers)
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    const message = `${request.name}: ${masked(error.message, request)}`
    throw new FetchFailure(withExcerpt(message, body, request))
  }
}

/** A fetch that has the whole body before it is done, so that one that is cut short is an attempt that failed. */
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

function failedRequest(request: SourceRequest, error: unknown): Failed {
  if (error instanceof FetchFailure) return given(request, error.message)
  const isCut = error instanceof Error && error.message === CUT_SHORT
  const certificate = certificateReason(error)
  if (certificate !== undefined) return given(request, certificate) // it will be no other in a few seconds
  const reason = isTimeout(error) ? 'no complete answer in time' : networkReason(error)
  // The Fetch standard has a list of ports, such as 6000, that no client opens.
  if (reason === 'bad port') {
    return given(
      request,
      `${hostAndPort(request.url)} cannot be reached (bad port: it is reserved, no HTTP client opens it)`,
    )
  }
  const message = isCut
    ? `${CUT_SHORT} (${reason})`
    : `${hostAndPort(request.url)} cannot be reached (${reason})`
  return { failure: new FetchFailure(`${request.name}: ${masked(message, request)}`), again: true }
}

/** The port also where the URL leaves it out. */
function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/** Why the certificate of a source is rejected, in words; undefined: that is not the reason. */
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

function failedStatus(
  request: SourceRequest,
  response: Response & { _data?: string | undefined },
  userAgent: string,
): Failed {
  const { status, _data: body = '' } = response
  const said = `${request.name}: HTTP ${status}`
  if (status >= 300 && status < 400) {
    const target = response.headers.get('location') ?? ''
    const place = masked(excerptOf(target), request)
    const where = isElsewhere(target, request.url) ? `another host, "${place}"` : `"${place}"`
    return given(request, `HTTP ${status}, a redirect to ${where}, which is never followed`)
  }
  const excerpted = withExcerpt(said, request.readError?.(body) ?? body, request)
  const message = excerpted + hintOf(status, request, userAgent)
  const days = request.readUnsynchronized?.(status, body)
  // Neither retried nor waited for: the source is well, and other days can be requested at once.
  if (days) return { failure: new UnsynchronizedFailure(message, days), again: false }
  if (status === 401 || status === 403 || status === 404) {
    return { failure: new RefusedFailure(message, status), again: false }
  }
  if (status !== 429 && status < 500) {
    return { failure: new FetchFailure(message), again: false }
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

function isElsewhere(target: string, url: string): boolean {
  return URL.canParse(target, url) && new URL(target, url).host !== new URL(url).host
}

/** What an operator can do about a status that is about the request itself and not about its days. */
function hintOf(status: number, { headers }: SourceRequest, userAgent: string): string {
  if (status === 403) return ` (it refuses the User-Agent "${userAgent}", this address or the credentials)`
  if (status === 406) return ` (it does not answer in the form "${headers.Accept ?? '*/*'}")`
  return ''
}

function given(request: SourceRequest, message: string): Failed {
  return { failure: new FetchFailure(`${request.name}: ${message}`), again: false }
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
