// Requests /readyz of a server. An error names the cause: another protocol, an untrusted certificate, or no server.

import { request as httpRequest } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { connect } from 'node:tls'
import { errorCode, errorReason } from '../../../runtime/errors.ts'

export type Probe = {
  url: URL
  /** Certificates to trust; undefined: any. */
  trusted: readonly (string | Buffer)[] | undefined
  stop: AbortSignal
}

const ANSWER_TIMEOUT_MS = 5000
const OTHER_TIMEOUT_MS = 1000
const LONGEST_BODY = 65_536
const NO_SERVER = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/
const UNTRUSTED: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: trust a copy of it with --tls-cert FILE',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is of an authority that is self-signed: trust that one with --tls-cert FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes without its chain, or from an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that this machine does not know',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

/** `error`: why the server is not ready. `detail`: details of a ready server. */
export type ProbeResult = { error: string } | { error?: undefined; detail: string | undefined }

export async function probeServer(probe: Probe): Promise<ProbeResult> {
  const { href } = probe.url
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const signal = AbortSignal.any([timeout, probe.stop])
  try {
    const { status, body } = await requestServer(probe, signal)
    const answer = parseAnswer(body)
    if (status === 200) return { detail: answer?.detail }
    const other = status === 400 ? await otherProtocolError(probe) : undefined
    const stale = answer?.status === 'stale' ? answer.detail : undefined
    return { error: other ?? stale ?? `${href} answered ${status}` }
  } catch (error) {
    if (timeout.aborted) return { error: `${href} did not answer within ${ANSWER_TIMEOUT_MS / 1000} seconds` }
    const code = errorCode(error)
    const why = UNTRUSTED[code] ?? (NO_SERVER.test(code) ? undefined : await otherProtocolError(probe))
    return { error: `${href} cannot be reached: ${why ?? (errorReason(error) || code)}` }
  }
}

/** Returns the status of an answer and its details as a text; undefined for other answers. */
function parseAnswer(body: string): { status: unknown; detail: string | undefined } | undefined {
  try {
    const { status, detail } = JSON.parse(body)
    return { status, detail: Array.isArray(detail) ? detail.join('; ') : undefined }
  } catch {
    return undefined
  }
}

/** Returns an error if the port serves HTTPS for an HTTP URL, or the reverse. */
async function otherProtocolError({ url, stop }: Probe): Promise<string | undefined> {
  const signal = AbortSignal.any([AbortSignal.timeout(OTHER_TIMEOUT_MS), stop])
  try {
    if (url.protocol === 'http:') {
      await handshake(url, signal)
      return `the port speaks HTTPS: ask https://${url.host}`
    }
    await requestServer(
      { url: new URL(url.href.replace(/^https/, 'http')), trusted: undefined, stop },
      signal,
    )
    return `the port speaks HTTP, without TLS: ask http://${url.host}`
  } catch {
    return undefined
  }
}

/** Sends the request without `fetch`, which cannot accept an untrusted certificate. */
function requestServer(
  { url, trusted }: Probe,
  signal: AbortSignal,
): Promise<{ status: number; body: string }> {
  const options: RequestOptions = { agent: false, signal, rejectUnauthorized: trusted !== undefined }
  if (trusted) options.ca = [...trusted]
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, options, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      const finish = () => {
        resolve({ status: answer.statusCode ?? 0, body })
        request.destroy()
      }
      answer.on('data', (text: string) => {
        body += text
        if (body.length > LONGEST_BODY) finish()
      })
      answer.on('end', finish).on('error', reject)
    })
    request.on('error', reject).end()
  })
}

function handshake(url: URL, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const socket = connect({ host, port: Number(url.port || 80), rejectUnauthorized: false }, () => {
      resolve()
      socket.destroy()
    })
    socket.on('error', reject)
    signal.addEventListener('abort', () => socket.destroy(new Error('late')), { once: true })
  })
}
