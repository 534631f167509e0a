// `cambista mcp` over stdin and stdout: with the official client of both eras, and with invalid lines.

import assert from 'node:assert/strict'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { readSecretsEnv } from '../../../../../src/cli/commands/mcp/relay.ts'
import {
  callForError,
  callForValue,
  connect,
  ERAS,
  type Era,
  type Json,
  listToolNames,
  RATE_TOOLS,
  READ_TOOLS,
  WAIT_TOOLS,
  WORK_TOOLS,
} from '../../../../api/mcp/support.ts'
import { startTestApp, type TestApp } from '../../../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../../../support/directory.ts'
import { PROGRAM_ENV, startProgram } from '../../../../support/program.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

const ENTRY = join(import.meta.dirname, '../../../../support/cambista.ts')
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

function mcpTransport(...words: string[]): StdioClientTransport {
  const args = [ENTRY, 'mcp', ...words]
  return new StdioClientTransport({ command: process.execPath, args, env: PROGRAM_ENV })
}

/** Writes a file of secrets. Returns the flags with it and the URL of the server. */
function serverFlags(t: TestContext, secrets: string, url = app.app.url): string[] {
  const file = join(temporaryDirectory(t), 'secrets')
  writeFileSync(file, secrets)
  return ['--url', url, '--key-file', file]
}

/** Starts `mcp`, sends lines and closes stdin. Returns the answers and the exit code. */
async function exchangeLines(t: TestContext, words: string[], lines: string[], env = {}) {
  const program = startProgram(t, ['mcp', ...words], env)
  program.child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const code = await program.waitForExit()
  const answers = program.printed.out.trim().split('\n').filter(Boolean)
  return { code, answers: answers.map((line) => JSON.parse(line) as Json), err: program.printed.err }
}

const request = (id: number | string, method: string, params: Json = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const toolCall = (id: number | string, name: string, args: Json = {}) =>
  request(id, 'tools/call', { name, arguments: args })

for (const era of Object.keys(ERAS) as Era[]) {
  test(`${era}: \`mcp --url\` has all tools of the key and the token, as over HTTP`, async (t) => {
    const words = serverFlags(t, `${app.key}\n\n  ${TOKENS.work}\r\n`)
    const client = await connect(t, era, { transport: mcpTransport(...words) })
    assert.deepEqual(await listToolNames(client), [
      ...RATE_TOOLS,
      ...READ_TOOLS,
      ...WAIT_TOOLS,
      ...WORK_TOOLS,
    ])
    assert.deepEqual(
      await callForValue(client, 'get_rate', { base: 'EUR', quote: 'USD', on: ON }),
      await app.json(`/api/v1/rates/latest?base=EUR&quote=USD&on=${ON}`),
    )
    await post(app, CREATE, batch(pdf('hola')))
    const { documents } = await callForValue(client, 'claim_documents', { agent_id: 1, limit: 10 })
    const { id, claim_id } = documents.at(-1)
    assert.equal((await callForValue(client, 'read_document', { id })).base64, 'aG9sYQ==')
    assert.equal(
      (await callForValue(client, 'finish_document', { id, claim_id, outcome: 'done' })).state,
      'done',
    )
    const { contents } = await client.readResource({ uri: `cambista://documents/${id}` })
    assert.equal((contents[0] as { blob: string }).blob, 'aG9sYQ==')
    await assert.rejects(client.callTool({ name: 'niño €', arguments: {} }), /There is no tool/)
  })

  test(`${era}: \`mcp --data-dir\` reads the data directory beside the server, and has no writing tools`, async (t) => {
    const client = await connect(t, era, { transport: mcpTransport('--data-dir', app.dataDir) })
    assert.deepEqual(await listToolNames(client), [...RATE_TOOLS, ...READ_TOOLS])
    assert.deepEqual(
      await callForValue(client, 'get_rates_on', { on: ON, base: 'USD', quote: 'CRC', exact: true }).then(
        ({ rates }) => rates.map(({ value }: Json) => value),
      ),
      (await app.json<Json[]>(`/api/v1/rates?on=${ON}&base=USD&quote=CRC`)).map(({ value }) => value),
    )
    const response = await post(app, CREATE, batch({ name: 'a', mimetype: 'text/plain', base64: 'aG9sYQ==' }))
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    const id = created_documents[0]?.id ?? 0
    assert.equal((await callForValue(client, 'read_document', { id })).text, 'hola')
    const [row] = (await callForValue(client, 'list_documents', { after: id - 1 })).documents
    assert.deepEqual([row.id, row.company, row.agent], [id, 'Acme S.A.', 'Lector'])
    assert.match(
      await callForError(client, 'list_documents', { summary: true }),
      /^summary needs the server: start cambista mcp with --url/,
    )
    assert.equal((await callForValue(client, 'freshness')).exact, true)
    assert.match(
      await callForError(client, 'get_rate', { on: '1990-01-01' }),
      /No rate of USD\/CRC is stored/,
    )
  })
}

test('`mcp` reads CAMBISTA_KEY and CAMBISTA_TOKEN, and --key-file overrides them', async (t) => {
  const names = async (env: Record<string, string>, words = ['--url', app.app.url]) => {
    const list = [request(1, 'initialize', INITIALIZE), request(2, 'tools/list')]
    const { code, answers, err } = await exchangeLines(t, words, list, env)
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
  const inFile = serverFlags(t, `${key}\n`)
  assert.deepEqual(await names({ CAMBISTA_KEY: 'cbk_other', CAMBISTA_TOKEN: token }, inFile), RATE_TOOLS)
})

test('`mcp` rejects a wrong CAMBISTA_KEY or CAMBISTA_TOKEN without its value', async () => {
  for (const [env, expected] of [
    [{}, /--url needs --key-file, or a key in CAMBISTA_KEY or a token in CAMBISTA_TOKEN/],
    [{ CAMBISTA_KEY: '', CAMBISTA_TOKEN: '' }, /--url needs --key-file/],
    [{ CAMBISTA_KEY: 'cbt_secret' }, /CAMBISTA_KEY is not a key \(cbk_…\)/],
    [{ CAMBISTA_TOKEN: 'cbt_secret text' }, /CAMBISTA_TOKEN is not a token \(cbt_…\)/],
  ] as const) {
    assert.throws(
      () => readSecretsEnv(env),
      (error: Error) => expected.test(error.message) && !/secret/.test(error.message),
    )
  }
})

test('`mcp --data-dir` reads the rates that another process stores', async (t) => {
  const other = await startTestApp(t)
  const client = await connect(t, 'modern', { transport: mcpTransport('--data-dir', other.dataDir) })
  assert.match(await callForError(client, 'get_rate', { on: ON }), /No rate/)
  await other.sync()
  assert.equal((await callForValue(client, 'get_rate', { on: ON })).rate_date, ON)
})

test('`mcp` writes nothing but answers to stdout, and continues after bad lines', async (t) => {
  const lines = [
    request(1, 'initialize', INITIALIZE),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '',
    'nonsense',
    '[]',
    `{"x":"${'x'.repeat(70_000)}"}`,
    toolCall('two', 'get_rate', { on: ON }),
    request(3, 'ping'),
    toolCall(4, 'no_such_tool'),
  ]
  for (const words of [['--data-dir', app.dataDir], serverFlags(t, app.key)]) {
    const { code, answers, err } = await exchangeLines(t, words, lines)
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

test('`mcp` answers each older revision, and a call with arguments that clients add', async (t) => {
  const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
  const clientInfo = { name: 'x', version: '1' }
  const lines = [
    ...revisions.map((protocolVersion) =>
      request(protocolVersion, 'initialize', { protocolVersion, capabilities: {}, clientInfo }),
    ),
    toolCall(3, 'get_rate', { base: 'USD', quote: 'CRC', toolCallId: 'call_1', tool: { name: 'a' } }),
    toolCall(5, 'get_rate', { base: 'USD', quote: 'CRC', on: '' }),
  ]
  for (const words of [
    ['--data-dir', app.dataDir],
    serverFlags(t, app.key),
    serverFlags(t, app.key, `${app.app.url}/mcp/`),
  ]) {
    const { answers, err } = await exchangeLines(t, words, lines)
    const results = new Map(answers.map(({ id, result }) => [id, result]))
    assert.equal(results.size, lines.length, err)
    for (const one of revisions) assert.equal(results.get(one).protocolVersion, one)
    assert.match(results.get(3).content[0].text, /^USD\/CRC of .* \(ignored: toolCallId, tool\)$/)
    assert.deepEqual(results.get(3).structuredContent, results.get(5).structuredContent)
  }
})

test('`mcp --url` answers a request with the error of the server', async (t) => {
  const wrong = await exchangeLines(t, serverFlags(t, 'cbk_wrong'), [
    request(7, 'tools/list'),
    '{"jsonrpc":"2.0","method":"x"}',
  ])
  assert.deepEqual(
    wrong.answers.map(({ id, error }) => [id, error.code]),
    [[7, 401]],
  )
  const nobody = await exchangeLines(t, serverFlags(t, 'cbk_x', 'http://127.0.0.1:9'), [
    request(8, 'tools/list'),
  ])
  assert.match(nobody.answers[0]?.error.message, /^http:\/\/127.0.0.1:9\/mcp cannot be reached: fetch failed/)
  const elsewhere = await exchangeLines(t, serverFlags(t, app.key, `${app.app.url}/api/v1/health`), [
    request(9, 'tools/list'),
  ])
  assert.match(elsewhere.answers[0]?.error.message, /answered 404, and no MCP$/)
})

test('`mcp` refuses a message over the limit with its id, at any position of the id', async (t) => {
  const long = 'x'.repeat(300_000)
  const { answers } = await exchangeLines(
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

test('`mcp --url` ends a cancelled wait without an answer', async (t) => {
  const program = startProgram(t, ['mcp', ...serverFlags(t, TOKENS.read)])
  const { stdin } = program.child
  const countEndedWaits = () => app.logLines.filter((line) => line.includes('"waited"')).length
  const before = countEndedWaits()
  stdin.write(`${toolCall(1, 'wait_for_documents', { after: 999_999, wait: 50 })}\n${request(2, 'ping')}\n`)
  await program.waitForOutput(/"id":2/)
  stdin.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  await until(() => countEndedWaits() > before)
  stdin.end()
  assert.equal(await program.waitForExit(), 0)
  assert.doesNotMatch(program.printed.out, /"id":1,/)
})

test('`mcp` exits at SIGTERM and at the end of stdin, also during a wait', async (t) => {
  for (const end of ['SIGTERM', 'stdin'] as const) {
    const program = startProgram(t, ['mcp', ...serverFlags(t, TOKENS.read)])
    program.child.stdin.write(
      `${toolCall(1, 'wait_for_documents', { after: 999_999, wait: 50 })}\n${request(2, 'ping')}\n`,
    )
    await program.waitForOutput(/"id":2/)
    if (end === 'stdin') program.child.stdin.end()
    else program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0, end)
  }
})

test('`mcp` warns about a file of secrets that other users can open', async (t) => {
  const words = serverFlags(t, `${app.key}\n`)
  const file = words.at(-1) ?? ''
  for (const [mode, warning] of [
    [0o600, ''],
    [0o644, `${file} can be opened by other users (mode 0644): chmod 600 ${file}\n`],
  ] as const) {
    chmodSync(file, mode)
    const { code, err } = await exchangeLines(t, words, [request(1, 'initialize', INITIALIZE)])
    assert.deepEqual([code, err], [0, warning])
  }
})

test('`mcp` reports wrong flags and key files without the secrets', async (t) => {
  const dir = temporaryDirectory(t)
  const file = (text: string) => {
    const path = join(dir, `file ${text.length}`)
    writeFileSync(path, text)
    return ['--url', 'http://127.0.0.1:9', '--key-file', path]
  }
  const cases: [string[], number, RegExp][] = [
    [['--url', 'http://127.0.0.1:9'], 2, /--url needs --key-file/],
    [['--key-file', 'x'], 2, /--key-file needs --url/],
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
    assert.equal(await program.waitForExit(), code, words.join(' '))
    assert.match(program.printed.err, text)
    assert.doesNotMatch(program.printed.err + program.printed.out, /secret-text|cbk_[ab]/)
  }
  assert.equal((await runCommand(['mcp', '--help'])).code, 0)
})

test('`mcp` does not write to the database', async (t) => {
  const quiet = await startTestApp(t)
  await quiet.app.close()
  const readMtime = () => statSync(join(quiet.dataDir, 'cambista.db')).mtimeMs
  const before = readMtime()
  const { code } = await exchangeLines(t, ['--data-dir', quiet.dataDir], [toolCall(1, 'list_series')])
  assert.deepEqual([code, readMtime()], [0, before])
})
