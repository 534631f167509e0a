// Messages that no official client sends: each is rejected by the rules of JSON-RPC and MCP, and the server
// continues.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '../support.ts'
import { type Json, legacy, modern, send } from './support.ts'

const app = await openApp()
await app.sync()

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'a', version: '1' },
}
const RATE = { name: 'get_rate', arguments: {} }

async function isWell(): Promise<void> {
  const { status, body } = await send(app, legacy('tools/call', RATE))
  assert.deepEqual([status, body.result.structuredContent.rate_date], [200, '2026-03-24'])
}

test('a malformed JSON-RPC message is a 400 with its error code', async () => {
  const cases: [unknown, number][] = [
    ['', -32700],
    ['{', -32700],
    ['nonsense', -32700],
    [Buffer.from([0x22, 0xff, 0x22]), -32700],
    ['['.repeat(60_000), -32700],
    [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, -32700],
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`,
      -32700,
    ],
    ['null', -32600],
    ['7', -32600],
    ['"text"', -32600],
    [[], -32600],
    [[legacy('ping')], -32600],
    [[legacy('ping'), legacy('tools/list')], -32600],
    [{}, -32600],
    [{ id: 1, method: 'ping' }, -32600],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, -32600],
    [{ jsonrpc: '2.0', id: 1 }, -32600],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, -32600],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, -32600],
    [{ jsonrpc: '2.0', id: {}, method: 'ping' }, -32600],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, -32600],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32600],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: 'a' }, -32600],
  ]
  for (const [message, code] of cases) {
    const { status, body } = await send(app, message)
    const what = JSON.stringify(message)?.slice(0, 80)
    // Deeply nested messages may exceed the parser's stack: they have either error code.
    const isDeep = typeof message === 'string' && message.length > 20_000
    assert.equal(status, 400, what)
    assert.ok(
      body.error.code === code || (isDeep && body.error.code === -32600),
      `${what} ${body.error.code}`,
    )
    assert.equal(body.jsonrpc, '2.0')
  }
  await isWell()
})

test('notifications and unrequested answers are a 202 without a body', async () => {
  const silent = [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'tools/call', params: RATE },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'no' } },
  ]
  for (const one of silent) {
    const { status, text } = await send(app, one)
    assert.deepEqual([status, text], [202, ''], JSON.stringify(one))
  }
})

test('a body that is too large, of another type, or compressed is rejected, and so is a client that accepts no JSON', async () => {
  assert.equal((await send(app, legacy('tools/list', { a: 'x'.repeat(64 * 1024) }))).status, 413)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
    const { status, body } = await send(app, legacy('tools/list'), { 'content-type': type })
    assert.deepEqual([status, body.error.code], [415, 415], type)
  }
  assert.equal(
    (await send(app, legacy('tools/list'), { 'content-type': 'application/json; charset=utf-8' })).status,
    200,
  )
  assert.equal((await send(app, legacy('tools/list'), { 'content-encoding': 'gzip' })).status, 415)
  assert.equal((await send(app, legacy('tools/list'), { accept: 'text/event-stream' })).status, 406)
  for (const accept of ['application/json', '*/*', 'text/event-stream, application/json;q=0.5']) {
    const { status, headers } = await send(app, legacy('tools/list'), { accept })
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/json'], accept)
  }
  await isWell()
})

test('a client of 2025 gets its requested protocol revision, or the newest of 2025', async () => {
  const revisions: [unknown, string][] = [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['nonsense', '2025-11-25'],
    [undefined, '2025-11-25'],
  ]
  for (const [protocolVersion, got] of revisions) {
    const { status, body } = await send(app, legacy('initialize', { ...INITIALIZE, protocolVersion }))
    assert.deepEqual([status, body.result.protocolVersion], [200, got])
    assert.deepEqual(Object.keys(body.result.capabilities), ['tools', 'resources'])
    assert.equal(body.result.resultType, undefined)
  }
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
    const { status, headers, body } = await send(app, legacy('ping'), { 'mcp-protocol-version': version })
    assert.deepEqual([status, headers.get('mcp-session-id'), body.result], [200, null, {}])
  }
  const unknown = await send(app, legacy('ping'), { 'mcp-protocol-version': '2020-01-01' })
  assert.deepEqual([unknown.status, unknown.body.error.code], [400, -32022])
  assert.deepEqual(unknown.body.error.data.supported, [
    '2026-07-28',
    ...revisions.slice(0, 4).map(([one]) => one),
  ])
  for (const method of ['prompts/list', 'server/discover', 'logging/setLevel', 'constructor', '']) {
    const answer = await send(app, legacy(method))
    assert.deepEqual([answer.status, answer.body.error.code], [200, -32601], method)
  }
  const missing = await send(app, legacy('resources/read', { uri: 'cambista://nothing' }))
  assert.equal(missing.body.error.code, -32002)
})

test('a client of 2026 has the revision of each request in body and headers alike', async () => {
  const [body, headers] = modern('tools/call', RATE)
  const good = await send(app, body, headers)
  assert.deepEqual([good.status, good.body.result.resultType], [200, 'complete'])
  assert.equal(good.body.result._meta['io.modelcontextprotocol/serverInfo'].name, 'cambista')

  const encoded = `=?base64?${Buffer.from('get_rate').toString('base64')}?=`
  assert.equal((await send(app, body, { ...headers, 'mcp-name': encoded })).status, 200)
  const wrong: Record<string, string>[] = [
    {},
    { 'mcp-method': 'tools/call', 'mcp-name': 'get_rate' },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'get_rate' },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
    { ...headers, 'mcp-protocol-version': '2025-11-25' },
    { ...headers, 'mcp-method': 'tools/list' },
    { ...headers, 'mcp-name': 'convert' },
    { ...headers, 'mcp-name': '=?base64?Y29udmVydA==?=' },
  ]
  for (const headers of wrong) {
    const { status, body: answer } = await send(app, body, headers)
    assert.deepEqual([status, answer.error.code, answer.id], [400, -32020, 1], JSON.stringify(headers))
  }
  const other = await send(app, ...modern('tools/list', {}, '2027-01-01'))
  assert.deepEqual(
    [other.status, other.body.error.code, other.body.error.data],
    [400, -32022, { supported: ['2026-07-28'], requested: '2027-01-01' }],
  )
  const metas: Json[] = [
    { [VERSION]: 7, [CAPABILITIES]: {} },
    { [VERSION]: '2026-07-28' },
    { [VERSION]: '2026-07-28', [CAPABILITIES]: [] },
    {},
  ]
  for (const _meta of metas) {
    const message = legacy('tools/list', { _meta })
    const { status, body: answer } = await send(app, message, modern('tools/list')[1])
    assert.deepEqual([status, answer.error.code], [400, -32602], JSON.stringify(_meta))
  }
  for (const method of ['initialize', 'ping', 'prompts/list', 'subscriptions/listen', 'toString']) {
    const { status, body: answer } = await send(app, ...modern(method))
    assert.deepEqual([status, answer.error.code], [404, -32601], method)
  }
  const discovery = await send(app, ...modern('server/discover'))
  assert.deepEqual(discovery.body.result.supportedVersions, ['2026-07-28'])
  const listed = await send(app, ...modern('tools/list'))
  assert.deepEqual([listed.body.result.ttlMs, listed.body.result.cacheScope], [60_000, 'private'])
})

test('wrong parameters of a call are rejected', async () => {
  for (const params of [{}, { name: 7 }, { name: null }, { name: { a: 1 } }, { name: '__proto__' }]) {
    const { status, body } = await send(app, legacy('tools/call', params))
    assert.deepEqual([status, body.error.code], [200, -32602], JSON.stringify(params))
  }
  for (const args of ['text', 7, [], true]) {
    const { body } = await send(app, legacy('tools/call', { name: 'get_rate', arguments: args }))
    assert.match(body.result.content[0].text, /^arguments must be an object/)
  }
  const strange = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_rate","arguments":'
  for (const args of ['{"on":{"constructor":"x"}}', '{"base":{"toString":1}}', '{"on":1e999}']) {
    const { body } = await send(app, `${strange}${args}}}`)
    assert.equal(body.result.isError, true, args)
  }
  const big = await send(app, `${strange}{"on":${'9'.repeat(400)}}}}`)
  assert.equal(big.body.result.isError, true)
  assert.match((await send(app, legacy('tools/list', { cursor: 'x' }))).body.error.message, /no such cursor/)
  for (const text of ['1.0000000000000000001', '9007199254740993', '1.5', '1e400', '-0.5']) {
    const convert = strange.replace('get_rate', 'convert')
    const { body } = await send(app, `${convert}{"amount":${text},"from":"USD","to":"CRC"}}}`)
    assert.equal(body.result.isError, true, text)
  }
  for (const [text, amount] of [
    ['1500.0', '1500'],
    ['1e3', '1000'],
    ['9007199254740991', '9007199254740991'],
  ]) {
    const convert = strange.replace('get_rate', 'convert')
    const { body } = await send(app, `${convert}{"amount":${text},"from":"USD","to":"CRC"}}}`)
    assert.equal(body.result.structuredContent.amount, amount)
  }
  await isWell()
})

test('an id is returned as it was sent', async () => {
  for (const id of [0, -1, 'a', '', 2 ** 53 - 1, '€']) {
    assert.deepEqual((await send(app, { ...legacy('ping'), id })).body, { jsonrpc: '2.0', id, result: {} })
  }
})
