import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { updateSecretsUsed } from '../../../../../src/store/access/secret-rows.ts'
import { insertToken, selectActiveTokens, type TokenRow } from '../../../../../src/store/access/tokens.ts'
import { addDays, currentDay } from '../../../../../src/values/dates.ts'
import {
  AGENT,
  COMPANY,
  makeDirectory,
  openTestBlobs,
  runJson,
  storeTexts,
} from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const ALLOW_ALL = ['--allow', 'documents:POST', '--allow', 'agent:POST', '--allow', 'documents:GET']
const today = () => currentDay(() => new Date())

test('`token create` prints the secret once and stores its hash; `token list` omits it; `token revoke` revokes', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const at = ['--data-dir', dataDir]
  const created = await runCommand(['token', 'create', 'erp', ...ALLOW_ALL, ...at])
  assert.equal(created.code, 0)
  assert.match(created.out, /^cbt_[0-9A-Za-z]{36}\n$/)
  assert.match(created.err, /shown only now.*Authorization: Bearer/)
  const token = created.out.trim()
  for (const name of readdirSync(dataDir)) {
    assert.equal(readFileSync(join(dataDir, name)).includes(token), false, `${name} holds the token`)
  }
  const [active] = await selectActiveTokens(temporaryDatabase(t, dataDir))
  assert.deepEqual(active, {
    id: 1,
    name: 'erp',
    hash: createHash('sha256').update(token).digest('hex'),
    allow: ['documents:POST', 'agent:POST', 'documents:GET'],
    expires_at: null,
    company_id: null,
    agent_id: null,
  })

  const listed = await runCommand(['token', 'list', ...at])
  assert.match(listed.out, /1 +erp +documents:POST agent:POST documents:GET +any .* never +active\n/)
  const [row] = await runJson<TokenRow[]>(dataDir, 'token', 'list')
  assert.deepEqual(Object.keys(row ?? {}), [
    'id',
    'name',
    'allow',
    'company_id',
    'agent_id',
    'expires_at',
    'created_at',
    'last_used_at',
    'revoked_at',
    'quota',
    'used',
  ])

  const first = await runJson<TokenRow>(dataDir, 'token', 'revoke', '1')
  assert.ok(first.revoked_at)
  assert.deepEqual(await runJson<TokenRow>(dataDir, 'token', 'revoke', '1'), first)
  assert.match((await runCommand(['token', 'list', ...at])).out, /revoked 20/)
  const none = await runCommand(['token', 'revoke', '2', ...at])
  assert.deepEqual([none.code, none.err], [1, 'cambista: there is no token 2: see cambista token list\n'])
})

test('`token create --json` prints the token and its fields, and nothing else on stdout', async (t) => {
  const words = ['token', 'create', 'lector', '--allow', 'documents:GET', '--allow', 'documents:GET']
  const { token, ...rest } = await runJson<{ token: string }>(
    temporaryDirectory(t),
    ...words,
    '--expires',
    today(),
  )
  assert.deepEqual(rest, {
    id: 1,
    name: 'lector',
    allow: ['documents:GET'],
    company_id: null,
    agent_id: null,
    expires_at: today(),
    quota: null,
  })
  assert.match(token, /^cbt_/)
})

test('`token create` refuses the name of an active token, but accepts that of a revoked one', async (t) => {
  const dataDir = temporaryDirectory(t)
  const words = ['token', 'create', 'erp', ...ALLOW_ALL, '--data-dir', dataDir]
  await runCommand(words)
  const twin = await runCommand(words)
  assert.equal(twin.code, 1)
  assert.match(twin.err, /token 1 is named erp already: revoke it or choose another name/)
  await runJson(dataDir, 'token', 'revoke', '1')
  assert.equal((await runCommand(words)).code, 0)
})

test('`token list` prints the last day of active tokens, and marks expired ones', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  for (const [name, expiresAt] of [
    ['now', today()],
    ['past', addDays(today(), -1)],
  ] as const) {
    await insertToken(db, {
      name,
      hash: name,
      allow: ['agent:POST'],
      companyId: null,
      expiresAt,
      createdAt: '2026-01-01T00:00:00Z',
    })
  }
  await updateSecretsUsed(db, ['now'], '2026-03-24T12:00:00.000Z')
  const { out } = await runCommand(['token', 'list', '--data-dir', dataDir])
  assert.match(out, new RegExp(`now .* 2026-03-24T12:00:00.000Z +active through ${today()}\n`))
  assert.match(out, new RegExp(`past .* never +expired ${addDays(today(), -1)}\n`))
})

test('`token create --company` limits a token to a company, which `token list` prints', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const words = ['token', 'create', 'britt', ...ALLOW_ALL, '--company', String(COMPANY)]
  const { company_id } = await runJson<TokenRow>(dataDir, ...words)
  assert.equal(company_id, COMPANY)
  const [row] = await runJson<TokenRow[]>(dataDir, 'token', 'list')
  assert.equal(row?.company_id, COMPANY)
  const { out } = await runCommand(['token', 'list', '--data-dir', dataDir])
  assert.match(out, /^ID +NAME +ALLOW +COMPANY +AGENT +CREATED/)
  assert.match(out, new RegExp(`britt +.* documents:GET +${COMPANY} +any +20`))
  assert.equal((await runJson<TokenRow>(dataDir, 'token', 'revoke', '1')).company_id, COMPANY)
})

test('`token create` refuses an unknown company and creates nothing', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const create = ['token', 'create', 'britt', ...ALLOW_ALL, '--company', '99', '--data-dir']
  const end = await runCommand([...create, dataDir])
  assert.deepEqual(end, {
    code: 1,
    out: '',
    err: 'cambista: there is no company 99: see cambista company list\n',
  })
  assert.deepEqual(await runJson(dataDir, 'token', 'list'), [])
  const nowhere = join(dataDir, 'nowhere')
  assert.equal((await runCommand([...create, nowhere])).code, 1)
  assert.equal(existsSync(nowhere), false)
})

test('`token create --quota` sets a quota; `token update` changes and removes it by name', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const run = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  const created = await runJson<TokenRow>(dataDir, 'token', 'create', 'erp', ...ALLOW_ALL, '--quota', '10GiB')
  assert.equal(created.quota, 10 * 1024 ** 3)
  const db = temporaryDatabase(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  await storeTexts(db, blobs, ['x'.repeat(3000)], { createdBy: 1 })
  assert.match((await run('token', 'list')).out, / 2\.9 KiB +10 GiB +never +active\n/)
  const [row] = await runJson<{ quota: number; used: number }[]>(dataDir, 'token', 'list')
  assert.deepEqual([row?.quota, row?.used], [10 * 1024 ** 3, 3000])

  const raised = await run('token', 'update', 'erp', '--quota', '1500MiB')
  assert.deepEqual(raised, { code: 0, out: 'token erp: 2.9 KiB of 1500 MiB are used\n', err: '' })
  const none = await run('token', 'update', 'erp', '--quota', 'none')
  assert.deepEqual(none, { code: 0, out: 'token erp: no quota; 2.9 KiB are used\n', err: '' })
  assert.match((await run('token', 'list')).out, / 2\.9 KiB +none +never +active\n/)
  const unknown = await run('token', 'update', 'epr', '--quota', '1GiB')
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'cambista: there is no active token epr: see cambista token list\n'],
  )
  const missing = await run('token', 'update', 'erp')
  assert.deepEqual([missing.code, missing.err.split('\n')[0]], [2, 'cambista: --quota is missing'])
})

test('a new token with the name of a revoked one continues its used bytes', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  await runJson(dataDir, 'token', 'create', 'erp', ...ALLOW_ALL)
  await storeTexts(db, blobs, ['12345'], { createdBy: 1 })
  await runJson(dataDir, 'token', 'revoke', '1')
  await runJson(dataDir, 'token', 'create', 'erp', ...ALLOW_ALL, '--quota', '1KiB')
  await storeTexts(db, blobs, ['678'], { createdBy: 2 })
  const rows = await runJson<{ used: number; quota: number | null }[]>(dataDir, 'token', 'list')
  assert.deepEqual(
    rows.map(({ used, quota }) => [used, quota]),
    [
      [8, null],
      [8, 1024],
    ],
  )
  const update = await runJson<{ used: number }>(dataDir, 'token', 'update', 'erp', '--quota', '2KiB')
  assert.equal(update.used, 8)
})

const wrongLines: [string, string[], RegExp][] = [
  [
    'no --allow',
    ['erp'],
    /--allow is missing: give one or more of documents:POST, agent:POST, documents:GET/,
  ],
  [
    'a method that no endpoint has',
    ['erp', '--allow', 'agent:GET'],
    /--allow must be one of documents:POST, agent:POST, documents:GET, documents:CLAIM, documents:DELETE, documents:RETRY, not "agent:GET"/,
  ],
  [
    'a good and a bad one',
    ['erp', '--allow', 'agent:POST', '--allow', 'documents:PATCH'],
    /not "documents:PATCH"/,
  ],
  ['another spelling', ['erp', '--allow', 'documents:post'], /not "documents:post"/],
  ['two in one', ['erp', '--allow', 'agent:POST,documents:GET'], /--allow must be one of/],
  [
    'a day that is none',
    ['erp', ...ALLOW_ALL, '--expires', '2027-02-29'],
    /--expires must be a calendar day/,
  ],
  [
    'yesterday',
    ['erp', ...ALLOW_ALL, '--expires', addDays(today(), -1)],
    /--expires .* is past: today in Costa Rica is/,
  ],
  ['a company that is no id', ['erp', ...ALLOW_ALL, '--company', 'BRITT'], /--company must be an integer/],
  [
    'a quota without a unit that is known',
    ['erp', ...ALLOW_ALL, '--quota', '10GB'],
    /--quota must be a size such as 10GiB, or none, not "10GB"/,
  ],
  [
    'a quota of nothing',
    ['erp', ...ALLOW_ALL, '--quota', '0'],
    /--quota must be a size such as 10GiB, or none, not "0"/,
  ],
  ['no name', [...ALLOW_ALL], /NAME is missing/],
  ['a name that is none', ['<b>', ...ALLOW_ALL], /NAME must be/],
]
for (const [title, words, expected] of wrongLines) {
  test(`\`token create\` with ${title} is wrong usage and creates nothing`, async (t) => {
    const dataDir = join(temporaryDirectory(t), 'data')
    const end = await runCommand(['token', 'create', ...words, '--data-dir', dataDir])
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.match(end.err, expected)
    assert.equal(existsSync(dataDir), false)
  })
}

test('`token create --agent` limits a token to an agent and its company', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, 'company', 'create', '--name', 'Otra', '--code', 'O', '--id', '8')
  const words = ['token', 'create', 'lector', ...ALLOW_ALL, '--agent', String(AGENT)]
  const { company_id, agent_id } = await runJson<TokenRow>(dataDir, ...words)
  assert.deepEqual([company_id, agent_id], [COMPANY, AGENT])
  const [row] = await runJson<TokenRow[]>(dataDir, 'token', 'list')
  assert.deepEqual([row?.company_id, row?.agent_id], [COMPANY, AGENT])
  const other = ['token', 'create', 'otro', ...ALLOW_ALL, '--data-dir', dataDir]
  const missing = await runCommand([...other, '--agent', '99'])
  assert.deepEqual(
    [missing.code, missing.err],
    [1, 'cambista: there is no agent 99: see cambista agent list\n'],
  )
  const elsewhere = await runCommand([...other, '--agent', String(AGENT), '--company', '8'])
  assert.equal(elsewhere.code, 2)
  assert.match(elsewhere.err, /agent 12 is of company 7, not of 8/)
  const directory = JSON.stringify({ agents: [{ id: AGENT, company_id: 8, name: 'Facturas' }] })
  writeFileSync(join(dataDir, 'moved.json'), directory)
  const refused = await runCommand([
    'directory',
    'import',
    join(dataDir, 'moved.json'),
    '--data-dir',
    dataDir,
  ])
  assert.match(refused.err, /company_id must stay 7: there is a token of this agent/)
})

test('`token create` reads no permission from the environment', async (t) => {
  const env = { CAMBISTA_ALLOW: 'documents:POST', CAMBISTA_EXPIRES: '2999-01-01', CAMBISTA_COMPANY: '1' }
  const end = await runCommand(['token', 'create', 'erp', '--data-dir', temporaryDirectory(t)], env)
  assert.equal(end.code, 2)
})
