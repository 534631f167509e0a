// What agents leave behind: 6,000 calls over MCP, of both eras and of every tool that reads, cost little memory.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { legacy, modern } from '../api/mcp/support.ts'
import { fillDatabase, TOKENS } from '../support/directory.ts'
import { startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand } from '../support/terminal.ts'
import { figure, PROGRAM } from './scale.ts'

const CALLS = 6000
const AT_ONCE = 8
const MOST_MB = 60

test(`${CALLS} calls over MCP leave at most ${MOST_MB} MB`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { out: key } = await runCommand(['key', 'create', 'agent', '--data-dir', dataDir])
  const server = startProgram(
    t,
    ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(dataDir)],
    {},
    PROGRAM,
  )
  const [, url] = await server.says(/listening url=(\S+)/)
  const memory = () =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024
  const headers = {
    'x-api-key': key.trim(),
    authorization: `Bearer ${TOKENS.work}`,
    'content-type': 'application/json',
  }
  const ask = async (path: string, more = {}, body?: object) => {
    const method = body ? 'POST' : 'GET'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...more },
      body: body && JSON.stringify(body),
    } as RequestInit)
    assert.equal(response.status, 200, await response.text())
  }
  const every = async (count: number, one: (at: number) => Promise<void>) => {
    let next = 0
    const worker = async () => {
      while (next < count) await one(next++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }
  await every(500, () => ask('/api/v1/series')) // what requests cost is not MCP's alone
  const before = memory()
  const tools = ['get_rate', 'get_rates_on', 'list_series', 'freshness', 'list_documents', 'rate_statistics']
  await every(CALLS, (at) => {
    const params = { name: tools[at % tools.length], arguments: {} }
    if (at % 100 === 0) return ask('/mcp', {}, legacy('tools/list'))
    const [body, more] = at % 2 === 0 ? modern('tools/call', params) : [legacy('tools/call', params), {}]
    return ask('/mcp', more, body)
  })
  const grown = memory() - before
  figure(t, `memory after ${CALLS} calls over MCP, MB`, Math.round(grown * 10) / 10)
  assert.ok(grown <= MOST_MB, `${grown} MB`)
})
