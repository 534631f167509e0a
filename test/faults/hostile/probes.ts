// A well-behaved client beside hostile ones, and a bare server in a process of its own. A delay of the bare server is
// a delay of the machine.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { batch, CREATE, TOKENS } from '../../support/directory.ts'
import { startScript } from '../../support/other-process.ts'

const PROBE_EVERY_MS = 200
const CONTROL = `import { createServer } from 'node:http'
  const server = createServer((_, res) => res.end('x'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

/** Longest response times in milliseconds; `over` is the excess over the control at the same moment. */
type MaxTimes = { control: number; health: number; key: number; upload: number; over: number }
export type ProbeResult = MaxTimes & { rounds: number; uploads: Map<number, number> }

/** Requests health, a rate and the bare server at once, and uploads in parallel. */
export function startProbes(
  { url, key }: { url: string; key: string },
  control: string,
): { stop(): Promise<ProbeResult> } {
  const max: MaxTimes = { control: 0, health: 0, key: 0, upload: 0, over: 0 }
  const uploads = new Map<number, number>()
  let rounds = 0
  let stopped = false
  const probeReads = async () => {
    while (!stopped) {
      const [alone, health, rate] = await Promise.all([
        timed(() => fetchStatus(control)),
        timed(() => fetchStatus(`${url}/healthz`)),
        timed(() => fetchStatus(`${url}/api/v1/rates/latest`, { 'x-api-key': key })),
      ])
      assert.deepEqual([health.result, rate.result], [200, 200])
      max.control = Math.max(max.control, alone.ms)
      max.health = Math.max(max.health, health.ms)
      max.key = Math.max(max.key, rate.ms)
      max.over = Math.max(max.over, health.ms - alone.ms, rate.ms - alone.ms)
      rounds += 1
      await wait(PROBE_EVERY_MS)
    }
  }
  const probeUploads = async () => {
    while (!stopped) {
      const { ms, result } = await timed(() => uploadDocument(url))
      uploads.set(result.status, (uploads.get(result.status) ?? 0) + 1)
      max.upload = Math.max(max.upload, ms)
      await wait(PROBE_EVERY_MS)
    }
  }
  const probes = Promise.all([probeReads(), probeUploads()])
  probes.catch(() => {}) // `stop` reports it
  return {
    async stop(): Promise<ProbeResult> {
      stopped = true
      await probes
      return { ...max, rounds, uploads }
    },
  }
}

/** Starts a bare server in a process of its own, and returns its URL. */
export async function startControl(t: TestContext): Promise<string> {
  const { firstLine: port } = await startScript(t, CONTROL)
  return `http://127.0.0.1:${port}/`
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const start = performance.now()
  return { result: await work(), ms: performance.now() - start }
}

async function fetchStatus(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers: { ...headers, connection: 'close' } })
  await response.arrayBuffer()
  return response.status
}

/** Uploads one document of `bytes` random bytes. */
export async function uploadDocument(
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
