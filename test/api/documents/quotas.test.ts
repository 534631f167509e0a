// Quotas of tokens and companies: an upload that would exceed one is a 507 that names it, and stores nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { removeDocuments } from '../../../src/domain/documents/removal.ts'
import { STORE_ID_NAME } from '../../../src/store/blobs/store-id.ts'
import { selectDocuments } from '../../../src/store/documents/documents.ts'
import { postgres, startTestApp, type TestApp } from '../../support/app.ts'
import { ANA, openTestBlobs } from '../../support/company.ts'
import { AT, batch, CREATE, fillDirectory, post, read } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

const KIB = 1024
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const ERP = as('cbt_erp')

/** An app whose token `erp` has a quota, for all companies unless one is given. */
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

let fileCount = 0
/** A document of `bytes` with unique content. */
function file(bytes: number) {
  const content = Buffer.alloc(bytes, `${fileCount++} `)
  return { name: 'f.txt', mimetype: 'text/plain', base64: content.toString('base64') }
}

async function refused(answering: Promise<Response>, message: RegExp): Promise<void> {
  const response = await answering
  const text = await response.text()
  assert.equal(response.status, 507, text)
  const { status, message: answerMessage, ...rest } = JSON.parse(text) as Record<string, string>
  assert.deepEqual([status, rest], ['error', {}])
  assert.match(answerMessage ?? '', message)
}

async function accepted(answering: Promise<Response>): Promise<number[]> {
  const response = await answering
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { created_documents } = JSON.parse(text) as { created_documents: { id: number }[] }
  return created_documents.map(({ id }) => id)
}

/** Stored sums of the quotas; checks them against the rows. */
async function readUsage(app: TestApp): Promise<{ token: number; company: number }> {
  return asOtherProcess(app, async (db) => {
    const rows = await selectDocuments(db, { limit: 1000 })
    const sum = (selection: typeof rows) => selection.reduce((bytes, { size }) => bytes + size, 0)
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
function listFiles(app: TestApp): string[] {
  const entries = readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith(STORE_ID_NAME))
    .map(({ name }) => name)
}

test('a quota can be used to its last byte, and not exceeded by one', async (t) => {
  const app = await open(t, 10 * KIB)
  await accepted(post(app, CREATE, batch(file(6 * KIB), file(3 * KIB)), ERP))
  await refused(
    post(app, CREATE, batch(file(KIB + 1)), ERP),
    /^The quota of 10 KiB of token erp is used up: the documents of this request do not fit in the 1 KiB left, none was kept$/,
  )
  await refused(post(app, CREATE, batch(file(1000), file(25)), ERP), /10 KiB of token erp/)
  assert.equal(listFiles(app).length, 2)
  await accepted(post(app, CREATE, batch(file(1000), file(24)), ERP))
  assert.deepEqual(await readUsage(app), { token: 10 * KIB, company: 10 * KIB })
  await refused(
    post(app, CREATE, batch(file(1)), ERP),
    /^The quota of 10 KiB of token erp is used up: nothing is left, none was kept$/,
  )
  assert.equal(listFiles(app).length, 4)
  assert.ok(
    app.logLines.some((line) => line.includes('"request refused"') && line.includes('token erp is used up')),
  )
})

test('the quota of a token does not limit other tokens', async (t) => {
  const app = await open(t, KIB)
  await refused(post(app, CREATE, batch(file(2 * KIB)), ERP), /token erp/)
  await accepted(post(app, CREATE, batch(file(2 * KIB))))
  await accepted(post(app, CREATE, batch(file(KIB)), ERP))
  assert.deepEqual(await readUsage(app), { token: KIB, company: 3 * KIB })
})

test('equal blobs count each time, so usage does not reveal earlier uploads', async (t) => {
  const app = await open(t, 2 * KIB)
  const same = file(KIB)
  await accepted(post(app, CREATE, batch(same)))
  await accepted(post(app, CREATE, batch(same, same), ERP))
  await refused(post(app, CREATE, batch(same), ERP), /token erp/)
  assert.deepEqual(await readUsage(app), { token: 2 * KIB, company: 3 * KIB })
})

test('a deletion releases the bytes of its documents', async (t) => {
  const app = await open(t, 4 * KIB)
  await limitCompany(app, 1, 5 * KIB)
  await accepted(post(app, CREATE, batch(file(KIB))))
  const ids = await accepted(post(app, CREATE, batch(file(KIB), file(KIB), file(2 * KIB)), ERP))
  await refused(post(app, CREATE, batch(file(1)), ERP), /4 KiB of token erp/)
  await refused(post(app, CREATE, batch(file(1))), /5 KiB of company 1/)
  await asOtherProcess(app, async (db) => {
    const rows = (await selectDocuments(db, { limit: 100 })).filter(({ id }) => ids.slice(1).includes(id))
    await removeDocuments(db, await openTestBlobs(app.dataDir), rows, ANA, () => {})
    await removeDocuments(db, await openTestBlobs(app.dataDir), rows, ANA, () => {}) // deleted before: releases nothing more
  })
  assert.deepEqual(await readUsage(app), { token: KIB, company: 2 * KIB })
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
  assert.deepEqual(await readUsage(app), { token: 9 * KIB, company: 2 * KIB })
})

test('documents of earlier tokens with the same name count', async (t) => {
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

test('a raised or removed quota applies to the next upload', async (t) => {
  const app = await open(t, KIB)
  const set = (quota: number | null) =>
    asOtherProcess(app, (db) => db.updateTable('tokens').set({ quota }).where('name', '=', 'erp').execute())
  await refused(post(app, CREATE, batch(file(2 * KIB)), ERP), /1 KiB of token erp/)
  await set(2 * KIB)
  await accepted(post(app, CREATE, batch(file(2 * KIB)), ERP))
  await set(KIB) // below the usage: nothing is deleted
  await refused(post(app, CREATE, batch(file(1)), ERP), /1 KiB of token erp is used up: nothing is left/)
  await set(null)
  await accepted(post(app, CREATE, batch(file(9 * KIB)), ERP))
})

test('two uploads at once cannot both use the last bytes', async (t) => {
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
  assert.deepEqual(await readUsage(app), { token: 9 * KIB, company: 9 * KIB })
  // In a cluster blobs without rows are removed later.
  if (!postgres) assert.equal(listFiles(app).length, 6)
})

/**
 * Begins an upload and sends without end. Resolves to the first answer and the number of bytes
 * sent before it.
 */
function sendEndlessly(
  app: TestApp,
  headers: Record<string, string>,
): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    let bytesSent = 0
    const outgoing = request(app.app.url + CREATE, { method: 'POST', headers })
    const more = () => {
      if (outgoing.destroyed) return
      bytesSent += 48 * KIB
      outgoing.write('QUJD'.repeat(12 * KIB), () => setImmediate(more))
    }
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      outgoing.off('error', reject).on('error', () => {})
      outgoing.destroy()
      resolve({ status: response.statusCode ?? 0, sent: bytesSent })
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
    const { status, sent } = await sendEndlessly(app, ERP)
    assert.equal(status, 507)
    assert.ok(sent > 1024 * KIB && sent < 32 * 1024 * KIB, `${sent} bytes were sent`)
    await until(() => listFiles(app).length === 0)
    assert.deepEqual(await readUsage(app), { token: 0, company: 0 })
    await accepted(post(app, CREATE, batch(file(1024 * KIB)), ERP))
  })
}

test('stored bytes alone count: no unknown field, and of a repeated field the last', async (t) => {
  const app = await open(t, 3 * KIB)
  const unknown = JSON.stringify('x'.repeat(100 * KIB))
  const one = `{"name":"a","mimetype":"a/b","unknown":${unknown},
    "base64":"${file(2 * KIB).base64}","base64":"${file(KIB).base64}"}`
  const documents = `"documents":[${one},${JSON.stringify(file(2 * KIB))}]`
  const body = `{"owner_id":1,"company_id":1,"agent_id":1,"unknown":${unknown},${documents},${documents}}`
  await accepted(post(app, CREATE, body, ERP))
  assert.deepEqual(await readUsage(app), { token: 3 * KIB, company: 3 * KIB })
})

test('an upload that used up the quota is repeated by its key, and the key admits nothing else', async (t) => {
  const app = await open(t, KIB)
  const body = batch(file(KIB))
  const headers = { ...ERP, 'idempotency-key': 'one' }
  const first = await accepted(post(app, CREATE, body, headers))
  assert.deepEqual(await accepted(post(app, CREATE, body, headers)), first)
  assert.equal((await post(app, CREATE, batch(file(KIB)), headers)).status, 409)
  await refused(post(app, CREATE, body, { ...ERP, 'idempotency-key': 'two' }), /token erp/)
  assert.deepEqual(await readUsage(app), { token: KIB, company: KIB })
})

test('a token gets no facts about the quota of another company', async (t) => {
  const app = await open(t, null, 1)
  await limitCompany(app, 2, 1)
  const body = { ...batch(file(KIB)), company_id: 2, agent_id: 3, owner_id: 2 }
  assert.equal((await post(app, CREATE, body, ERP)).status, 404)
})
