// Weeks in seconds: a bank that publishes day by day, fails by chance and corrects itself, a server that is restarted,
// clients that upload, keys that come and go. At the end of each day a model says what is stored and answered.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addDays, type IsoDate } from '../../src/dates.ts'
import type { Fault } from '../../src/demo/bank.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { createBackup } from '../../src/domain/backup/backup.ts'
import { removeDocuments } from '../../src/domain/documents/removal.ts'
import { hashOfSecret, makeSecret } from '../../src/domain/secrets.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/api-keys.ts'
import { openBackupSet } from '../../src/store/backup/set.ts'
import { selectDocuments } from '../../src/store/documents.ts'
import { selectEvents } from '../../src/store/events.ts'
import { selectRevisions } from '../../src/store/rates/record.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { updateTokenQuota } from '../../src/store/tokens.ts'
import { selectWrongSums } from '../../src/store/usage.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { faultsIn } from '../support/backups.ts'
import { openTestBlobs } from '../support/company.ts'
import { CREATE, fillDatabase, pdf, TOKENS, tokenName } from '../support/directory.ts'
import { daysFrom } from '../support/rates/memory-bank.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { until } from '../support/terminal.ts'
import { figure, SEED, scaled } from './scale.ts'

const FIRST_DAY = '2026-03-17'
const BACKFILL = '2026-02-20'
const DOLLAR = '318'
const EURO = '333'
// Those that the program does not wait and ask again after.
const FAULTS: Fault[] = [
  { status: 400, body: 'no' },
  { status: 302, headers: { location: '/' } },
  { status: 200, body: '<html>' },
  { status: 200, body: '{"estado":false}' },
]

const CLERKS = ['ana', 'beto']
const ROOM = 90 // bytes: some three documents

type Week = {
  random: Random
  corrected: Map<string, string>
  sent: Map<number, string>
  /** Who deleted which document. */
  deleted: { document_id: number; actor: string }[]
  revisions: number
}

test('a week of everything leaves the store and the answers as the model says, every day', async (t) => {
  const seeds = scaled({ short: 2, long: 40 })
  figure(t, 'seeds', `${SEED} to ${SEED + seeds - 1}`)
  for (let seed = SEED; seed < SEED + seeds; seed++) {
    await t.test(`seed ${seed}`, (one) => liveAWeek(one, randomOf(seed)))
  }
})

async function liveAWeek(t: TestContext, random: Random): Promise<void> {
  const dataDir = temporaryDirectory(t)
  const sets = temporaryDirectory(t)
  await fillDatabase(dataDir)
  await limit(dataDir)
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
    if (day > 0 && random.chance(0.6)) correct(week, addDays(today, -random.int(1, 10)))
    const share = random.chance(0.5) ? random.next() : 0
    app.bank.faults = () => (random.chance(share) ? FAULTS[random.int(0, FAULTS.length - 1)] : undefined)
    const { run } = await app.sync()
    assert.ok(run.status === 'ok' || share > 0, run.message ?? '')
    app.bank.faults = undefined
    assert.equal((await app.sync()).run.status, 'ok')
    for (let upload = random.int(0, 3); upload > 0; upload--) await send(app, week)
    if (random.chance(0.5)) await deleteSome(app, week)
    await changeKeys(app)
    await compare(app, week, today)
    const set = await openBackupSet(join(sets, 'set'), dataDir)
    const { path } = await createBackup(set, { dataDir, now: app.clock.read() }).finally(() => set.close())
    assert.deepEqual((await faultsIn(path)).lines, [])
  }
  await app.app.close()
}

/** The bank takes a value of some days ago back, and gives another. */
function correct(week: Week, day: IsoDate): void {
  const key = `${DOLLAR} ${day}`
  const old = week.corrected.get(key) ?? inventedValue(DOLLAR, day)
  if (old === undefined) return
  week.corrected.set(key, `4${week.random.int(60, 99)}.${week.random.int(11, 98)}7`)
  if (week.corrected.get(key) !== old) week.revisions += 1
}

/** The documents of a token may have no more than some bytes. */
async function limit(dataDir: string): Promise<void> {
  const db = openDatabase(dataDir)
  await updateTokenQuota(db, tokenName(TOKENS.all), ROOM)
  await db.destroy()
}

async function send(app: TestApp, week: Week): Promise<void> {
  const text = `factura ${week.random.next()}`
  const body = JSON.stringify({ company_id: 1, agent_id: 1, owner_id: 1, documents: [pdf(text, 'f.pdf')] })
  const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/json' }
  const response = await fetch(app.app.url + CREATE, { method: 'POST', headers, body })
  const used = [...week.sent.values()].join('').length
  const fits = used + text.length <= ROOM
  assert.equal(response.status, fits ? 200 : 507, await response.clone().text())
  if (!fits) return
  const made = (await response.json()) as { created_documents: { id: number }[] }
  week.sent.set(made.created_documents[0]?.id ?? 0, text)
}

/** Somebody deletes what was sent, beside the server. */
async function deleteSome(app: TestApp, week: Week): Promise<void> {
  const db = openDatabase(app.dataDir)
  const actor = CLERKS[week.random.int(0, 1)] ?? ''
  const by = { via: 'cli', actor, clock: app.clock.read } as const
  const removed = ({ id }: { id: number }) => {
    week.sent.delete(id)
    week.deleted.push({ document_id: id, actor })
  }
  try {
    const documents = (await selectDocuments(db, { limit: 100 })).filter(() => week.random.chance(0.5))
    if (documents.length > 0) {
      await removeDocuments(db, await openTestBlobs(app.dataDir), documents, by, removed)
    }
  } finally {
    await db.destroy()
  }
}

/** A key is made and let in, revoked and let in no more. */
async function changeKeys(app: TestApp): Promise<void> {
  const key = makeSecret('cbk_')
  const db = openDatabase(app.dataDir)
  const ask = async () => (await app.get('/api/v1/providers', { 'x-api-key': key })).status
  const at = app.clock.read().toISOString()
  try {
    const id = await insertApiKey(db, { name: key.slice(-12), hash: hashOfSecret(key), createdAt: at })
    await until(async () => (await ask()) === 200)
    await revokeApiKey(db, id, at)
    await until(async () => (await ask()) === 401)
  } finally {
    await db.destroy()
  }
}

async function compare(app: TestApp, week: Week, today: IsoDate): Promise<void> {
  const series = await app.json<{ id: number; external_code: string }[]>('/api/v1/series')
  for (const code of [DOLLAR, '317', EURO]) {
    const id = series.find(({ external_code }) => external_code === code)?.id
    const last = code === EURO ? today : addDays(today, 1)
    const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
      `/api/v1/series/${id}/history?from=${BACKFILL}&to=${last}`,
    )
    const expected = daysFrom(BACKFILL, last).flatMap((day) => {
      const found = week.corrected.get(`${code} ${day}`) ?? inventedValue(code, day)
      return found === undefined ? [] : [[day, found]]
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
