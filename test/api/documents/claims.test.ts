// Claims: workers of an agent share its documents (decisions#claims).

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { postgres, startTestApp, type TestApp, temporaryDirectory } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { type LeaseTime, openLeaseTime } from '../../support/documents/lease-time.ts'
import { runCommand, until } from '../../support/terminal.ts'

type Row = { id: number; state: string; attempts: number; note: string | null; finished_at: string | null }
type Claimed = Row & { claim_id: string; lease_until: string }
type Told = { status: number; body: { message?: string; document?: Row; lease_until?: string } }

const CLAIM = '/api/v1/documents/claim'
const NOW = '2026-03-24T12:00:00.000Z'
const STARTED = Date.now()
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

let app: TestApp
let time: LeaseTime
before(async (t) => {
  const dataDir = temporaryDirectory(t as TestContext)
  time = openLeaseTime(dataDir)
  const listen = { metrics: 'local' } as const
  app = await startTestApp(t as TestContext, { dataDir, listen, ticks: time.ticks, now: NOW, maxAttempts: 3 })
  await fillDirectory(app)
})

async function upload(...names: string[]): Promise<number[]> {
  const response = await post(app, CREATE, batch(...names.map((name) => pdf(name))))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return created_documents.map(({ id }) => id)
}

async function claim(options: object = {}, secret: string = TOKENS.work): Promise<Claimed[]> {
  const response = await post(app, CLAIM, { agent_id: 1, limit: 50, ...options }, bearer(secret))
  const body = (await response.json()) as { status: string; documents: Claimed[] }
  assert.equal(response.status, 200, JSON.stringify(body))
  assert.equal(body.status, 'success')
  return body.documents
}

async function tell(
  what: string,
  { id }: { id: number },
  body: unknown,
  secret: string = TOKENS.work,
): Promise<Told> {
  const response = await post(app, `/api/v1/documents/${id}/${what}`, body, bearer(secret))
  return { status: response.status, body: (await response.json()) as Told['body'] }
}

const finish = (one: Claimed, outcome = 'done', more: object = {}) =>
  tell('finish', one, { claim_id: one.claim_id, outcome, ...more })

async function row(id: number): Promise<Row> {
  return (await (await read(app, `/api/v1/documents/${id}`)).json()) as Row
}

/**
 * Checks the end of a lease that began during these tests. PostgreSQL uses the database clock, which differs from the
 * fixed clock.
 */
function checkLeaseEnd(until = '', seconds: number): void {
  const start = Date.parse(until) - seconds * 1000
  if (postgres) assert.ok(start >= STARTED - 1000 && start <= Date.now() + 1000, until)
  else assert.equal(new Date(start).toISOString(), NOW)
}

/** Claims and finishes all documents, so that each test begins without any. */
async function clear(): Promise<void> {
  await time.pass(3600)
  for (;;) {
    const all = await claim()
    for (const one of all) assert.equal((await finish(one)).status, 200)
    if (all.length === 0) return
  }
}

test('a document is new, claimed once, and done', async () => {
  await clear()
  const [first = 0, second = 0] = await upload('a.pdf', 'b.pdf')
  assert.deepEqual(
    (({ state, attempts, note, finished_at }) => ({ state, attempts, note, finished_at }))(await row(first)),
    { state: 'new', attempts: 0, note: null, finished_at: null },
  )
  const [one, ...none] = await claim({ limit: 1, lease_seconds: 60 })
  assert.equal(none.length, 0)
  assert.ok(one)
  assert.deepEqual([one.id, one.state, one.attempts], [first, 'claimed', 1])
  checkLeaseEnd(one.lease_until, 60)
  const { claim_id, lease_until: _, ...shown } = one
  assert.deepEqual(await row(first), shown)
  assert.deepEqual(
    (await claim({}, TOKENS.other)).map(({ id }) => id),
    [second],
    'to another worker the next one',
  )
  const { status, body } = await finish(one, 'done', { note: 'Contabilizada' })
  assert.equal(status, 200)
  assert.deepEqual(body.document, { ...shown, state: 'done', note: 'Contabilizada', finished_at: NOW })
  assert.ok(claim_id)
})

test('a repeated outcome has the same answer, another outcome is rejected', async () => {
  await clear()
  await upload('a.pdf')
  const [one] = await claim()
  assert.ok(one)
  const once = await finish(one, 'failed', { note: 'ilegible' })
  assert.deepEqual(await finish(one, 'failed', { note: 'otra' }), once)
  const { status, body } = await finish(one, 'done')
  assert.deepEqual([status, body.message], [409, 'This claim has ended: its outcome is failed'])
  assert.equal((await row(one.id)).note, 'ilegible')
  for (const what of ['extend', 'release']) {
    assert.equal((await tell(what, one, { claim_id: one.claim_id })).status, 409, what)
  }
})

test('a claim stays valid after its lease until another worker claims the document', async () => {
  await clear()
  await upload('a.pdf', 'b.pdf')
  const [late, lost] = await claim({ lease_seconds: 600 })
  assert.ok(late && lost)
  assert.deepEqual(await claim({}, TOKENS.other), [])
  await time.pass(400)
  assert.deepEqual(await claim({}, TOKENS.other), [])
  await time.pass(200)
  assert.equal((await finish(late)).status, 200, 'nobody else has it')
  const [taken] = await claim({}, TOKENS.other)
  assert.deepEqual([taken?.id, taken?.attempts], [lost.id, 2])
  for (const what of ['finish', 'extend', 'release'] as const) {
    const more = what === 'finish' ? { outcome: 'done' } : {}
    const { status, body } = await tell(what, lost, { claim_id: lost.claim_id, ...more })
    assert.deepEqual([status, body.message], [409, 'This claim has expired'], what)
  }
  assert.equal((await row(lost.id)).state, 'claimed')
})

test('a lease is extended from now, and a released document is the next again', async () => {
  await clear()
  const [id = 0] = await upload('a.pdf')
  const [one] = await claim({ lease_seconds: 600 })
  assert.ok(one)
  await time.pass(400)
  const { status, body } = await tell('extend', one, { claim_id: one.claim_id, lease_seconds: 900 })
  assert.deepEqual([status, body.document?.state], [200, 'claimed'])
  checkLeaseEnd(body.lease_until, 900)
  await time.pass(600)
  assert.deepEqual(await claim(), [])
  const released = await tell('release', one, { claim_id: one.claim_id })
  assert.deepEqual([released.status, released.body.document?.state], [200, 'new'])
  assert.deepEqual(await tell('release', one, { claim_id: one.claim_id }), released, 'an answer may be lost')
  const refused = await finish(one)
  assert.deepEqual([refused.status, refused.body.message], [409, 'This claim has ended: it was released'])
  assert.deepEqual(
    (await claim()).map((again) => [again.id, again.attempts]),
    [[id, 2]],
  )
})

test('a document that no worker finishes fails after the last attempt, and does not block later ones', async () => {
  await clear()
  const [poison = 0] = await upload('veneno.pdf')
  let last: Claimed | undefined
  for (let attempt = 1; attempt <= 3; attempt++) {
    ;[last] = await claim({ limit: 1, lease_seconds: 10 })
    assert.deepEqual([last?.id, last?.attempts], [poison, attempt])
    await time.pass(10)
  }
  const [good = 0] = await upload('bueno.pdf')
  assert.deepEqual(
    (await claim({ limit: 1 })).map(({ id }) => id),
    [good],
  )
  const { state, note, finished_at } = await row(poison)
  assert.deepEqual(
    [state, note, finished_at],
    ['failed', 'Given up: claimed 3 times and never finished', NOW],
  )
  const list = (await (await read(app, '/api/v1/documents?state=failed&agent_id=1')).json()) as {
    documents: Row[]
  }
  assert.ok(list.documents.some(({ id }) => id === poison))
  assert.ok(last)
  assert.equal((await finish(last, 'done')).status, 200, 'its last worker had done it all the same')
  assert.equal((await row(poison)).state, 'done')
})

test('a jump of the clock neither ends a lease nor extends one', async () => {
  await clear()
  const [id] = await upload('a.pdf')
  await claim({ lease_seconds: 100 })
  app.clock.now = new Date('2026-03-25T12:00:00.000Z')
  assert.deepEqual(await claim(), [])
  app.clock.now = new Date('2025-01-01T00:00:00.000Z')
  await time.pass(100)
  assert.deepEqual(
    (await claim()).map((one) => one.id),
    [id],
  )
  app.clock.now = new Date(NOW)
})

test('a waiting claim is answered after an upload, a release, and a retry of another process', async () => {
  await clear()
  const wait = () => claim({ wait: 50 })
  const uploaded = wait()
  const [id = 0] = await upload('a.pdf')
  const [one] = await uploaded
  assert.equal(one?.id, id)
  const released = wait()
  assert.equal((await tell('release', one, { claim_id: one.claim_id })).status, 200)
  const [two] = await released
  assert.deepEqual([two?.id, two?.attempts], [id, 2])
  const retried = wait()
  const { code, out } = await runCommand(['document', 'retry', String(id), '--data-dir', app.dataDir])
  assert.deepEqual([code, out], [0, `document ${id} is new again, it was claimed\n`])
  const [three] = await retried
  assert.deepEqual([three?.id, three?.attempts], [id, 1])
  assert.ok(two && three)
  assert.equal((await finish(two)).status, 409)
  assert.equal((await finish(three)).status, 200)
})

test('a wait without documents is empty when its time is over', async () => {
  await clear()
  assert.deepEqual(await claim({ wait: 1 }), [])
})

test('a token claims and lists permitted documents; others are a 404', async () => {
  await clear()
  const [id = 0] = await upload('a.pdf')
  const ask = async (body: object, secret: string) => {
    const response = await post(app, CLAIM, body, bearer(secret))
    return [response.status, ((await response.json()) as { message?: string }).message]
  }
  assert.deepEqual(await ask({ agent_id: 1 }, TOKENS.all), [403, 'Token not allowed for this endpoint'])
  assert.deepEqual(await ask({ agent_id: 1 }, TOKENS.ofCompany), [404, 'Agent not found'])
  assert.deepEqual(await ask({ agent_id: 77 }, TOKENS.work), [404, 'Agent not found'])
  assert.deepEqual(await ask({ agent_id: 3 }, TOKENS.ofAgent), [404, 'Agent not found'])
  const [mine] = await claim({ agent_id: undefined }, TOKENS.ofAgent)
  assert.equal(mine?.id, id)
  assert.equal(
    (await tell('finish', mine, { claim_id: mine.claim_id, outcome: 'done' }, TOKENS.ofCompany)).status,
    404,
  )
  assert.equal((await finish(mine)).status, 200)
})

test('a token of one agent reads documents of no other, and uploads to no other', async () => {
  const mine = bearer(TOKENS.ofAgent)
  const [own = 0] = await upload('a.pdf')
  const body = { ...batch(pdf('b.pdf')), company_id: 2, agent_id: 3, owner_id: 2 }
  const created = (await (await post(app, CREATE, body)).json()) as { created_documents: { id: number }[] }
  const other = created.created_documents[0]?.id ?? 0
  const status = async (path: string) => (await read(app, path, mine)).status
  assert.equal(await status(`/api/v1/documents/${own}`), 200)
  for (const path of [
    `/api/v1/documents/${other}`,
    `/api/v1/documents/${other}/content`,
    '/api/v1/documents?agent_id=2',
    '/api/v1/documents?company_id=2',
    '/api/v1/companies/2/agents',
  ]) {
    assert.equal(await status(path), 404, path)
  }
  const { documents } = (await (await read(app, '/api/v1/documents?limit=200', mine)).json()) as {
    documents: { agent_id: number }[]
  }
  assert.deepEqual([...new Set(documents.map(({ agent_id }) => agent_id))], [1])
  const { agents } = (await (await read(app, '/api/v1/companies/1/agents', mine)).json()) as {
    agents: { id: number }[]
  }
  assert.deepEqual(
    agents.map(({ id }) => id),
    [1],
  )
  const refused = await post(app, CREATE, { ...batch(pdf('c.pdf')), agent_id: 2 }, mine)
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { message: string }).message],
    [404, 'Agent not found'],
  )
})

const BAD: readonly [unknown, string][] = [
  ['{', 'Request body must be valid JSON: unexpected end at byte 1'],
  ['{"agent_id": 1,}', 'Request body must be valid JSON: unexpected "}" at byte 15'],
  [{}, 'agent_id is required: this token is not of one agent'],
  [{ agent_id: 'x' }, 'agent_id must be an integer'],
  [{ agent_id: 1, limit: 0 }, 'limit must be an integer from 1 to 50'],
  [{ agent_id: 1, limit: 51 }, 'limit must be an integer from 1 to 50'],
  [{ agent_id: 1, limit: '5' }, 'limit must be an integer from 1 to 50'],
  [{ agent_id: 1, limit: 1.5 }, 'limit must be an integer from 1 to 50'],
  [{ agent_id: 1, lease_seconds: 9 }, 'lease_seconds must be an integer from 10 to 3600'],
  [{ agent_id: 1, lease_seconds: 3601 }, 'lease_seconds must be an integer from 10 to 3600'],
  [{ agent_id: 1, wait: 51 }, 'wait must be an integer from 0 to 50'],
  [
    { agent_id: 1, lease: 60 },
    'There is no field "lease"; there are agent_id, agent_ids, limit, lease_seconds, wait',
  ],
]

for (const [body, message] of BAD) {
  test(`a claim with ${JSON.stringify(body)} is a 400: ${message}`, async () => {
    const response = await post(app, CLAIM, body, bearer(TOKENS.work))
    assert.deepEqual([response.status, await response.json()], [400, { status: 'error', message }])
  })
}

test('a wrong outcome is a 400 with its fault, and changes nothing', async () => {
  await clear()
  await upload('a.pdf')
  const [one] = await claim()
  assert.ok(one)
  const { claim_id } = one
  const bad: readonly [object, string][] = [
    [{ outcome: 'done' }, 'claim_id is required: the text that the claim was answered with'],
    [{ claim_id }, 'outcome must be done or failed'],
    [{ claim_id, outcome: 'Done' }, 'outcome must be done or failed'],
    [{ claim_id, outcome: 'done', note: 'ñ'.repeat(2001) }, 'note must be a text of at most 2000 characters'],
    [{ claim_id, outcome: 'done', note: 5 }, 'note must be a text of at most 2000 characters'],
    [{ claim_id, outcome: 'done', note: 'a\0b' }, 'note must not have the character U+0000'],
    [{ claim_id, outcome: 'done', note: '\ud800' }, 'note must be Unicode: it has half of a surrogate pair'],
    [
      { claim_id, outcome: 'done', reason: 'x' },
      'There is no field "reason"; there are claim_id, outcome, note, result',
    ],
  ]
  for (const [body, message] of bad) {
    const response = await tell('finish', one, body)
    assert.deepEqual([response.status, response.body.message], [400, message])
  }
  assert.equal((await row(one.id)).state, 'claimed')
  const note = '🧾'.repeat(2000)
  assert.equal((await finish(one, 'done', { note })).body.document?.note, note)
  assert.equal((await tell('finish', { id: 999_999 }, { claim_id, outcome: 'done' })).status, 404)
})

test('a list has one state, and does not wait', async () => {
  await clear()
  const [id = 0] = await upload('a.pdf')
  const ids = async (query: string) => {
    const { documents } = (await (await read(app, `/api/v1/documents?${query}`)).json()) as {
      documents: Row[]
    }
    return documents.map((one) => one.id)
  }
  assert.deepEqual(await ids('state=new&agent_id=1'), [id])
  assert.deepEqual(await ids('state=claimed'), [])
  for (const query of ['state=open', 'state=new&wait=5', 'state=NEW']) {
    assert.equal((await read(app, `/api/v1/documents?${query}`)).status, 422, query)
  }
})

test('a document may be deleted by a token with the permission; its worker then gets a 404', async () => {
  await clear()
  const [id = 0] = await upload('no other document has this')
  const [one] = await claim()
  assert.ok(one)
  const remove = async (secret: string, of = id) => {
    const response = await fetch(`${app.app.url}/api/v1/documents/${of}`, {
      method: 'DELETE',
      headers: bearer(secret),
    })
    return [response.status, await response.json()] as const
  }
  assert.equal((await remove(TOKENS.work))[0], 403)
  assert.equal((await remove(TOKENS.ofCompany))[0], 403)
  const [status, body] = await remove(TOKENS.ofAgent)
  assert.deepEqual([status, body], [200, { status: 'success', id, content: 'deleted' }])
  assert.equal((await remove(TOKENS.remove))[0], 404)
  assert.equal((await finish(one)).status, 404)
  await time.pass(3600)
  assert.deepEqual(await claim(), [])
})

test('the audit log has who sent, claimed, finished and deleted each document', async () => {
  await clear()
  const [id = 0] = await upload('a.pdf')
  const events = async () => {
    const words = ['event', 'list', '--document', String(id), '--data-dir', app.dataDir, '--json']
    const listed = JSON.parse((await runCommand(words)).out) as { kind: string; via: string; actor: string }[]
    return listed.map(({ kind, via, actor }) => `${kind} ${via} ${actor}`)
  }
  const created = 'created token test-all'
  assert.deepEqual(await events(), [created])
  const [one] = await claim()
  assert.ok(one)
  await tell('release', one, { claim_id: one.claim_id })
  const [two] = await claim({}, TOKENS.other)
  assert.ok(two)
  await tell('finish', two, { claim_id: two.claim_id, outcome: 'failed' }, TOKENS.other)
  await runCommand(['document', 'retry', String(id), '--data-dir', app.dataDir])
  for (let attempt = 0; attempt < 3; attempt++) {
    const documents = await claim()
    assert.equal(documents.length, 1)
    await time.pass(3600)
  }
  assert.deepEqual(await claim(), [])
  await fetch(`${app.app.url}/api/v1/documents/${id}`, { method: 'DELETE', headers: bearer(TOKENS.remove) })
  const [first, second, third, fourth, retried, ...rest] = await events()
  assert.deepEqual(
    [first, second, third, fourth],
    [created, 'claimed token test-work', 'released token test-work', 'claimed token test-other'],
  )
  assert.equal(retried, 'failed token test-other')
  assert.match(rest.shift() ?? '', /^retried cli /)
  const claimEvent = 'claimed token test-work'
  assert.deepEqual(rest, [
    claimEvent,
    claimEvent,
    claimEvent,
    'failed server cambista',
    'deleted token test-remove',
  ])
})

test('at most 64 workers wait with one token', async () => {
  await clear()
  const body = { agent_id: 1, wait: 50 }
  const waits = Array.from({ length: 64 }, () => post(app, CLAIM, body, bearer(TOKENS.work)))
  // A further request before all 64 wait would replace one of them.
  await until(async () =>
    (await (await read(app, '/metrics')).text()).includes('\ncambista_document_waits 64\n'),
  )
  const refused = await post(app, CLAIM, { ...body, wait: 1 }, bearer(TOKENS.work))
  assert.equal(refused.status, 503)
  assert.notEqual(refused.headers.get('retry-after'), null)
  assert.equal((await post(app, CLAIM, { ...body, wait: 1 }, bearer(TOKENS.other))).status, 200)
  const ids = await upload(...Array.from({ length: 64 }, (_, at) => `${at}.pdf`))
  const answers = await Promise.all(waits)
  const claimedIds = await Promise.all(
    answers.map(async (one) => ((await one.json()) as { documents: Row[] }).documents.map(({ id }) => id)),
  )
  assert.deepEqual(
    claimedIds.flat().sort((one, other) => one - other),
    ids,
    'each once',
  )
})
