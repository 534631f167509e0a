// A server for raw bytes, and requests to build them from. For any input, it stores exactly the acknowledged documents
// and answers with an expected status.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import { AT, batch, CREATE, fillDatabase, pdf, TOKENS } from './directory.ts'
import { sampleDocument, UPLOAD_FORMS, type UploadFormName } from './documents/ways.ts'
import { startProgram } from './program.ts'
import { exchangeRaw, type RawAnswer } from './raw-requests.ts'
import { openTestDatabase, temporaryDirectory } from './temporary.ts'

export const CHUNKED = 'Transfer-Encoding: chunked'

const KEY = 'cbk_torture'
const FRAMED = /^(content-length|transfer-encoding)/i
const FINE = [200, 204, 206, 304]
// 421: a changed path may be one of the page, which serves only the configured host names.
const REFUSED = [400, 401, 403, 404, 405, 408, 409, 413, 415, 416, 417, 421, 422, 431, 503]
const ANSWERS = new Set([...FINE, ...REFUSED])

export type RawServer = {
  port: number
  /** Sends the pieces, checks the answers, and returns their statuses. */
  send(...pieces: string[]): Promise<number[]>
  /** Records acknowledged documents. @throws for an unexpected status */
  checkAnswers(answers: readonly RawAnswer[], about: string): number[]
  /** @throws unless the server runs, logged no error, and stored exactly the acknowledged documents */
  check(): Promise<void>
}

/** A request as bytes. Has a Content-Length unless a header frames the body. */
export function request(first: string, headers: string[] = [], body = ''): string {
  const hasLength = body === '' || headers.some((one) => FRAMED.test(one))
  const length = hasLength ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const secrets = [`X-API-Key: ${KEY}`, `Authorization: Bearer ${TOKENS.all}`]
  return `${[first, 'Host: a', ...secrets, ...headers, ...length].join('\r\n')}\r\n\r\n${body}`
}

export function get(path: string, ...headers: string[]): string {
  return request(`GET ${path} HTTP/1.1`, headers)
}

/** An upload of one document; `headers` may frame the body. */
export function uploadRequest(name: string, headers: string[] = [], body = bodyNamed(name)): string {
  return request(`POST ${CREATE} HTTP/1.1`, headers, body)
}

export function bodyNamed(name: string): string {
  return JSON.stringify(batch(pdf(`content of ${name}`, name)))
}

/** An upload of one document in the given form. */
export function encodedUpload(way: UploadFormName, name: string, headers: string[] = []): string {
  const { path, headers: own, body } = UPLOAD_FORMS[way]([sampleDocument(`content of ${name}`, name)])
  const lines = Object.entries(own).map(([header, value]) => `${header}: ${value}`)
  return request(`POST ${path} HTTP/1.1`, [...lines, ...headers], String(body))
}

/** A chunked body of one chunk. */
export function chunkedBody(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
}

export async function startRawServer(
  t: TestContext,
  program: readonly [string, ...string[]],
): Promise<RawServer> {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const db = openTestDatabase(dataDir)
  await insertApiKey(db, { name: 'faults', hash: hashOfSecret(KEY), createdAt: AT })
  await db.destroy()
  const words = ['serve', '--port', '0', '--no-scheduler', '--min-free', '0', '--log-format', 'json']
  const server = startProgram(t, [...words, '--data-dir', dataDir], {}, program)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  const port = Number(new URL(url).port)
  const created = new Map<number, string>() // ids and names

  const checkAnswers = (answers: readonly RawAnswer[], about: string) => {
    for (const { status, body } of answers) {
      assert.ok(ANSWERS.has(status), `${status}: ${about}`)
      if (status !== 200 || !body.includes('created_documents')) continue
      const answer = JSON.parse(String(body)) as { created_documents: { id: number; name: string }[] }
      for (const { id, name } of answer.created_documents) created.set(id, name)
    }
    return answers.map(({ status }) => status)
  }

  return {
    port,
    checkAnswers: checkAnswers,
    async send(...pieces) {
      return checkAnswers(await exchangeRaw(port, ...pieces), JSON.stringify(pieces.join('').slice(0, 600)))
    },
    async check() {
      assert.deepEqual([...(await fetchDocumentNames(url))].sort(), [...created].sort())
      assert.equal(server.child.exitCode, null, server.printed.err.slice(-2000))
      const errors = server.printed.err.split('\n').filter((line) => line.includes('"level":"error"'))
      assert.deepEqual(errors, [])
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
    },
  }
}

/** Ids and names of all documents. Checks each blob against the SHA-256 of its row. */
async function fetchDocumentNames(url: string): Promise<Map<number, string>> {
  const names = new Map<number, string>()
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  for (let next = 0, more = true; more; ) {
    const page: Response = await fetch(`${url}/api/v1/documents?limit=200&after=${next}`, { headers })
    const { documents, next_after, has_more } = (await page.json()) as {
      documents: { id: number; name: string; sha256: string }[]
      next_after: number
      has_more: boolean
    }
    for (const { id, name, sha256 } of documents) {
      names.set(id, name)
      const content = await fetch(`${url}/api/v1/documents/${id}/content`, { headers })
      assert.equal(
        createHash('sha256')
          .update(await content.bytes())
          .digest('hex'),
        sha256,
      )
    }
    next = next_after
    more = has_more
  }
  return names
}
