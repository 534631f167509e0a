// Simulated weeks. The bank publishes day by day, fails by chance and corrects values; the server is restarted,
// clients upload, keys are created and revoked. After each day, a model predicts the stored rows and the answers.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BankFault } from '../../src/demo/bank.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { hashOfSecret, makeSecret } from '../../src/domain/access/secrets.ts'
import { removeDocuments } from '../../src/domain/documents/removal.ts'
import { createBackup } from '../../src/domain/operations/backup/backup.ts'
import { openBackupSet } from '../../src/domain/operations/backup/set.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/access/api-keys.ts'
import { updateTokenQuota } from '../../src/store/access/tokens.ts'
import { selectDocuments } from '../../src/store/documents/documents.ts'
import { selectEvents } from '../../src/store/documents/events.ts'
import { selectWrongSums } from '../../src/store/documents/usage.ts'
import { selectRevisions } from '../../src/store/rates/change-log.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { addDays, type IsoDate } from '../../src/values/dates.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { checkBackup } from '../support/backups.ts'
import { openTestBlobs } from '../support/company.ts'
import { CREATE, fillDatabase, pdf, TOKENS, tokenName } from '../support/directory.ts'
import { listDays } from '../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { until } from '../support/terminal.ts'
import { figure, scaled } from './scale.ts'

const FIRST_DAY = '2026-03-17'
const BACKFILL = '2026-02-20'
const DOLLAR = '318'
const EURO = '333'
// Faults after which the program does not retry.
const FAULTS: BankFault[] = [
  { status: 400, body: 'no' },
  { status: 302, headers: { location: '/' } },
  { status: 200, body: '<html>' },
  { status: 200, body: '{"estado":false}' },
]

const CLERKS = ['ana', 'beto']
const QUOTA = 90 // bytes: about three documents

type Week = {
  random: Random
  corrected: Map<string, string>
  sent: Map<number, string>
  /** Deletions, with the clerk who made each. */
  deleted: { document_id: number; actor: string }[]
  revisions: number
}

test('rates, documents and keys match the model after each day of a random week', async (t) => {
  const seeds = scaled({ short: 2, long: 40 })
  figure(t, 'seeds', `${SEED} to ${SEED + seeds - 1}`)
  for (let seed = SEED; seed < SEED + seeds; seed++) {
    await t.test(`seed ${seed}`, (seedTest) => runWeek(seedTest, createRandom(seed)))
  }
})

async function runWeek(t: TestContext, random: Random): Promise<void> {
  const dataDir = temporaryDirectory(t)
  const sets = temporaryDirectory(t)
  await fillDatabase(dataDir)
  await limitQuota(dataDir)
  const week: Week = { random, corrected: new Map(), sent: new Map(), deleted: [], revisions: 0 }
  const value = (code: string, day: IsoDate) => week.corrected.get(`${code} ${day}`)
  const open = (day: IsoDate) =>
    startTestApp(t, { now: `${day}T11:30:00Z`, dataDir, backfillFrom: BACKFILL, bank: { value } })
  let app = await open(FIRST_DAY)
  for (let day = 0; day < 7; day++) {
    const today = addDays(FIRST_DAY, day)
    app.clock.now = new Date(`${today}T11:30:00Z`)
    if (random.chance(0.3)) {
      await app.app.close()
      await app.bank.close()
      app = await open(today)
    }
    if (day > 0 && random.chance(0.6)) correctValue(week, addDays(today, -random.int(1, 10)))
    const share = random.chance(0.5) ? random.next() : 0
    app.bank.faults = () => (random.chance(share) ? FAULTS[random.int(0, FAULTS.length - 1)] : undefined)
    const { run } = await app.sync()
    assert.ok(run.status === 'ok' || share > 0, run.message ?? '')
    app.bank.faults = undefined
    assert.equal((await app.sync()).run.status, 'ok')
    for (let upload = random.int(0, 3); upload > 0; upload--) await uploadDocument(app, week)
    if (random.chance(0.5)) await deleteDocuments(app, week)
    await changeKeys(app)
    await compareWithModel(app, week, today)
    const set = await openBackupSet(join(sets, 'set'), dataDir)
    const { path } = await createBackup(set, { dataDir, now: app.clock.read() }).finally(() => set.close())
    assert.deepEqual((await checkBackup(path)).lines, [])
  }
  await app.app.close()
}

/** The bank replaces a value of some days ago. */
function correctValue(week: Week, day: IsoDate): void {
  const key = `${DOLLAR} ${day}`
  const oldValue = week.corrected.get(key) ?? inventedValue(DOLLAR, day)
  if (oldValue === undefined) return
  week.corrected.set(key, `4${week.random.int(60, 99)}.${week.random.int(11, 98)}7`)
  if (week.corrected.get(key) !== oldValue) week.revisions += 1
}

/** Limits the documents of a token to QUOTA bytes. */
async function limitQuota(dataDir: string): Promise<void> {
  const db = openDatabase(dataDir)
  await updateTokenQuota(db, tokenName(TOKENS.all), QUOTA)
  await db.destroy()
}

async function uploadDocument(app: TestApp, week: Week): Promise<void> {
  const text = `factura ${week.random.next()}`
  const body = JSON.stringify({ company_id: 1, agent_id: 1, owner_id: 1, documents: [pdf(text, 'f.pdf')] })
  const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/json' }
  const response = await fetch(app.app.url + CREATE, { method: 'POST', headers, body })
  const usedBytes = [...week.sent.values()].join('').length
  const fits = usedBytes + text.length <= QUOTA
  assert.equal(response.status, fits ? 200 : 507, await response.clone().text())
  if (!fits) return
  const reply = (await response.json()) as { created_documents: { id: number }[] }
  week.sent.set(reply.created_documents[0]?.id ?? 0, text)
}

/** A clerk deletes documents by a command beside the server. */
async function deleteDocuments(app: TestApp, week: Week): Promise<void> {
  const db = openDatabase(app.dataDir)
  const actor = CLERKS[week.random.int(0, 1)] ?? ''
  const origin = { via: 'cli', actor, clock: app.clock.read } as const
  const forget = ({ id }: { id: number }) => {
    week.sent.delete(id)
    week.deleted.push({ document_id: id, actor })
  }
  try {
    const documents = (await selectDocuments(db, { limit: 100 })).filter(() => week.random.chance(0.5))
    if (documents.length > 0) {
      await removeDocuments(db, await openTestBlobs(app.dataDir), documents, origin, forget)
    }
  } finally {
    await db.destroy()
  }
}

/** A new key is accepted; after its revocation it is rejected. */
async function changeKeys(app: TestApp): Promise<void> {
  const key = makeSecret('cbk_')
  const db = openDatabase(app.dataDir)
  const requestStatus = async () => (await app.get('/api/v1/providers', { 'x-api-key': key })).status
  const now = app.clock.read().toISOString()
  try {
    const id = await insertApiKey(db, { name: key.slice(-12), hash: hashOfSecret(key), createdAt: now })
    await until(async () => (await requestStatus()) === 200)
    await revokeApiKey(db, id, now)
    await until(async () => (await requestStatus()) === 401)
  } finally {
    await db.destroy()
  }
}

async function compareWithModel(app: TestApp, week: Week, today: IsoDate): Promise<void> {
  const series = await app.json<{ id: number; external_code: string }[]>('/api/v1/series')
  for (const code of [DOLLAR, '317', EURO]) {
    const id = series.find(({ external_code }) => external_code === code)?.id
    const last = code === EURO ? today : addDays(today, 1)
    const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
      `/api/v1/series/${id}/history?from=${BACKFILL}&to=${last}`,
    )
    const expected = listDays(BACKFILL, last).flatMap((day) => {
      const value = week.corrected.get(`${code} ${day}`) ?? inventedValue(code, day)
      return value === undefined ? [] : [[day, value]]
    })
    assert.deepEqual(
      points.map((point) => [point.rate_date, point.value]),
      expected,
      `${code} on ${today}`,
    )
  }
  for (const [id, text] of week.sent) {
    const headers = { authorization: `Bearer ${TOKENS.all}` }
    const response = await fetch(`${app.app.url}/api/v1/documents/${id}/content`, { headers })
    assert.equal(await response.text(), text)
  }
  for (const { document_id } of week.deleted) {
    const headers = { authorization: `Bearer ${TOKENS.all}` }
    const response = await fetch(`${app.app.url}/api/v1/documents/${document_id}/content`, { headers })
    assert.equal(response.status, 404)
  }
  const db = openDatabase(app.dataDir)
  try {
    const documents = await selectDocuments(db, { limit: 1000 })
    assert.deepEqual(new Set(documents.map(({ id }) => id)), new Set(week.sent.keys()))
    assert.ok(documents.every(({ created_by }) => created_by === tokenName(TOKENS.all)))
    const events = await selectEvents(db, { limit: 1000 })
    assert.deepEqual(
      events.map(({ document_id, actor }) => ({ document_id, actor })),
      week.deleted,
    )
    assert.deepEqual(await selectWrongSums(db), [])
    assert.equal((await selectRevisions(db, {})).length, week.revisions)
  } finally {
    await db.destroy()
  }
}
