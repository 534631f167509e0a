// A client that behaves, beside others that do not, and a bare server in a process of its own: what takes long there too
// is the machine's doing.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { batch, CREATE, TOKENS } from './directory.ts'
import { startOther } from './other-process.ts'

const PROBE_EVERY_MS = 200
const CONTROL = `import { createServer } from 'node:http'
  const server = createServer((_, res) => res.end('x'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

/** In milliseconds; `over` is how much longer than the control, at the same moment. */
type Longest = { control: number; health: number; key: number; upload: number; over: number }
export type Probed = Longest & { rounds: number; uploads: Map<number, number> }

/** A client that behaves: it asks for health, a rate and a bare server at once, and uploads beside. */
export function startProbes(
  { url, key }: { url: string; key: string },
  control: string,
): { stop(): Promise<Probed> } {
  const most: Longest = { control: 0, health: 0, key: 0, upload: 0, over: 0 }
  const uploads = new Map<number, number>()
  let rounds = 0
  let stopped = false
  const behaving = async () => {
    while (!stopped) {
      const [alone, health, rate] = await Promise.all([
        timed(() => statusOf(control)),
        timed(() => statusOf(`${url}/healthz`)),
        timed(() => statusOf(`${url}/api/v1/rates/latest`, { 'x-api-key': key })),
      ])
      assert.deepEqual([health.result, rate.result], [200, 200])
      most.control = Math.max(most.control, alone.ms)
      most.health = Math.max(most.health, health.ms)
      most.key = Math.max(most.key, rate.ms)
      most.over = Math.max(most.over, health.ms - alone.ms, rate.ms - alone.ms)
      rounds += 1
      await wait(PROBE_EVERY_MS)
    }
  }
  const uploading = async () => {
    while (!stopped) {
      const { ms, result } = await timed(() => uploadOf(url))
      uploads.set(result.status, (uploads.get(result.status) ?? 0) + 1)
      most.upload = Math.max(most.upload, ms)
      await wait(PROBE_EVERY_MS)
    }
  }
  const asking = Promise.all([behaving(), uploading()])
  asking.catch(() => {}) // `stop` reports it
  return {
    async stop(): Promise<Probed> {
      stopped = true
      await asking
      return { ...most, rounds, uploads }
    },
  }
}

/** A bare server in a process of its own: what it takes to answer is the machine's doing. */
export async function startControl(t: TestContext): Promise<string> {
  const { said: port } = await startOther(t, CONTROL)
  return `http://127.0.0.1:${port}/`
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const begun = performance.now()
  return { result: await work(), ms: performance.now() - begun }
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers: { ...headers, connection: 'close' } })
  await response.arrayBuffer()
  return response.status
}

/** Uploads one document of so many bytes. */
export async function uploadOf(
  url: string,
  bytes = 100,
): Promise<{ status: number; id: number | undefined }> {
  const document = { name: 'a.bin', mimetype: 'application/octet-stream' }
  const response = await fetch(url + CREATE, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.all}`, connection: 'close' },
    body: JSON.stringify(batch({ ...document, base64: randomBytes(bytes).toString('base64') })),
  })
  const answer = (await response.json()) as { created_documents?: { id: number }[] }
  return { status: response.status, id: answer.created_documents?.[0]?.id }
}
