// `cambista mcp` as a client starts it: the official client of both eras over stdin and stdout, and lines that it would not
// send.

import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { secretsOf } from '../../../../src/cli/commands/mcp/relay.ts'
import {
  connect,
  ERAS,
  type Era,
  type Json,
  RATE_TOOLS,
  READ_TOOLS,
  refusalOf,
  toolsOf,
  valueFrom,
  WAIT_TOOLS,
  WORK_TOOLS,
} from '../../../api/mcp/support.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../../support/directory.ts'
import { startProgram } from '../../../support/program.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand, until } from '../../../support/terminal.ts'

const ENTRY = join(import.meta.dirname, '../../../support/cambista.ts')
const ON = '2026-03-22'
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await app.sync()
  await fillDirectory(app)
})

function started(...words: string[]): StdioClientTransport {
  const env = { PATH: process.env.PATH ?? '' }
  return new StdioClientTransport({ command: process.execPath, args: [ENTRY, 'mcp', ...words], env })
}

/** The file of secrets, and the words that name it and the server. */
function asking(t: TestContext, secrets: string, url = app.app.url): string[] {
  const file = join(temporaryDirectory(t), 'secrets')
  writeFileSync(file, secrets)
  return ['--url', url, '--key-file', file]
}

/** What is answered to lines, and how the program ends when there are no more. */
async function answersTo(t: TestContext, words: string[], lines: string[], env = {}) {
  const program = startProgram(t, ['mcp', ...words], env)
  program.child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const code = await program.ended()
  const answers = program.printed.out.trim().split('\n').filter(Boolean)
  return { code, answers: answers.map((line) => JSON.parse(line) as Json), err: program.printed.err }
}

const request = (id: number | string, method: string, params: Json = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const called = (id: number | string, name: string, args: Json = {}) =>
  request(id, 'tools/call', { name, arguments: args })

for (const era of Object.keys(ERAS) as Era[]) {
  test(`${era}: with --url a key and a token open all that they open over HTTP`, async (t) => {
    const words = asking(t, `${app.key}\n\n  ${TOKENS.work}\r\n`)
    const client = await connect(t, era, { transport: started(...words) })
    assert.deepEqual(await toolsOf(client), [...RATE_TOOLS, ...READ_TOOLS, ...WAIT_TOOLS, ...WORK_TOOLS])
    assert.deepEqual(
      await valueFrom(client, 'get_rate', { base: 'EUR', quote: 'USD', on: ON }),
      await app.json(`/api/v1/rates/latest?base=EUR&quote=USD&on=${ON}`),
    )
    await post(app, CREATE, batch(pdf('hola')))
    const { documents } = await valueFrom(client, 'claim_documents', { agent_id: 1, limit: 10 })
    const { id, claim_id } = documents.at(-1)
    assert.equal((await valueFrom(client, 'read_document', { id })).base64, 'aG9sYQ==')
    assert.equal(
      (await valueFrom(client, 'finish_document', { id, claim_id, outcome: 'done' })).state,
      'done',
    )
    const { contents } = await client.readResource({ uri: `cambista://documents/${id}` })
    assert.equal((contents[0] as { blob: string }).blob, 'aG9sYQ==')
    await assert.rejects(client.callTool({ name: 'niño €', arguments: {} }), /There is no tool/)
  })

  test(`${era}: without --url it reads the data directory beside the server, and works on nothing`, async (t) => {
    const client = await connect(t, era, { transport: started('--data-dir', app.dataDir) })
    assert.deepEqual(await toolsOf(client), [...RATE_TOOLS, ...READ_TOOLS])
    assert.deepEqual(
      await valueFrom(client, 'get_rates_on', { on: ON, base: 'USD', quote: 'CRC', exact: true }).then(
        ({ rates }) => rates.map(({ value }: Json) => value),
      ),
      (await app.json<Json[]>(`/api/v1/rates?on=${ON}&base=USD&quote=CRC`)).map(({ value }) => value),
    )
    const response = await post(app, CREATE, batch({ name: 'a', mimetype: 'text/plain', base64: 'aG9sYQ==' }))
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    const id = created_documents[0]?.id ?? 0
    assert.equal((await valueFrom(client, 'read_document', { id })).text, 'hola')
    assert.equal((await valueFrom(client, 'list_documents', { after: id - 1 })).documents[0].id, id)
    assert.equal((await valueFrom(client, 'freshness')).exact, true)
    assert.match(await refusalOf(client, 'get_rate', { on: '1990-01-01' }), /No rate of USD\/CRC is stored/)
  })
}

test('the key and the token may be in CAMBISTA_KEY and CAMBISTA_TOKEN, below --key-file', async (t) => {
  const names = async (env: Record<string, string>, words = ['--url', app.app.url]) => {
    const list = [request(1, 'initialize', INITIALIZE), request(2, 'tools/list')]
    const { code, answers, err } = await answersTo(t, words, list, env)
    assert.equal(code, 0, err)
    return answers.at(-1)?.result?.tools?.map(({ name }: Json) => name)
  }
  const [key, token] = [app.key, TOKENS.work]
  assert.deepEqual(await names({ CAMBISTA_KEY: key }), RATE_TOOLS)
  assert.deepEqual(await names({ CAMBISTA_TOKEN: ` ${token}\n` }), [
    ...READ_TOOLS,
    ...WAIT_TOOLS,
    ...WORK_TOOLS,
  ])
  const both = [...RATE_TOOLS, ...READ_TOOLS, ...WAIT_TOOLS, ...WORK_TOOLS]
  assert.deepEqual(await names({ CAMBISTA_KEY: key, CAMBISTA_TOKEN: token }), both)
  const inFile = asking(t, `${key}\n`)
  assert.deepEqual(await names({ CAMBISTA_KEY: 'cbk_other', CAMBISTA_TOKEN: token }, inFile), RATE_TOOLS)
})

test('what is no key or token in the variables is named, and not shown', async () => {
  for (const [env, expected] of [
    [{}, /--url needs --key-file, or a key in CAMBISTA_KEY or a token in CAMBISTA_TOKEN/],
    [{ CAMBISTA_KEY: '', CAMBISTA_TOKEN: '' }, /--url needs --key-file/],
    [{ CAMBISTA_KEY: 'cbt_secret' }, /CAMBISTA_KEY is not a key \(cbk_…\)/],
    [{ CAMBISTA_TOKEN: 'cbt_secret text' }, /CAMBISTA_TOKEN is not a token \(cbt_…\)/],
  ] as const) {
    assert.throws(
      () => secretsOf(env),
      (error: Error) => expected.test(error.message) && !/secret/.test(error.message),
    )
  }
})

test('what another process stores is seen at the next call', async (t) => {
  const other = await startTestApp(t)
  const client = await connect(t, 'modern', { transport: started('--data-dir', other.dataDir) })
  assert.match(await refusalOf(client, 'get_rate', { on: ON }), /No rate/)
  await other.sync()
  assert.equal((await valueFrom(client, 'get_rate', { on: ON })).rate_date, ON)
})

test('stdout has answers alone, in the order in which they are ready; bad lines end nothing', async (t) => {
  const lines = [
    request(1, 'initialize', INITIALIZE),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '',
    'nonsense',
    '[]',
    `{"x":"${'x'.repeat(70_000)}"}`,
    called('two', 'get_rate', { on: ON }),
    request(3, 'ping'),
    called(4, 'no_such_tool'),
  ]
  for (const words of [['--data-dir', app.dataDir], asking(t, app.key)]) {
    const { code, answers, err } = await answersTo(t, words, lines)
    assert.equal(code, 0, err)
    const byId = (id: unknown) => answers.filter((one) => one.id === id)
    assert.equal(answers.length, 7, JSON.stringify(answers))
    assert.deepEqual(
      byId(null)
        .map(({ error }) => error.code)
        .sort(),
      [-32600, -32700, -32700],
    )
    assert.equal(byId(1)[0]?.result.protocolVersion, '2025-11-25')
    assert.equal(byId('two')[0]?.result.structuredContent.rate_date, ON)
    assert.deepEqual(byId(3)[0]?.result, {})
    assert.equal(byId(4)[0]?.error.code, -32602)
  }
})

test('what a server refuses is the answer to the request that was refused', async (t) => {
  const wrong = await answersTo(t, asking(t, 'cbk_wrong'), [
    request(7, 'tools/list'),
    '{"jsonrpc":"2.0","method":"x"}',
  ])
  assert.deepEqual(
    wrong.answers.map(({ id, error }) => [id, error.code]),
    [[7, 401]],
  )
  const nobody = await answersTo(t, asking(t, 'cbk_x', 'http://127.0.0.1:9'), [request(8, 'tools/list')])
  assert.match(nobody.answers[0]?.error.message, /^http:\/\/127.0.0.1:9\/mcp cannot be reached: fetch failed/)
  const elsewhere = await answersTo(t, asking(t, app.key, `${app.app.url}/api/v1/health`), [
    request(9, 'tools/list'),
  ])
  assert.match(elsewhere.answers[0]?.error.message, /answered 404, and no MCP$/)
})

test('a message over the limit is refused under its id, wherever the id is in it', async (t) => {
  const long = 'x'.repeat(300_000)
  const { answers } = await answersTo(
    t,
    ['--data-dir', app.dataDir],
    [
      `{"jsonrpc":"2.0","id":1,"method":"${long}"}`,
      `{"method":"tools/call","params":{"id":9,"a":"${long}"},"jsonrpc":"2.0","id":"two"}`,
      `{"params":["${long}",{"id":9}],"id": 3 ,"x":"${long}"}`,
      `{"id":4,"x":"${long}"`,
      `{"id":5.5,"x":"${long}"}`,
      `{"id":"${long}"}`,
      request(6, 'ping'),
    ],
  )
  const errors = answers.map(({ id, error }) => [id, error?.message])
  const message = 'A message must be at most 65536 bytes'
  assert.deepEqual(errors, [
    [1, message],
    ['two', message],
    [3, message],
    [null, message],
    [null, message],
    [null, message],
    [6, undefined],
  ])
})

test('a wait that is cancelled frees its place and is not answered', async (t) => {
  const program = startProgram(t, ['mcp', ...asking(t, TOKENS.read)])
  const { stdin } = program.child
  const waited = () => app.logged.filter((line) => line.includes('"waited"')).length
  const before = waited()
  stdin.write(`${called(1, 'wait_for_documents', { after: 999_999, wait: 50 })}\n${request(2, 'ping')}\n`)
  await program.says(/"id":2/)
  stdin.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  await until(() => waited() > before)
  stdin.end()
  assert.equal(await program.ended(), 0)
  assert.doesNotMatch(program.printed.out, /"id":1,/)
})

test('SIGTERM and the end of stdin end it, also while it waits', async (t) => {
  for (const end of ['SIGTERM', 'stdin'] as const) {
    const program = startProgram(t, ['mcp', ...asking(t, TOKENS.read)])
    program.child.stdin.write(
      `${called(1, 'wait_for_documents', { after: 999_999, wait: 50 })}\n${request(2, 'ping')}\n`,
    )
    await program.says(/"id":2/)
    if (end === 'stdin') program.child.stdin.end()
    else program.child.kill('SIGTERM')
    assert.equal(await program.ended(), 0, end)
  }
})

test('it says what is wrong with its words, and shows no secret', async (t) => {
  const dir = temporaryDirectory(t)
  const file = (text: string) => {
    const path = join(dir, `file ${text.length}`)
    writeFileSync(path, text)
    return ['--url', 'http://127.0.0.1:9', '--key-file', path]
  }
  const cases: [string[], number, RegExp][] = [
    [['--url', 'http://127.0.0.1:9'], 2, /--url needs --key-file/],
    [['--key-file', 'x'], 2, /--key-file goes with --url/],
    [['--url', 'http://127.0.0.1:9', '--key-file', join(dir, 'none')], 1, /cannot read .*none/],
    [file(''), 1, /file 0 is empty: it must have a key/],
    [file('cbk_a\nsecret-text'), 1, /line 2 of .* is neither a key \(cbk_…\) nor a token \(cbt_…\)/],
    [file('cbk_a\ncbk_b\n'), 1, /has two keys: it may have one of each/],
    [file('cbk_a b'), 1, /line 1 of .* is neither/],
    [['--data-dir', join(dir, 'data')], 1, /there is no cambista database in .*data: check --data-dir/],
  ]
  for (const [words, code, text] of cases) {
    const program = startProgram(t, ['mcp', ...words])
    program.child.stdin.end()
    assert.equal(await program.ended(), code, words.join(' '))
    assert.match(program.printed.err, text)
    assert.doesNotMatch(program.printed.err + program.printed.out, /secret-text|cbk_[ab]/)
  }
  assert.equal((await runCommand(['mcp', '--help'])).code, 0)
})

test('it changes nothing in the data directory', async (t) => {
  const quiet = await startTestApp(t)
  await quiet.app.close()
  const at = () => statSync(join(quiet.dataDir, 'cambista.db')).mtimeMs
  const before = at()
  const { code } = await answersTo(t, ['--data-dir', quiet.dataDir], [called(1, 'list_series')])
  assert.deepEqual([code, at()], [0, before])
})
