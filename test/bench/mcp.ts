// Cost of a call over MCP beside the same request to the rates API, in series on one connection. Also the
// memory left after 6,000 calls.

import { copyFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays } from '../../src/values/dates.ts'
import { type Figure, median } from './figure.ts'
import { PROGRAM, type Running, startProgram } from './process.ts'

const CALLS = 3000
const WARM = 300
const MOST_MEMORY_MB = 60
const SETTLED_MS = 2000
const META = 'io.modelcontextprotocol/'
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' }

type Ask = (at: number) => Promise<string>

/** `dataDir` has the whole history. */
export async function measureMcp(dataDir: string, dir: string, key: string): Promise<Figure[]> {
  const program = join(dir, 'cambista-mcp')
  copyFileSync(PROGRAM, program) // for the reason in memory.ts
  const server = await startProgram(dataDir, program)
  const [rest, modern, legacy] = createRequests(server, key)
  for (let at = 0; at < WARM; at += 1) await rest(at)
  await wait(SETTLED_MS)
  const before = server.memory()
  const times: number[][] = [[], [], []]
  for (let at = 0; at < CALLS; at += 1) {
    for (const [which, ask] of [rest, modern, legacy].entries()) {
      const start = performance.now()
      await ask(at)
      if (at >= WARM) times[which]?.push(performance.now() - start)
    }
  }
  await wait(SETTLED_MS)
  const grown = server.memory() - before
  await server.stop()
  const [plain = 0, ...calls] = times.map(median)
  const most = 2 * plain + 0.5
  return [
    ...['2026-07-28', '2025-11-25'].map((revision, at) => ({
      work: `get_rate over MCP of ${revision}, median (limit: twice /rates/latest and 0.5 ms)`,
      ours: `${calls[at]?.toFixed(2)} ms`,
      limit: `2 x ${plain.toFixed(2)} + 0.5 ms`,
      measured: (calls[at] ?? 0) / most,
      unit: '' as const,
      must: { atMost: 1 },
    })),
    {
      work: `memory after ${2 * CALLS} calls over MCP (limit: before the first)`,
      ours: `${(before + grown).toFixed(0)} MB`,
      limit: `${before.toFixed(0)} MB`,
      measured: grown,
      unit: ' MB',
      must: { atMost: MOST_MEMORY_MB },
    },
  ]
}

/** Requests for the dollar of a new day each time: to the rates API, and to both protocol versions of MCP. */
function createRequests({ port }: Running, key: string): [Ask, Ask, Ask] {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'x-api-key': key }
  const requestDay = (at: number) => addDays('1984-01-01', (at * 7919) % 15_000)
  const send = (path: string, more: Record<string, string> = {}, body?: object) =>
    new Promise<string>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path, agent, method: body ? 'POST' : 'GET' }
      const outgoing = request({ ...options, headers: { ...headers, ...more } }, (answer) => {
        let text = ''
        answer.on('data', (data) => {
          text += data
        })
        answer.on('end', () => (text.includes('rate_date') ? resolve(text) : reject(new Error(text))))
      })
      outgoing.on('error', reject)
      outgoing.end(body && JSON.stringify(body))
    })
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = (at: number) => ({ name: 'get_rate', arguments: { on: requestDay(at) } })
  const version = '2026-07-28'
  const _meta = { [`${META}protocolVersion`]: version, [`${META}clientCapabilities`]: {} }
  const mcpHeaders = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'get_rate' }
  return [
    (at) => send(`/api/v1/rates/latest?on=${requestDay(at)}`),
    (at) => send('/mcp', { ...json, ...mcpHeaders }, { ...CALL, params: { ...params(at), _meta } }),
    (at) => send('/mcp', json, { ...CALL, params: params(at) }),
  ]
}
