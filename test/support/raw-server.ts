// A server for raw bytes, requests to make them of, and the two things that must hold whatever is sent: what is stored is
// what was acknowledged, and no answer is one that no client should get.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { hashOfSecret } from '../../src/domain/secrets.ts'
import { insertApiKey } from '../../src/store/api-keys.ts'
import { AT, batch, CREATE, fillDatabase, pdf, TOKENS } from './directory.ts'
import { sent, WAYS, type WayName } from './documents/ways.ts'
import { startProgram } from './program.ts'
import { exchangeRaw, type RawAnswer } from './raw-requests.ts'
import { openDatabaseOf, temporaryDirectory } from './temporary.ts'

export const CHUNKED = 'Transfer-Encoding: chunked'

const KEY = 'cbk_torture'
const FRAMED = /^(content-length|transfer-encoding)/i
const FINE = [200, 204, 206, 304]
// 421: a change may make the path that of the page, which answers to names of the server alone.
const REFUSED = [400, 401, 403, 404, 405, 408, 409, 413, 415, 416, 417, 421, 422, 431, 503]
const ANSWERS = new Set([...FINE, ...REFUSED])

export type RawGround = {
  port: number
  /** Sends the pieces, judges the answers, and gives their statuses. */
  send(...pieces: string[]): Promise<number[]>
  /** Notes what was acknowledged. @throws for an answer that no client should get */
  judge(answers: readonly RawAnswer[], about: string): number[]
  /** @throws unless the server lives, has logged no error, and has stored what was acknowledged, and only that */
  check(): Promise<void>
}

/** A request as bytes; its length is stated unless a header frames it otherwise. */
export function request(first: string, headers: string[] = [], body = ''): string {
  const framed = body === '' || headers.some((one) => FRAMED.test(one))
  const length = framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const secrets = [`X-API-Key: ${KEY}`, `Authorization: Bearer ${TOKENS.all}`]
  return `${[first, 'Host: a', ...secrets, ...headers, ...length].join('\r\n')}\r\n\r\n${body}`
}

export function get(path: string, ...headers: string[]): string {
  return request(`GET ${path} HTTP/1.1`, headers)
}

/** Uploads one document; it may be framed by headers of one's own. */
export function upload(name: string, headers: string[] = [], body = bodyNamed(name)): string {
  return request(`POST ${CREATE} HTTP/1.1`, headers, body)
}

export function bodyNamed(name: string): string {
  return JSON.stringify(batch(pdf(`content of ${name}`, name)))
}

/** Uploads one document in any of the ways. */
export function uploadAs(way: WayName, name: string, headers: string[] = []): string {
  const { path, headers: own, body } = WAYS[way]([sent(`content of ${name}`, name)])
  const lines = Object.entries(own).map(([header, value]) => `${header}: ${value}`)
  return request(`POST ${path} HTTP/1.1`, [...lines, ...headers], String(body))
}

/** A body of one chunk. */
export function chunksOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
}

export async function startRawGround(
  t: TestContext,
  program: readonly [string, ...string[]],
): Promise<RawGround> {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const db = openDatabaseOf(dataDir)
  await insertApiKey(db, { name: 'faults', hash: hashOfSecret(KEY), createdAt: AT })
  await db.destroy()
  const words = ['serve', '--port', '0', '--no-scheduler', '--min-free', '0', '--log-format', 'json']
  const server = startProgram(t, [...words, '--data-dir', dataDir], {}, program)
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  const port = Number(new URL(url).port)
  const created = new Map<number, string>() // ids and names

  const judge = (answers: readonly RawAnswer[], about: string) => {
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
    judge,
    async send(...pieces) {
      return judge(await exchangeRaw(port, ...pieces), JSON.stringify(pieces.join('').slice(0, 600)))
    },
    async check() {
      assert.deepEqual([...(await storedAt(url))].sort(), [...created].sort())
      assert.equal(server.child.exitCode, null, server.printed.err.slice(-2000))
      const errors = server.printed.err.split('\n').filter((line) => line.includes('"level":"error"'))
      assert.deepEqual(errors, [])
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
    },
  }
}

/** Ids and names of all documents; each content is read, and is the one that its row names. */
async function storedAt(url: string): Promise<Map<number, string>> {
  const stored = new Map<number, string>()
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  for (let next = 0, more = true; more; ) {
    const page: Response = await fetch(`${url}/api/v1/documents?limit=200&after=${next}`, { headers })
    const { documents, next_after, has_more } = (await page.json()) as {
      documents: { id: number; name: string; sha256: string }[]
      next_after: number
      has_more: boolean
    }
    for (const { id, name, sha256 } of documents) {
      stored.set(id, name)
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
  return stored
}
