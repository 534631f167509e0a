// MCP clients by others: the official SDK of each older revision, and the Inspector on its command line.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openApp } from '../api/support.ts'
import { temporaryDirectory } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../support/directory.ts'
import { sampleInvoice } from '../support/documents/invoice-xml.ts'
import { runProgram } from './support.ts'

type Result = { content: { text: string }[]; structuredContent?: Record<string, unknown>; isError?: boolean }
type Told = { name: string; tools: string[]; results: Result[]; resources: string[] }

const ON = '2026-03-22'
const ROOT = join(import.meta.dirname, '../..')
const INSPECTOR = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'
const BOTH = [
  'get_rate get_rates_on convert get_history rate_statistics list_series freshness',
  'list_documents read_document rate_for_document wait_for_documents',
  'claim_documents finish_document extend_document release_document',
]
  .join(' ')
  .split(' ')

const app = await openApp()
await app.sync()
await fillDirectory(app)
const headers = { 'X-API-Key': app.key, Authorization: `Bearer ${TOKENS.work}` }
const url = `${app.app.url}/mcp`

async function upload(document = pdf('hola')): Promise<number> {
  const response = await post(app, CREATE, batch(document))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return created_documents[0]?.id ?? 0
}

const invoiceId = await upload({
  name: 'factura.xml',
  mimetype: 'application/xml',
  base64: Buffer.from(sampleInvoice()).toString('base64'),
})

/** Calls of every tool except those that need the claim id of another. */
const toolCalls = (id: number): [string, object][] => [
  ['get_rate', { on: ON }],
  ['get_rates_on', { on: ON }],
  ['convert', { amount: 15000, from: 'JPY', to: 'CRC', on: ON }],
  ['convert', { items: [{ amount: 15000, from: 'JPY', to: 'CRC' }], on: ON }],
  ['get_history', { from: '2026-03-01', to: ON, every: 'month' }],
  ['rate_statistics', { from: '2026-03-01', to: ON }],
  ['list_series', {}],
  ['freshness', {}],
  ['list_documents', { after: id - 1 }],
  ['read_document', { id }],
  ['rate_for_document', { document_id: invoiceId }],
  ['wait_for_documents', { after: id - 1, wait: 1 }],
  ['claim_documents', { agent_id: 1, limit: 10 }],
]

/** Claim id of a document in the answer to claim_documents. */
function findClaimId(answer: Result['structuredContent'], id: number): string | undefined {
  const documents = answer?.documents as { id: number; claim_id: string }[]
  return documents.find((one) => one.id === id)?.claim_id
}

/** The last official SDK of each revision, and the one of 2025-11-25 that the tests pin. */
const SDKS = {
  '2024-11-05': 'mcp-sdk-2024-11-05',
  '2025-03-26': 'mcp-sdk-2025-03-26',
  '2025-06-18': 'mcp-sdk-2025-06-18',
  '2025-11-25': '@modelcontextprotocol/sdk',
}

for (const [revision, sdk] of Object.entries(SDKS)) {
  const run = (target: string, calls: [string, object][]) =>
    runProgram<Told>('mcp-sdk.mjs', [sdk, target, JSON.stringify(headers), JSON.stringify(calls)])
  const entry = [join(ROOT, 'test/support/cambista.ts'), 'mcp']

  /** Calls every tool at a server; the claim of `id` is extended and finished. */
  const callEveryTool = async (target: string) => {
    const id = await upload()
    const calls = toolCalls(id)
    const { name, tools, results, resources } = await run(target, calls)
    assert.deepEqual([name, tools, resources], ['cambista', BOTH, ['cambista://series']])
    for (const [at, { isError, content }] of results.entries()) {
      assert.ok(!isError, `${calls[at]?.[0]}: ${content[0]?.text}`)
    }
    assert.deepEqual(results[0]?.structuredContent, await app.json(`/api/v1/rates/latest?on=${ON}`))
    const converted = await app.json(`/api/v1/convert?amount=15000&from=JPY&to=CRC&on=${ON}`)
    assert.deepEqual(results[2]?.structuredContent, converted)
    const claim_id = findClaimId(results.at(-1)?.structuredContent, id)
    const { results: outcomes } = await run(target, [
      ['extend_document', { id, claim_id, lease_seconds: 60 }],
      ['finish_document', { id, claim_id, outcome: 'done' }],
    ])
    const values = outcomes.map(({ structuredContent }) => structuredContent)
    assert.deepEqual([values[0]?.id, values[1]?.state], [id, 'done'])
  }

  if (revision !== '2024-11-05') {
    test(`the SDK of ${revision} calls every tool over HTTP, and results match the output schemas`, () =>
      callEveryTool(url))
    test(`the SDK of ${revision} calls a tool at the path with a slash`, async () => {
      const { results } = await run(`${url}/`, [['get_rate', { on: ON }]])
      assert.deepEqual(results[0]?.structuredContent, await app.json(`/api/v1/rates/latest?on=${ON}`))
    })
  }

  test(`the SDK of ${revision} calls every tool over stdin, through \`mcp --url\``, async (t) => {
    const file = join(temporaryDirectory(t), 'secrets')
    writeFileSync(file, `${app.key}\n${TOKENS.work}\n`, { mode: 0o600 })
    await callEveryTool(JSON.stringify([...entry, '--url', app.app.url, '--key-file', file]))
  })

  test(`the SDK of ${revision} reads a data directory over stdin`, async () => {
    const calls = toolCalls(await upload()).filter(([name]) => !/wait|claim/.test(name))
    const { tools, results } = await run(JSON.stringify([...entry, '--data-dir', app.dataDir]), calls)
    assert.deepEqual(tools, BOTH.slice(0, 10))
    assert.deepEqual(results[0]?.structuredContent, await app.json(`/api/v1/rates/latest?on=${ON}`))
  })
}

test('the Inspector lists the tools without a complaint, calls them, and reads a resource', async (t) => {
  const home = temporaryDirectory(t)
  const inspect = async (target: string[], ...words: string[]) => {
    const command = [join(import.meta.dirname, INSPECTOR), '--cli', ...target, '--format', 'json']
    const env = { PATH: process.env.PATH ?? '', HOME: home }
    const all = [...command, '--method', ...words]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, all, { env, timeout: 120_000 })
    assert.doesNotMatch(stderr, /warning/i)
    return JSON.parse(stdout).result
  }
  const over = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const http = [url, '--transport', 'http', ...over]
  const file = join(home, 'secrets')
  writeFileSync(file, `${app.key}\n${TOKENS.work}\n`)
  const stdio = [
    process.execPath,
    join(ROOT, 'test/support/cambista.ts'),
    'mcp',
    '--url',
    app.app.url,
    '--key-file',
    file,
  ]
  for (const target of [http, stdio]) {
    const { tools } = await inspect(target, 'tools/list', '--strict')
    assert.deepEqual(
      tools.map(({ name }: { name: string }) => name),
      BOTH,
    )
  }
  const call = async (name: string, args: object): Promise<Result['structuredContent']> => {
    const callWords = ['tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)]
    const { structuredContent, isError } = await inspect(http, ...callWords)
    assert.ok(structuredContent && !isError, name)
    return structuredContent
  }
  const id = await upload()
  let last: Result['structuredContent']
  for (const [name, args] of toolCalls(id)) last = await call(name, args)
  const released = await call('release_document', { id, claim_id: findClaimId(last, id) })
  assert.equal(released?.state, 'new')
  last = await call('claim_documents', { agent_id: 1, limit: 10 })
  const finished = await call('finish_document', { id, claim_id: findClaimId(last, id), outcome: 'done' })
  assert.equal(finished?.state, 'done')
  const { contents } = await inspect(http, 'resources/read', '--uri', 'cambista://series')
  assert.equal(JSON.parse(contents[0].text).length, 47)
})
