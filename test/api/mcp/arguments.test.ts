// Arguments that the schemas of tools do not have, as clients add them to each call, and empty texts. The inputs are those
// of n8n, of front ends of chats, and of models that fill in each field.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { call, callForError, callForValue, connect, type Json, legacy, send } from './support.ts'

/** Added by n8n to each call, and by front ends of chats. */
const ADDED = {
  toolCallId: 'call_1',
  tool: { name: 'MCP Client', arguments: {} },
  sessionId: 'a1',
  action: ['sendMessage'],
  chatInput: 'What is the dollar?',
  _meta: 1.5,
  _x: null,
}
const PARTIES = { company_id: 1, agent_id: 1, owner_id: 1 }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await app.sync()
  await fillDirectory(app)
  await post(app, CREATE, batch(pdf('hola')))
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const open = (t: TestContext, token: string = TOKENS.work) =>
  connect(t, 'modern', { app, headers: { ...bearer(token), 'x-api-key': String(app.key) } })

/** The sentence of a successful call. */
async function callForSentence(client: Client, name: string, args: Json): Promise<string> {
  const { isError, content } = await call(client, name, args)
  assert.ok(!isError, String(content[0]?.text))
  return content[0]?.text ?? ''
}

/** Calls of each tool that succeed. */
async function validCalls(client: Client): Promise<[name: string, args: Json][]> {
  await post(app, CREATE, batch(pdf('hola')))
  const { documents } = await callForValue(client, 'claim_documents', { agent_id: 1 })
  const { id, claim_id } = documents[0]
  return [
    ['get_rate', {}],
    ['get_rates_on', {}],
    ['convert', { amount: 1, from: 'USD', to: 'CRC' }],
    ['get_history', { from: '2026-03-20' }],
    ['rate_statistics', { from: '2026-03-20' }],
    ['list_series', {}],
    ['freshness', {}],
    ['list_documents', {}],
    ['read_document', { id }],
    ['wait_for_documents', { wait: 0 }],
    ['claim_documents', { agent_id: 1 }],
    ['extend_document', { id, claim_id, lease_seconds: 60 }],
    ['finish_document', { id, claim_id, outcome: 'done', note: 'read' }],
  ]
}

test('the names that clients add are ignored by each tool, and named in its sentence', async (t) => {
  const client = await open(t)
  for (const [name, args] of await validCalls(client)) {
    const sentence = await callForSentence(client, name, { ...ADDED, ...args })
    assert.match(sentence, /\(ignored: toolCallId, tool, sessionId, action, chatInput, _meta, _x\)$/, name)
  }
  const sender = await open(t, TOKENS.all)
  const document = { ...PARTIES, name: 'nota.txt', text: 'hola' }
  assert.match(
    await callForSentence(sender, 'upload_document', { ...document, ...ADDED }),
    /stored\. \(ignored: /,
  )
  const plain = await callForValue(client, 'get_rate')
  assert.deepEqual(await callForValue(client, 'get_rate', ADDED), plain)
  assert.doesNotMatch((await call(client, 'get_rate', {})).content[0]?.text ?? '', /ignored/)
})

test('a call of n8n is answered, and a parameter is never ignored', async () => {
  const text =
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_rate","arguments":{"base":"USD",' +
    '"quote":"CRC","toolCallId":"call_1"}}}'
  const { body } = await send(app, text)
  assert.equal(body.result.structuredContent.pair, 'USD/CRC')
  const read = legacy('tools/call', { name: 'read_document', arguments: { id: 1, toolCallId: 'call_1' } })
  const { body: answer } = await send(app, read, bearer(TOKENS.work))
  assert.equal(answer.result.structuredContent.id, 1)
  const { body: list } = await send(app, legacy('tools/list'), bearer(TOKENS.all))
  const names = list.result.tools.flatMap((one: Json) => Object.keys(one.inputSchema.properties))
  assert.ok(names.length > 50)
  assert.ok(names.every((name: string) => !Object.hasOwn(ADDED, name) && !name.startsWith('_')))
})

test('a reading tool ignores other unknown arguments of any value', async (t) => {
  const client = await open(t)
  const strangers: [string, Json][] = [
    ['get_rate', { xyzzy: 1 }],
    ['get_rate', { constructor: 'x', toString: { a: [1.5] } }],
    ['get_rate', { token: 'a', total: 1, sources: 2 }],
    ['get_rates_on', { conversation: { id: 7 }, temperature: 0.2 }],
    ['get_history', { metadata: { user: 'ana' }, stream: true }],
    ['freshness', { now: '2026-03-24', limit: 5 }],
    ['list_documents', { reasoning: '', thought: 'first the list' }],
    ['read_document', { id: 1, thread_id: 'a', run_id: 2, user: 'ana' }],
    ['wait_for_documents', { wait: 0, model: 'x' }],
  ]
  for (const [name, args] of strangers) {
    const sentence = await callForSentence(client, name, args)
    const ignored = Object.keys(args).filter((one) => one !== 'id' && one !== 'wait')
    assert.ok(sentence.endsWith(` (ignored: ${ignored.join(', ')})`), `${name}: ${sentence}`)
  }
  assert.doesNotMatch(await callForSentence(client, 'get_rate', { xyzzy: null }), /ignored/)
})

test('a reading tool rejects an argument that resembles a parameter, and then names all', async (t) => {
  const client = await open(t)
  const misspelt: [string, Json, RegExp][] = [
    ['get_rate', { date: '2026-03-22' }, /^there is no parameter date: did you mean on/],
    ['get_rate', { fecha: '2026-03-22', xyzzy: 1 }, /did you mean on\?; there is no parameter xyzzy/],
    ['get_rate', { bases: { code: 'EUR' } }, /^there is no parameter bases: did you mean base/],
    ['get_rate', { from: 'EUR' }, /^there is no parameter from: this tool has base, quote, /],
    ['get_rate', { to: 'JPY', token: 'a' }, /^there is no parameter to: this tool has base, quote, /],
    ['get_rates_on', { sourceCurrency: 'EUR' }, /^there is no parameter sourceCurrency: /],
    ['get_rate', { base_currency: 'EUR' }, /did you mean base/],
    ['get_rate', { currency: 'EUR' }, /did you mean base/],
    ['get_rate', { pair: 'EUR/USD' }, /did you mean base/],
    ['get_rates_on', { exactly: true }, /did you mean exact/],
    ['get_history', { desde: '2026-01-01' }, /did you mean from/],
    ['get_history', { start_date: '2026-01-01' }, /did you mean from/],
    ['get_history', { endDate: '2026-01-01' }, /did you mean to/],
    ['get_history', { date_from: '2026-01-01' }, /did you mean from/],
    ['rate_statistics', { until: '2026-01-01' }, /did you mean to/],
    ['convert', { amount: 1, from: 'EUR', to: 'CRC', side: 'compra' }, /did you mean type/],
    ['convert', { amont: 1, from: 'EUR', to: 'CRC' }, /did you mean amount/],
    ['list_documents', { agent: 1 }, /did you mean agent_id/],
    ['list_documents', { status: 'new' }, /did you mean state/],
    ['list_documents', { query: 'factura' }, /did you mean q/],
    ['list_documents', { cursor: 3 }, /did you mean after/],
    ['wait_for_documents', { waits: 0 }, /did you mean wait/],
    ['read_document', { document_id: 1 }, /id is required; .*document_id: did you mean id/],
    ['read_document', { id: 1, ofset: 2 }, /did you mean offset/],
    ['get_rate', { on: 'never', xyzzy: 1 }, /^on must be .*; there is no parameter xyzzy: this tool has /],
  ]
  for (const [name, args, text] of misspelt) assert.match(await callForError(client, name, args), text)
})

test('a reading tool rejects a day, a pair and a period under any name', async (t) => {
  const client = await open(t)
  const others: [string, string][] = [
    ['get_rate', 'rate_date rateDate as_of asOf effective_date dia when currency_code currencyCode'],
    ['get_rate', 'currency_from currency_to symbol symbols moneda from_code toCode'],
    ['get_rates_on', 'symbols currencies codes fecha'],
    ['convert', 'as_of precision date'],
    ['get_history', 'date fecha day'],
    ['list_documents', 'since from to date desde fecha_desde date_from'],
    ['wait_for_documents', 'since'],
  ]
  for (const [tool, names] of others)
    for (const name of names.split(' ')) {
      const args = tool === 'convert' ? { amount: 1, from: 'EUR', to: 'CRC' } : {}
      const error = await callForError(client, tool, { ...args, [name]: '2026-03-20' })
      assert.ok(error.includes(`there is no parameter ${name}: `), `${tool} ${name}: ${error}`)
    }
})

test('a writing tool rejects every other unknown argument, and writes nothing', async (t) => {
  const client = await open(t)
  await post(app, CREATE, batch(pdf('adiós')))
  const { documents } = await callForValue(client, 'claim_documents', { agent_id: 1 })
  const { id, claim_id } = documents[0]
  const finish = { id, claim_id, outcome: 'done' }
  const wrong: [string, Json, RegExp][] = [
    ['finish_document', { ...finish, notes: 'paid' }, /^there is no parameter notes: did you mean note/],
    ['finish_document', { ...finish, comment: 'paid' }, /^there is no parameter comment: this tool has id, /],
    ['finish_document', { ...finish, comment: { a: 1.5 } }, /^there is no parameter comment: this tool has/],
    ['finish_document', { ...finish, toolCallId: 'a', xyzzy: 1 }, /^there is no parameter xyzzy: this tool/],
    ['release_document', { id, claim_id, reason: '' }, /^there is no parameter reason: this tool has id, /],
    ['extend_document', { id, claim_id, minutes: 5 }, /^there is no parameter minutes: this tool has id, /],
    ['claim_documents', { agent_id: 1, priority: 1 }, /^there is no parameter priority: this tool has /],
  ]
  for (const [name, args, text] of wrong) assert.match(await callForError(client, name, args), text)
  const sender = await open(t, TOKENS.all)
  const document = { ...PARTIES, name: 'nota.txt', text: 'hola', folder: 'a' }
  assert.match(await callForError(sender, 'upload_document', document), /^there is no parameter folder: /)
  const { state } = await callForValue(client, 'finish_document', { ...finish, note: '', result: '' })
  assert.equal(state, 'done')
})

test('ignored names are one clean line, cut with the whole sentence to 300 characters', async (t) => {
  const client = await open(t)
  const names = ['a\nb', '\u202eevil\u0000', '', 'x'.repeat(500), `${'😀'.repeat(60)}`, '\ud800']
  for (const name of names) {
    const sentence = await callForSentence(client, 'get_rate', { [name]: 1 })
    assert.match(sentence, /^USD\/CRC of .* \(ignored: \S.*\)$/u, name)
    assert.doesNotMatch(sentence, /[\p{Cc}\p{Cf}]/u)
  }
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`zz${at}`, at]))
  assert.match(await callForSentence(client, 'get_rate', many), /^USD\/CRC of .* \(ignored: zz0, zz1, .*…\)$/)
})

test('an empty text of an optional argument counts as absent', async (t) => {
  const client = await open(t)
  await callForValue(client, 'claim_documents', { agent_id: 1, limit: 10 })
  const empty = (...names: string[]) => Object.fromEntries(names.map((name) => [name, '']))
  const calls: [string, Json, Json][] = [
    ['get_rate', { base: 'USD', quote: 'CRC' }, empty('on')],
    ['get_rate', {}, empty('base', 'quote', 'on', 'provider')],
    ['get_rates_on', {}, empty('on', 'provider', 'base', 'quote', 'exact', 'after')],
    [
      'convert',
      { amount: 1, from: 'USD', to: 'CRC' },
      empty('items', 'on', 'type', 'provider', 'decimals', 'rounding', 'details'),
    ],
    ['convert', { items: [{ amount: 1, from: 'USD', to: 'CRC' }] }, empty('amount', 'from', 'to', 'on')],
    ['get_history', {}, empty('series_id', 'base', 'quote', 'type', 'from', 'to', 'every', 'stat')],
    ['rate_statistics', {}, empty('series_id', 'base', 'quote', 'type', 'provider', 'from', 'to')],
    ['list_series', {}, empty('provider', 'base', 'quote', 'only_enabled', 'after')],
    [
      'list_documents',
      {},
      empty('company_id', 'agent_id', 'limit', 'state', 'q', 'clave', 'issuer', 'kind', 'order', 'after'),
    ],
    ['list_documents', { order: 'desc' }, empty('after', 'before', 'summary')],
    ['read_document', { id: 1 }, empty('offset')],
    ['wait_for_documents', { wait: 0 }, empty('company_id', 'agent_id', 'limit', 'after')],
    ['claim_documents', { agent_id: 1 }, empty('agent_ids', 'limit', 'lease_seconds', 'wait')],
  ]
  for (const [name, args, more] of calls) {
    const value = await callForValue(client, name, args)
    assert.deepEqual(await callForValue(client, name, { ...args, ...more }), value, name)
  }
  const item = { amount: 1, from: 'USD', to: 'CRC' }
  const { results } = await callForValue(client, 'convert', {
    items: [item, { ...item, on: '', type: '', provider: '', decimals: '', rounding: '' }],
    type: 'compra',
  })
  assert.deepEqual(results[1], results[0])
  assert.equal(results[1].rate_type, 'compra')
})

test('an empty text of a required argument, and of a free text, is an error', async (t) => {
  const client = await open(t, TOKENS.all)
  const wrong: [string, Json, RegExp][] = [
    ['convert', { amount: '', from: 'USD', to: 'CRC' }, /^amount is required/],
    ['convert', { items: [], from: '', on: ' ' }, /^on must be a calendar day/],
    ['read_document', { id: '' }, /^id must be an integer/],
    ['upload_document', { ...PARTIES, name: 'a.txt', text: '' }, /^text must be 1 to 32768 bytes/],
    ['upload_document', { ...PARTIES, name: '', text: 'hola' }, /name/],
    ['upload_document', { ...PARTIES, name: 'a.txt', mimetype: '' }, /^mimetype is required without text/],
  ]
  for (const [name, args, text] of wrong) assert.match(await callForError(client, name, args), text)
  const { mimetype } = await callForValue(client, 'upload_document', {
    ...{ ...PARTIES, name: 'a.txt', text: 'hola', mimetype: '' },
  })
  assert.equal(mimetype, 'text/plain; charset=utf-8')
  assert.equal((await app.get('/api/v1/rates/latest?on=')).status, 422)
})
