import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AGENT, COMPANY, makeDirectory, OWNER, runJson } from '../../../../support/company.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

type Row = { id: number; name: string; company_id?: number | null; active?: boolean; description?: string }

test('companies, owners and agents are created with the ids of the ERP, and listed', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const [company] = await runJson<Row[]>(dataDir, 'company', 'list')
  assert.deepEqual(company, { ...company, id: COMPANY, name: 'Café Britt', code: 'BRITT' })
  const [owner] = await runJson<Row[]>(dataDir, 'owner', 'list')
  assert.deepEqual(owner, { ...owner, id: OWNER, name: 'Ana Mora', company_id: COMPANY })
  const [agent] = await runJson<Row[]>(dataDir, 'agent', 'list', '--company', '7')
  assert.deepEqual(agent, { ...agent, id: AGENT, company_id: COMPANY, description: '', active: true })

  const lines = (await runCommand(['agent', 'list', '--data-dir', dataDir])).out.split('\n')
  assert.match(lines[0] ?? '', /^ID +COMPANY +STATE +NAME +CREATED$/)
  assert.match(lines[1] ?? '', /^12 +7 +active +Facturas +20/)
})

test('`company create` and its siblings use the next free id without --id', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const company = await runJson<Row>(dataDir, 'company', 'create', '--name', 'Dos Pinos', '--code', 'DP')
  assert.equal(company.id, COMPANY + 1)
  const owner = await runJson<Row>(dataDir, 'owner', 'create', '--name', 'Luis')
  assert.deepEqual([owner.id, owner.company_id], [OWNER + 1, null])
  const agent = await runJson<Row>(dataDir, 'agent', 'create', '--name', 'B', '--company', '7', '--inactive')
  assert.deepEqual([agent.id, agent.active], [AGENT + 1, false])
})

const repeated: [string, string[]][] = [
  ['company', ['--name', 'Dos Pinos', '--code', 'DP']],
  ['owner', ['--name', 'Luis']],
  ['owner', ['--name', 'Luis', '--company', '7']],
  ['agent', ['--name', 'B', '--company', '7', '--inactive', '--description', '<p>Lee</p>']],
]
for (const [kind, flags] of repeated) {
  test(`${kind} create ${flags.join(' ')} with an id changes nothing when repeated`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await makeDirectory(dataDir)
    const words = [kind, 'create', ...flags, '--id', String(Number.MAX_SAFE_INTEGER)]
    const first = await runJson(dataDir, ...words)
    assert.deepEqual(await runJson(dataDir, ...words), first)
    const again = await runCommand([...words, '--data-dir', dataDir])
    assert.deepEqual([again.code, again.err], [0, ''])
    assert.match(again.out, /is there already, and nothing was changed/)

    const next = await runCommand([kind, 'create', ...flags, '--data-dir', dataDir])
    assert.equal(next.code, 1, 'an id beyond 2^53-1 is never used')
    assert.match(next.err, kind === 'company' ? /code "DP" is taken/ : /beyond 2\^53-1: choose one/)
  })
}

const refusedLines: [string, string, RegExp][] = [
  [
    'a company under a taken id',
    'company create --name Otra --code O --id 7',
    /company 7 is there already with name "Café Britt", not "Otra"; code "BRITT", not "O": nothing was changed/,
  ],
  [
    'a code that is taken',
    'company create --name Otra --code BRITT',
    /code "BRITT" is taken by company 7 \(Café Britt\)/,
  ],
  [
    'a code that is taken, with an id',
    'company create --name Otra --code BRITT --id 8',
    /code "BRITT" is taken by company 7/,
  ],
  [
    'an owner of no company',
    'owner create --name Luis --company 8',
    /there is no company 8: see cambista company list/,
  ],
  [
    'an owner under a taken id',
    'owner create --name Luis --company 7 --id 31',
    /owner 31 is there already with name "Ana Mora"/,
  ],
  ['an owner that would lose its company', 'owner create --name Ana_Mora --id 31', /company_id 7, not none/],
  ['an agent of no company', 'agent create --name B --company 8', /there is no company 8/],
  [
    'an agent that was active',
    'agent create --name Facturas --company 7 --id 12 --inactive',
    /agent 12 is there already with active true, not false/,
  ],
  ['an agent to activate that is none', 'agent activate 13', /there is no agent 13: see cambista agent list/],
  ['an agent to deactivate that is none', 'agent deactivate 13', /there is no agent 13/],
  ['owners of no company', 'owner list --company 8', /there is no company 8/],
  ['agents of no company', 'agent list --company 8', /there is no company 8/],
]
for (const [title, line, expected] of refusedLines) {
  test(`${title}: refused, and nothing is changed`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await makeDirectory(dataDir)
    const before = await runJson(dataDir, 'directory', 'export')
    const words = line.split(' ').map((word) => word.replaceAll('_', ' '))
    const end = await runCommand([...words, '--data-dir', dataDir])
    assert.deepEqual([end.code, end.out], [1, ''])
    assert.match(end.err, expected)
    assert.deepEqual(await runJson(dataDir, 'directory', 'export'), before)
  })
}

const wrongLines: [string, string[], RegExp][] = [
  ['no name', ['company', 'create', '--code', 'X'], /--name is missing/],
  ['no code', ['company', 'create', '--name', 'X'], /--code is missing/],
  ['an empty name', ['company', 'create', '--name', '', '--code', 'X'], /--name must not be empty/],
  ['a name of blanks', ['owner', 'create', '--name', '  '], /--name must be 1 to 255 characters/],
  ['a name too long', ['owner', 'create', '--name', '😀'.repeat(256)], /--name must be 1 to 255 characters/],
  ['a name of two lines', ['owner', 'create', '--name', 'a\nb'], /no control characters/],
  ['a lone surrogate', ['owner', 'create', '--name', 'a\ud800'], /--name must be/],
  [
    'a code with a blank before',
    ['company', 'create', '--name', 'X', '--code', ' X'],
    /--code must be .* not " X"/,
  ],
  [
    'an id of 0',
    ['owner', 'create', '--name', 'X', '--id', '0'],
    /--id must be an integer from 1 to 9007199254740991/,
  ],
  [
    'an id of 2^53',
    ['owner', 'create', '--name', 'X', '--id', '9007199254740992'],
    /--id must be an integer/,
  ],
  ['an agent of nobody', ['agent', 'create', '--name', 'X'], /--company is missing/],
  [
    'a company that is no id',
    ['agent', 'create', '--name', 'X', '--company', 'X'],
    /--company must be an integer/,
  ],
  [
    'a description too long',
    ['agent', 'create', '--name', 'X', '--company', '7', '--description', 'x'.repeat(65_537)],
    /--description must be .* 65536/,
  ],
  ['an id that is none', ['agent', 'activate', 'x'], /ID must be a positive integer/],
]
for (const [title, words, expected] of wrongLines) {
  test(`${title} is wrong usage, and nothing is created`, async (t) => {
    const dataDir = join(temporaryDirectory(t), 'data')
    const end = await runCommand([...words, '--data-dir', dataDir])
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.match(end.err, expected)
    assert.ok(end.err.length < 500, 'the message is short')
    assert.equal(existsSync(dataDir), false)
  })
}

test('a name may have 255 characters of any script', async (t) => {
  const name = '😀'.repeat(255)
  assert.equal((await runJson<Row>(temporaryDirectory(t), 'owner', 'create', '--name', name)).name, name)
})

test('`agent deactivate` and `agent activate` can be repeated', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  for (const [verb, active] of [
    ['deactivate', false],
    ['deactivate', false],
    ['activate', true],
    ['activate', true],
  ] as const) {
    assert.equal((await runJson<Row>(dataDir, 'agent', verb, '12')).active, active)
    assert.equal((await runJson<Row[]>(dataDir, 'agent', 'list'))[0]?.active, active)
  }
})

test('`company create --quota` sets a quota, `company update` changes and removes it', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const run = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  const flags = ['--name', 'Dos Pinos', '--code', 'DP', '--id', '8']
  const create = (...more: string[]) => run('company', 'create', ...flags, ...more)
  assert.equal((await create('--quota', '50GiB')).code, 0)
  assert.match((await create()).out, /is there already, and nothing was changed/)
  assert.match((await create('--quota', '50GiB')).out, /is there already, and nothing was changed/)
  const other = await create('--quota', '60GiB')
  assert.equal(other.code, 1)
  assert.match(
    other.err,
    /company 8 is there already with quota 50 GiB, not 60 GiB: nothing was changed \(cambista company update changes it\)/,
  )
  const listed = (await run('company', 'list')).out.split('\n')
  assert.match(listed[0] ?? '', /^ID +CODE +NAME +CREATED +DOCUMENTS +QUOTA$/)
  assert.match(listed[1] ?? '', /^7 +BRITT +Café Britt +20\S+ +0 bytes +none$/)
  assert.match(listed[2] ?? '', /^8 +DP +Dos Pinos +20\S+ +0 bytes +50 GiB$/)

  const raised = await run('company', 'update', '8', '--quota', '1TiB')
  assert.deepEqual(raised, { code: 0, out: 'company 8 (Dos Pinos): 0 bytes of 1 TiB are used\n', err: '' })
  const none = await run('company', 'update', '8', '--quota', 'none')
  assert.deepEqual(none.out, 'company 8 (Dos Pinos): no quota; 0 bytes are used\n')
  const unknown = await run('company', 'update', '9', '--quota', '1TiB')
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'cambista: there is no company 9: see cambista company list\n'],
  )
})

test('`company create --tax-id` sets tax ids, `company update` changes and removes them', async (t) => {
  const dataDir = temporaryDirectory(t)
  const run = (...words: string[]) => runCommand(['company', ...words, '--data-dir', dataDir])
  const create = (...words: string[]) =>
    run('create', '--name', 'Britt', '--code', 'B', '--id', '8', ...words)
  assert.equal((await create('--tax-id', '3-101-654321,0110340567')).code, 0)
  assert.match((await create('--tax-id', '3101654321,110340567')).out, /nothing was changed/)
  const other = await create('--tax-id', '5')
  assert.equal(other.code, 1)
  assert.match(other.err, /is there already with tax ids 3101654321,110340567, not 5: nothing was changed/)
  const update = await run('update', '8', '--tax-id', '3101654321')
  assert.equal(update.out, 'company 8 (Britt): no quota; 0 bytes are used; tax ids 3101654321\n')
  assert.match((await run('list')).out, /TAX IDS\n8 .* 3101654321\n$/)
  const none = await run('update', '8', '--tax-id', 'none')
  assert.equal(none.out, 'company 8 (Britt): no quota; 0 bytes are used\n')
  const usage = await run('update', '8')
  assert.deepEqual([usage.code, usage.err.split('\n')[0]], [2, 'cambista: give --quota, --tax-id or both'])
  const bad = await run('update', '8', '--tax-id', '3101x')
  assert.equal(bad.code, 2)
  assert.match(bad.err, /--tax-id must be 1 to 20 ids of digits with commas, such as 3101654321, or none/)
})

test('`directory export` omits quotas, and its import does not change them', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, 'company', 'update', '7', '--quota', '1TiB')
  const file = join(temporaryDirectory(t), 'directory.json')
  await runJson(dataDir, 'directory', 'export', '--out', file)
  const end = await runJson<{ companies: object }>(dataDir, 'directory', 'import', file)
  assert.deepEqual(end.companies, { created: 0, updated: 0, unchanged: 1 })
  const [company] = await runJson<{ quota: number }[]>(dataDir, 'company', 'list')
  assert.equal(company?.quota, 1024 ** 4)
})
