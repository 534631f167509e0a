// Asking a server whether it is ready, and finding out why it cannot be asked: another protocol, a certificate that is
// not trusted, no server there.

import { request as httpRequest } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { connect } from 'node:tls'
import { codeOf, reasonOf } from '../../errors.ts'

export type Probe = {
  url: URL
  /** Certificates to trust; undefined: any will do. */
  trusted: readonly (string | Buffer)[] | undefined
  stop: AbortSignal
}

const ANSWER_WITHIN_MS = 5000
const OTHER_WITHIN_MS = 1000
const LONGEST_BODY = 65_536
const NOBODY = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/
const UNTRUSTED: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: trust a copy of it with --tls-cert FILE',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is of an authority that is self-signed: trust that one with --tls-cert FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes without its chain, or from an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that this machine does not know',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

/** Why a server is not ready, in words; undefined: it is. */
export async function faultOf(probe: Probe): Promise<string | undefined> {
  const { href } = probe.url
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const signal = AbortSignal.any([late, probe.stop])
  try {
    const { status, body } = await ask(probe, signal)
    if (status === 200) return undefined
    const other = status === 400 ? await otherProtocol(probe) : undefined
    return other ?? staleIn(body) ?? `${href} answered ${status}`
  } catch (error) {
    if (late.aborted) return `${href} did not answer within ${ANSWER_WITHIN_MS / 1000} seconds`
    const code = codeOf(error)
    const why = UNTRUSTED[code] ?? (NOBODY.test(code) ? undefined : await otherProtocol(probe))
    return `${href} cannot be reached: ${why ?? (reasonOf(error) || code)}`
  }
}

/** What a server says that is ready but for its rates; undefined: it says something else. */
function staleIn(body: string): string | undefined {
  try {
    const { status, detail } = JSON.parse(body)
    return status === 'stale' && Array.isArray(detail) ? detail.join('; ') : undefined
  } catch {
    return undefined
  }
}

/** Whether the port speaks HTTPS where HTTP was spoken, or the other way round. */
async function otherProtocol({ url, stop }: Probe): Promise<string | undefined> {
  const signal = AbortSignal.any([AbortSignal.timeout(OTHER_WITHIN_MS), stop])
  try {
    if (url.protocol === 'http:') {
      await handshake(url, signal)
      return `the port speaks HTTPS: ask https://${url.host}`
    }
    await ask({ url: new URL(url.href.replace(/^https/, 'http')), trusted: undefined, stop }, signal)
    return `the port speaks HTTP, without TLS: ask http://${url.host}`
  } catch {
    return undefined
  }
}

/** Not by fetch, which takes no certificate but a trusted one. */
function ask({ url, trusted }: Probe, signal: AbortSignal): Promise<{ status: number; body: string }> {
  const options: RequestOptions = { agent: false, signal, rejectUnauthorized: trusted !== undefined }
  if (trusted) options.ca = [...trusted]
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, options, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      const done = () => {
        resolve({ status: answer.statusCode ?? 0, body })
        request.destroy()
      }
      answer.on('data', (text: string) => {
        body += text
        if (body.length > LONGEST_BODY) done()
      })
      answer.on('end', done).on('error', reject)
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
