// Memory after thousands of calls over MCP, of both protocol revisions and of every tool that reads.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { legacy, modern } from '../api/mcp/support.ts'
import { fillDatabase, TOKENS } from '../support/directory.ts'
import { startProgram } from '../support/program.ts'
import { readMemory } from '../support/resources.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand } from '../support/terminal.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const CALLS = scaled({ short: 2000, long: 6000 })
const AT_ONCE = 8
const MAX_MB = 60

test(`${CALLS} calls over MCP raise memory by at most ${MAX_MB} MB`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { out: key } = await runCommand(['key', 'create', 'agent', '--data-dir', dataDir])
  const server = startProgram(
    t,
    ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(dataDir)],
    {},
    PROGRAM,
  )
  const [, url] = await server.waitForOutput(/listening url=(\S+)/)
  const memory = () => readMemory(server.child.pid) / 2 ** 20
  const headers = {
    'x-api-key': key.trim(),
    authorization: `Bearer ${TOKENS.work}`,
    'content-type': 'application/json',
  }
  const send = async (path: string, moreHeaders = {}, body?: object) => {
    const method = body ? 'POST' : 'GET'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...moreHeaders },
      body: body && JSON.stringify(body),
    } as RequestInit)
    assert.equal(response.status, 200, await response.text())
  }
  const runAll = async (count: number, call: (at: number) => Promise<void>) => {
    let next = 0
    const worker = async () => {
      while (next < count) await call(next++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }
  await runAll(500, () => send('/api/v1/series')) // loads what plain requests need
  const before = memory()
  const tools = ['get_rate', 'get_rates_on', 'list_series', 'freshness', 'list_documents', 'rate_statistics']
  await runAll(CALLS, (at) => {
    const params = { name: tools[at % tools.length], arguments: {} }
    if (at % 100 === 0) return send('/mcp', {}, legacy('tools/list'))
    const [body, more] = at % 2 === 0 ? modern('tools/call', params) : [legacy('tools/call', params), {}]
    return send('/mcp', more, body)
  })
  const growth = memory() - before
  figure(t, `memory after ${CALLS} calls over MCP, MB`, Math.round(growth * 10) / 10)
  assert.ok(growth <= MAX_MB, `${growth} MB`)
})
