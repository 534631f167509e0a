// Quotas of tokens and companies: an upload that would exceed one is a 507 that names it, and keeps nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { removeDocuments } from '../../../src/domain/documents/removal.ts'
import { hashOfSecret } from '../../../src/domain/secrets.ts'
import { MARK } from '../../../src/store/blobs/mark.ts'
import { selectDocuments } from '../../../src/store/documents.ts'
import { postgres, startTestApp, type TestApp } from '../../support/app.ts'
import { ANA, openTestBlobs } from '../../support/company.ts'
import { AT, batch, CREATE, fillDirectory, post, read } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

const KIB = 1024
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const ERP = as('cbt_erp')

/** An app with the token erp of a quota, for all companies unless one is named. */
async function open(
  t: TestContext,
  quota: number | null,
  company_id: number | null = null,
): Promise<TestApp> {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const allow = 'documents:POST documents:GET'
  await asOtherProcess(app, (db) =>
    db
      .insertInto('tokens')
      .values({ name: 'erp', hash: hashOfSecret('cbt_erp'), allow, company_id, quota, created_at: AT })
      .execute(),
  )
  await until(async () => (await read(app, '/api/v1/documents', ERP)).status === 200)
  return app
}

function limitCompany(app: TestApp, id: number, quota: number | null): Promise<unknown> {
  return asOtherProcess(app, (db) =>
    db.updateTable('companies').set({ quota }).where('id', '=', id).execute(),
  )
}

let made = 0
/** A document of so many bytes, like no other. */
function file(bytes: number) {
  const content = Buffer.alloc(bytes, `${made++} `)
  return { name: 'f.txt', mimetype: 'text/plain', base64: content.toString('base64') }
}

async function refused(answering: Promise<Response>, message: RegExp): Promise<void> {
  const response = await answering
  const text = await response.text()
  assert.equal(response.status, 507, text)
  const { status, message: said, ...rest } = JSON.parse(text) as Record<string, string>
  assert.deepEqual([status, rest], ['error', {}])
  assert.match(said ?? '', message)
}

async function accepted(answering: Promise<Response>): Promise<number[]> {
  const response = await answering
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { created_documents } = JSON.parse(text) as { created_documents: { id: number }[] }
  return created_documents.map(({ id }) => id)
}

/** What the sums say; they must be those of the rows. */
async function usedOf(app: TestApp): Promise<{ token: number; company: number }> {
  return asOtherProcess(app, async (db) => {
    const rows = await selectDocuments(db, { limit: 1000 })
    const sum = (chosen: typeof rows) => chosen.reduce((bytes, { size }) => bytes + size, 0)
    const { used: token } = await db
      .selectFrom('tokens')
      .select('used')
      .where('name', '=', 'erp')
      .executeTakeFirstOrThrow()
    const companies = await db.selectFrom('companies').select(['id', 'used']).orderBy('id').execute()
    assert.equal(token, sum(rows.filter(({ created_by }) => created_by === 'erp')))
    for (const { id, used } of companies) assert.equal(used, sum(rows.filter((row) => row.company_id === id)))
    return { token, company: companies[0]?.used ?? 0 }
  })
}

/** Files in the folder of blobs, temporary ones too. */
function filesOf(app: TestApp): string[] {
  const entries = readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && entry.name !== MARK).map(({ name }) => name)
}

test('a quota can be used up to its last byte, and not exceeded by one', async (t) => {
  const app = await open(t, 10 * KIB)
  await accepted(post(app, CREATE, batch(file(6 * KIB), file(3 * KIB)), ERP))
  await refused(
    post(app, CREATE, batch(file(KIB + 1)), ERP),
    /^The quota of 10 KiB of token erp is used up: the documents of this request do not fit in the 1 KiB left, none was kept$/,
  )
  await refused(post(app, CREATE, batch(file(1000), file(25)), ERP), /10 KiB of token erp/)
  assert.equal(filesOf(app).length, 2)
  await accepted(post(app, CREATE, batch(file(1000), file(24)), ERP))
  assert.deepEqual(await usedOf(app), { token: 10 * KIB, company: 10 * KIB })
  await refused(
    post(app, CREATE, batch(file(1)), ERP),
    /^The quota of 10 KiB of token erp is used up: nothing is left, none was kept$/,
  )
  assert.equal(filesOf(app).length, 4)
  assert.ok(
    app.logged.some((line) => line.includes('"request refused"') && line.includes('token erp is used up')),
  )
})

test('other tokens are not held up by it', async (t) => {
  const app = await open(t, KIB)
  await refused(post(app, CREATE, batch(file(2 * KIB)), ERP), /token erp/)
  await accepted(post(app, CREATE, batch(file(2 * KIB))))
  await accepted(post(app, CREATE, batch(file(KIB)), ERP))
  assert.deepEqual(await usedOf(app), { token: KIB, company: 3 * KIB })
})

test('equal contents count each time: who had one already does not show', async (t) => {
  const app = await open(t, 2 * KIB)
  const same = file(KIB)
  await accepted(post(app, CREATE, batch(same)))
  await accepted(post(app, CREATE, batch(same, same), ERP))
  await refused(post(app, CREATE, batch(same), ERP), /token erp/)
  assert.deepEqual(await usedOf(app), { token: 2 * KIB, company: 3 * KIB })
})

test('a deletion frees what the documents had', async (t) => {
  const app = await open(t, 4 * KIB)
  await limitCompany(app, 1, 5 * KIB)
  await accepted(post(app, CREATE, batch(file(KIB))))
  const ids = await accepted(post(app, CREATE, batch(file(KIB), file(KIB), file(2 * KIB)), ERP))
  await refused(post(app, CREATE, batch(file(1)), ERP), /4 KiB of token erp/)
  await refused(post(app, CREATE, batch(file(1))), /5 KiB of company 1/)
  await asOtherProcess(app, async (db) => {
    const rows = (await selectDocuments(db, { limit: 100 })).filter(({ id }) => ids.slice(1).includes(id))
    await removeDocuments(db, await openTestBlobs(app.dataDir), rows, ANA, () => {})
    await removeDocuments(db, await openTestBlobs(app.dataDir), rows, ANA, () => {}) // gone: frees nothing more
  })
  assert.deepEqual(await usedOf(app), { token: KIB, company: 2 * KIB })
  await accepted(post(app, CREATE, batch(file(3 * KIB)), ERP))
})

test('the quota of a company counts for every token, in its company alone', async (t) => {
  const app = await open(t, null)
  await limitCompany(app, 1, 3 * KIB)
  await accepted(post(app, CREATE, batch(file(2 * KIB))))
  await refused(
    post(app, CREATE, batch(file(2 * KIB)), ERP),
    /^The quota of 3 KiB of company 1 is used up: the documents of this request do not fit in the 1 KiB left/,
  )
  await accepted(post(app, CREATE, { ...batch(file(9 * KIB)), company_id: 2, agent_id: 3, owner_id: 2 }, ERP))
  await refused(
    post(app, CREATE, { ...batch(file(2 * KIB)), agent_id: 99 }, ERP).then(async (response) => {
      assert.equal(response.status, 404, 'what is not there is told first')
      return post(app, CREATE, batch(file(2 * KIB)), ERP)
    }),
    /company 1/,
  )
  assert.deepEqual(await usedOf(app), { token: 9 * KIB, company: 2 * KIB })
})

test('what earlier tokens of the same name made counts', async (t) => {
  const app = await open(t, null)
  await accepted(post(app, CREATE, batch(file(3 * KIB)), ERP))
  await asOtherProcess(app, async (db) => {
    await db.updateTable('tokens').set({ revoked_at: AT }).where('name', '=', 'erp').execute()
    const token = { name: 'erp', hash: hashOfSecret('cbt_next'), allow: 'documents:POST documents:GET' }
    await db
      .insertInto('tokens')
      .values({ ...token, quota: 4 * KIB, created_at: AT })
      .execute()
  })
  await until(async () => (await read(app, '/api/v1/documents', as('cbt_next'))).status === 200)
  await refused(post(app, CREATE, batch(file(2 * KIB)), as('cbt_next')), /4 KiB of token erp/)
  await accepted(post(app, CREATE, batch(file(KIB)), as('cbt_next')))
})

test('a quota that is raised, or taken away, holds for the next upload', async (t) => {
  const app = await open(t, KIB)
  const set = (quota: number | null) =>
    asOtherProcess(app, (db) => db.updateTable('tokens').set({ quota }).where('name', '=', 'erp').execute())
  await refused(post(app, CREATE, batch(file(2 * KIB)), ERP), /1 KiB of token erp/)
  await set(2 * KIB)
  await accepted(post(app, CREATE, batch(file(2 * KIB)), ERP))
  await set(KIB) // below what is used: nothing is lost
  await refused(post(app, CREATE, batch(file(1)), ERP), /1 KiB of token erp is used up: nothing is left/)
  await set(null)
  await accepted(post(app, CREATE, batch(file(9 * KIB)), ERP))
})

test('two uploads at once do not both get the last room', async (t) => {
  const app = await open(t, 10 * KIB)
  await limitCompany(app, 2, 10 * KIB)
  const other = () => ({ ...batch(file(3 * KIB)), company_id: 2, agent_id: 3, owner_id: 2 })
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async (_, at) => {
      const answer = at % 2 === 0 ? post(app, CREATE, batch(file(3 * KIB)), ERP) : post(app, CREATE, other())
      return `${at % 2} ${(await answer).status}`
    }),
  )
  assert.equal(statuses.filter((status) => status === '0 200').length, 3)
  assert.equal(statuses.filter((status) => status === '1 200').length, 3)
  assert.equal(statuses.filter((status) => status.endsWith('507')).length, 18)
  assert.deepEqual(await usedOf(app), { token: 9 * KIB, company: 9 * KIB })
  // Where nodes share a database what got no rows is removed later.
  if (!postgres) assert.equal(filesOf(app).length, 6)
})

/** Begins an upload and sends on and on; the answer that comes while it does, and how much was sent by then. */
function sendForEver(
  app: TestApp,
  headers: Record<string, string>,
): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    let sent = 0
    const outgoing = request(app.app.url + CREATE, { method: 'POST', headers })
    const more = () => {
      if (outgoing.destroyed) return
      sent += 48 * KIB
      outgoing.write('QUJD'.repeat(12 * KIB), () => setImmediate(more))
    }
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      outgoing.off('error', reject).on('error', () => {})
      outgoing.destroy()
      resolve({ status: response.statusCode ?? 0, sent })
    })
    outgoing.write(
      '{"owner_id":1,"company_id":1,"agent_id":1,"documents":[{"name":"a","mimetype":"a/b","base64":"',
    )
    more()
  })
}

for (const [what, company] of [
  ['its token', null],
  ['the company of its token', 1],
] as const) {
  test(`an upload that outgrows the quota of ${what} is not read to its end`, async (t) => {
    const app = await open(t, company === null ? 1024 * KIB : null, company)
    if (company !== null) await limitCompany(app, company, 1024 * KIB)
    const { status, sent } = await sendForEver(app, ERP)
    assert.equal(status, 507)
    assert.ok(sent > 1024 * KIB && sent < 32 * 1024 * KIB, `${sent} bytes were sent`)
    await until(() => filesOf(app).length === 0)
    assert.deepEqual(await usedOf(app), { token: 0, company: 0 })
    await accepted(post(app, CREATE, batch(file(1024 * KIB)), ERP))
  })
}

test('only what is kept counts: no unknown field, and of a repeated one the last', async (t) => {
  const app = await open(t, 3 * KIB)
  const unknown = JSON.stringify('x'.repeat(100 * KIB))
  const one = `{"name":"a","mimetype":"a/b","unknown":${unknown},
    "base64":"${file(2 * KIB).base64}","base64":"${file(KIB).base64}"}`
  const documents = `"documents":[${one},${JSON.stringify(file(2 * KIB))}]`
  const body = `{"owner_id":1,"company_id":1,"agent_id":1,"unknown":${unknown},${documents},${documents}}`
  await accepted(post(app, CREATE, body, ERP))
  assert.deepEqual(await usedOf(app), { token: 3 * KIB, company: 3 * KIB })
})

test('an upload that used up the quota gets its answer again, and nothing else is let in with its key', async (t) => {
  const app = await open(t, KIB)
  const body = batch(file(KIB))
  const headers = { ...ERP, 'idempotency-key': 'one' }
  const first = await accepted(post(app, CREATE, body, headers))
  assert.deepEqual(await accepted(post(app, CREATE, body, headers)), first)
  assert.equal((await post(app, CREATE, batch(file(KIB)), headers)).status, 409)
  await refused(post(app, CREATE, body, { ...ERP, 'idempotency-key': 'two' }), /token erp/)
  assert.deepEqual(await usedOf(app), { token: KIB, company: KIB })
})

test('a token learns nothing of the quota of another company', async (t) => {
  const app = await open(t, null, 1)
  await limitCompany(app, 2, 1)
  const body = { ...batch(file(KIB)), company_id: 2, agent_id: 3, owner_id: 2 }
  assert.equal((await post(app, CREATE, body, ERP)).status, 404)
})
