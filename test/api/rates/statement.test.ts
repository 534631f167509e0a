// Statements of conversions: their text, their digest, and their verification later (decisions#statements). Rates and
// results are computed here with whole numbers, from the values of the bank.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { createBackup } from '../../../src/domain/operations/backup/backup.ts'
import { restoreBackup } from '../../../src/domain/operations/backup/restore.ts'
import { openBackupSet } from '../../../src/domain/operations/backup/set.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { replaceCoverage } from '../../../src/store/rates/coverage.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR, JPY } from '../../support/rates/memory-bank.ts'
import { ofSqlite, temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { formatFraction, inverted, parseFraction, rounded, times } from '../../unit/domain/support.ts'
import { asOtherProcess, validationItems } from '../support.ts'

type Leg = { pair: string; rate_type: string; rate_date: string; value: string; inverse: boolean }
type Conversion = { rate: string; result: string; rate_type: string; legs: Leg[]; as_of: string }
type Correction = {
  pair: string
  rate_type: string
  rate_date: string
  was: unknown
  is: unknown
  at: unknown
  kind: string
}
type Statement = {
  statement: string
  sha256: string
  as_of: string
  conversion: Conversion | Conversion[]
  matches?: boolean
  now?: { result: unknown; detail?: string; corrections: Correction[] }
}

const NOW = '2026-03-24T12:00:00.000Z'
const PATH = '/api/v1/convert/statement'

const ask = (app: TestApp, query: string) => app.json<Statement>(`${PATH}?${query}`)
const verify = (app: TestApp, query: string, { as_of, sha256 }: Statement) =>
  ask(app, `${query}&as_of=${as_of}&sha256=${sha256}`)

function sha256sum(text: string): string {
  return execFileSync('sha256sum', { input: text }).toString().split(' ')[0] ?? ''
}

/** A bank with decimals in each value, synchronized at NOW. */
async function openStore(t: Parameters<typeof startMemoryApp>[0]): Promise<MemoryApp> {
  const app = await startMemoryApp(t, { now: NOW, backfillFrom: '2026-03-01' })
  const until = (last: string, value: string) => (day: string) => (day <= last ? value : undefined)
  app.memory.publish['317'] = until('2026-03-25', '487.07')
  app.memory.publish['318'] = until('2026-03-25', '492.95')
  app.memory.publish[EUR] = until('2026-03-20', '1.20534')
  app.memory.publish[JPY] = until('2026-03-23', '119.256')
  await app.sync()
  return app
}

test('a statement has the conversion in lines, and the digest of its bytes', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1500.50&from=eur&to=crc&on=2026-03-22'
  const { statement, sha256, as_of, conversion, ...rest } = await ask(app, query)
  const rate = rounded(times(parseFraction('1.20534'), parseFraction('492.95')), 15)
  const result = formatFraction(times(parseFraction('1500.5'), parseFraction(rate)))
  const lines = [
    'cambista-constancia/1',
    `as_of=${as_of}`,
    'on=2026-03-22',
    'amount=1500.5 EUR',
    'type=venta',
    'leg=EUR/USD referencia 2026-03-20 1.20534 multiply',
    'leg=USD/CRC venta 2026-03-22 492.95 multiply',
    `rate=${rate}`,
    `result=${result} CRC`,
  ]
  assert.equal(statement, `${lines.join('\n')}\n`)
  assert.equal(sha256, sha256sum(statement))
  assert.deepEqual(rest, {})
  const single = await app.json(`/api/v1/convert?${query}&details=true&as_of=${as_of}`)
  assert.deepEqual(conversion, single)
  const response = await app.get(`${PATH}?${query}`)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(response.headers.get('etag'), null)
})

test('a leg may be inverse or rounded, and a route may have no side or no leg', async (t) => {
  const app = await openStore(t)
  app.takeToken(2)
  app.memory.publish['318'] = () => '493.1'
  await app.sync({ from: '2026-03-24', to: '2026-03-25' })
  const lines = async (query: string) => (await ask(app, query)).statement.split('\n').slice(2, -1)
  const rate = rounded(times(inverted(parseFraction('119.256')), parseFraction('493.1')), 15)
  assert.deepEqual(await lines('amount=1e3&from=JPY&to=CRC'), [
    ...['on=2026-03-24', 'amount=1000 JPY', 'type=venta'],
    'leg=USD/JPY referencia 2026-03-23 119.256 divide',
    'leg=USD/CRC venta 2026-03-24 493.1 multiply rounded_to=2',
    `rate=${rate}`,
    `result=${formatFraction(times(parseFraction('1000'), parseFraction(rate)))} CRC`,
  ])
  for (const type of ['venta', 'compra', 'BOTH']) {
    assert.deepEqual(await lines(`amount=2&from=EUR&to=USD&on=2026-03-20&type=${type}`), [
      ...['on=2026-03-20', 'amount=2 EUR', 'type=referencia'],
      ...['leg=EUR/USD referencia 2026-03-20 1.20534 multiply', 'rate=1.20534', 'result=2.41068 USD'],
    ])
  }
  assert.deepEqual(await lines('amount=2&from=USD&to=USD'), [
    ...['on=2026-03-24', 'amount=2 USD', 'type=referencia', 'rate=1', 'result=2 USD'],
  ])
})

test('type=both has the lines of compra before those of venta, and two conversions', async (t) => {
  const app = await openStore(t)
  const { statement, conversion } = await ask(app, 'amount=100&from=USD&to=CRC&type=both')
  assert.deepEqual(statement.split('\n').slice(3), [
    ...['amount=100 USD', 'type=both'],
    ...['leg=USD/CRC compra 2026-03-24 487.07 multiply', 'rate=487.07', 'result=48707 CRC'],
    ...['leg=USD/CRC venta 2026-03-24 492.95 multiply', 'rate=492.95', 'result=49295 CRC', ''],
  ])
  assert.ok(Array.isArray(conversion))
  assert.deepEqual(
    conversion.map(({ rate_type, result, legs }) => [rate_type, result, legs.length]),
    [
      ['compra', '48707', 1],
      ['venta', '49295', 1],
    ],
  )
})

test('a statement matches its digest, and no other', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1500&from=EUR&to=CRC&on=2026-03-22'
  const first = await ask(app, query)
  assert.deepEqual(await verify(app, query, first), { ...first, matches: true })
  const upper = { ...first, sha256: first.sha256.toUpperCase() }
  assert.equal((await verify(app, query, upper)).matches, true)
  for (const other of ['amount=1500.01', 'amount=1501']) {
    const request = query.replace('amount=1500', other)
    assert.equal((await verify(app, request, first)).matches, false)
  }
  const digit = first.sha256[5] === '0' ? '1' : '0'
  const sha256 = first.sha256.slice(0, 5) + digit + first.sha256.slice(6)
  assert.equal((await verify(app, query, { ...first, sha256 })).matches, false)
  const typed = first.statement.replace('492.95', '492.96')
  assert.equal((await verify(app, query, { ...first, sha256: sha256sum(typed) })).matches, false)
})

test('after a correction of the bank a statement matches, and names the correction', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1500&from=EUR&to=CRC&on=2026-03-22'
  const both = 'amount=1&from=USD&to=CRC&on=2026-03-22&type=both'
  const [first, sides] = [await ask(app, query), await ask(app, both)]
  app.clock.now = new Date('2026-03-27T12:00:00Z')
  const usual = app.memory.publish['318']
  app.memory.publish['318'] = (day) => (day === '2026-03-22' ? '493.15' : usual?.(day))
  await app.sync()
  const again = await verify(app, query, first)
  const rate = rounded(times(parseFraction('1.20534'), parseFraction('493.15')), 15)
  const result = formatFraction(times(parseFraction('1500'), parseFraction(rate)))
  const at = again.now?.corrections[0]?.at
  const correction = {
    pair: 'USD/CRC',
    rate_type: 'venta',
    rate_date: '2026-03-22',
    was: '492.95',
    is: '493.15',
    kind: 'correction',
  }
  assert.deepEqual(again, { ...first, matches: true, now: { result, corrections: [{ ...correction, at }] } })
  const [revision] = await app
    .json<{ revisions: { replaced_at: string }[] }>('/api/v1/revisions')
    .then(({ revisions }) => revisions)
  assert.equal(at, revision?.replaced_at)
  const { now } = await verify(app, both, sides)
  assert.deepEqual(now, { result: ['487.07', '493.15'], corrections: [{ ...correction, at }] })
  assert.equal((await ask(app, query)).now, undefined)
})

test('a value that was published later is named without a former one', async (t) => {
  const app = await openStore(t)
  const query = 'amount=10&from=EUR&to=USD&on=2026-03-23'
  const first = await ask(app, query)
  app.memory.publish[EUR] = (day) => (day === '2026-03-23' ? '1.3' : '1.20534')
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  await app.sync()
  const { now, ...rest } = await verify(app, query, first)
  assert.deepEqual(rest, { ...first, matches: true })
  const [correction] = now?.corrections ?? []
  assert.match(String(correction?.at), /^2026-03-25T12:00:00\.\d{3}Z$/)
  assert.deepEqual(now, {
    result: '13',
    corrections: [
      {
        ...{ pair: 'EUR/USD', rate_type: 'referencia', rate_date: '2026-03-23', was: null, is: '1.3' },
        at: correction?.at,
        kind: 'new',
      },
    ],
  })
})

test('a change has the kind of its revision', async (t) => {
  const app = await openStore(t)
  const query = 'amount=10&from=EUR&to=USD&on=2026-03-20'
  const changeKinds = async (first: Statement) =>
    (await verify(app, query, first)).now?.corrections.map(({ was, is, kind }) => [was, is, kind])
  app.takeToken(2)
  app.memory.publish[EUR] = () => '1.3'
  await app.sync()
  const short = await ask(app, query)
  app.giveToken()
  app.memory.publish[EUR] = () => '1.30412'
  await app.sync()
  assert.deepEqual(await changeKinds(short), [['1.3', '1.30412', 'refined']])
  const long = await ask(app, query)
  app.memory.publish[EUR] = () => '1.31412'
  await app.sync()
  assert.deepEqual(await changeKinds(short), [['1.3', '1.31412', 'correction']])
  assert.deepEqual(await changeKinds(long), [['1.30412', '1.31412', 'correction']])
})

test('where the answer of today is an error, a statement still matches, and has the error', async (t) => {
  const app = await openStore(t)
  const query = 'amount=10&from=EUR&to=USD&on=2026-03-22'
  const first = await ask(app, query)
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  const [{ id } = { id: 0 }] = await app.json<{ id: number }[]>('/api/v1/series?base=EUR')
  await asOtherProcess(app, async (db) => {
    const days = [
      { from: '2026-03-01', to: '2026-03-20' },
      { from: '2026-03-22', to: '2026-03-25' },
    ]
    await replaceCoverage(db, 'answered', new Map([[id, days]]), app.clock.now.getTime())
    await raiseRevision(db)
  })
  const isSeen = async () => (await app.get(`/api/v1/convert?${query}`)).status === 404
  await until(isSeen)
  const detail = 'the days from 2026-03-21 to 2026-03-21 have not been synchronized'
  assert.deepEqual(await verify(app, query, first), {
    ...{ ...first, matches: true, now: { result: null, detail, corrections: [] } },
  })
})

test('a later commit has a later instant at the same time of the clock', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1&from=USD&to=CRC&on=2026-03-22'
  const statements: Statement[] = []
  for (const value of ['500', '501', '502', '503', '504']) {
    statements.push(await ask(app, query))
    app.memory.publish['318'] = () => value
    await app.sync({ from: '2026-03-22', to: '2026-03-22' })
  }
  const instants = statements.map(({ as_of }) => as_of)
  assert.deepEqual(instants, [...new Set(instants)].toSorted())
  assert.ok(
    instants.every((one) => one > NOW && one < '2026-03-24T12:00:01Z'),
    instants.join(),
  )
  for (const [at, one] of statements.entries()) {
    const { statement, matches, now } = await verify(app, query, one)
    assert.deepEqual([statement, matches, now?.result], [one.statement, true, '504'], String(at))
  }
  // Other endpoints accept such an instant too, though it is ahead of the clock; none accepts a later one.
  const { rate } = await app.json<{ rate: string }>(`/api/v1/convert?${query}&as_of=${instants.at(-1)}`)
  assert.equal(rate, '503')
  const [item] = await validationItems(app, `${PATH}?${query}&as_of=2026-03-24T12:00:02Z`)
  assert.equal(item?.msg, 'as_of must not be in the future')
})

test('after a clock was set back, instants still rise', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1&from=USD&to=CRC&on=2026-03-22'
  const first = await ask(app, query)
  app.clock.now = new Date('2026-03-24T11:00:00Z')
  app.memory.publish['318'] = () => '500'
  await app.sync({ from: '2026-03-22', to: '2026-03-22' })
  const second = await ask(app, query)
  assert.ok(second.as_of > first.as_of, `${second.as_of} after ${first.as_of}`)
  assert.equal((await verify(app, query, first)).matches, true)
  assert.equal((await verify(app, query, second)).matches, true)
})

test('a day after tomorrow is 422, by the clock and not by as_of', async (t) => {
  const app = await openStore(t)
  app.clock.now = new Date('2026-04-02T12:00:00Z')
  const query = 'amount=1&from=USD&to=CRC&on='
  for (const asOf of ['', '&as_of=2026-03-25T12:00:00Z']) {
    const [item] = await validationItems(app, `${PATH}?${query}2026-04-04${asOf}`)
    assert.deepEqual([item?.loc, item?.msg], [['query', 'on'], 'on must not be after tomorrow'])
    assert.match((await ask(app, `${query}2026-04-03${asOf}`)).statement, /\non=2026-04-03\n/)
  }
  assert.match(
    (await ask(app, 'amount=1&from=USD&to=CRC&as_of=2026-03-25T12:00:00Z')).statement,
    /\non=2026-04-02\n/,
  )
})

test('wrong parameters are errors that name them', async (t) => {
  const app = await openStore(t)
  const messages = async (query: string) =>
    (await validationItems(app, `${PATH}?${query}`)).map(({ msg }) => msg)
  assert.deepEqual(await messages(''), ['amount is required', 'from is required', 'to is required'])
  assert.deepEqual(await messages('amount=-1&from=USD&to=CRC&type=referencia&sha256=abc&provider=bccr'), [
    'amount must be a decimal number greater than 0, at most 30 digits before the point and 20 after (a + in a URL is %2B)',
    'type must be compra, venta or both',
    'sha256 must be a SHA-256: 64 hexadecimal digits',
    'there is no parameter provider: this path has amount, from, to, type, on, as_of, sha256',
  ])
  const unknown = await app.get(`${PATH}?amount=1&from=USD&to=PAB`)
  assert.deepEqual(
    [unknown.status, await unknown.json()],
    [404, { detail: 'Cannot convert: no rates of PAB are stored' }],
  )
})

test('an instant before the record has the beginning of the record beside the detail', async (t) => {
  const app = await openStore(t)
  const query = 'amount=1&from=USD&to=CRC&as_of=2026-03-24T11:59:59Z'
  const response = await app.get(`${PATH}?${query}`)
  const detail = `as_of is before the record of this store, which begins at ${NOW}`
  assert.deepEqual([response.status, await response.json()], [404, { detail, record_from: NOW }])
  assert.deepEqual(await (await app.get(`/api/v1/convert?${query}`)).json(), { detail })
})

test('an instant in the gap of a restore has the gap beside the detail', ofSqlite, async (t) => {
  const app = await openStore(t)
  const query = 'amount=1&from=USD&to=CRC&on=2026-03-22'
  const before = await ask(app, query)
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  const home = temporaryDirectory(t)
  const set = await openBackupSet(join(home, 'set'), app.dataDir)
  const { path } = await createBackup(set, { dataDir: app.dataDir, now: app.clock.now })
  set.close()
  app.clock.now = new Date('2026-03-26T12:00:00Z')
  app.memory.publish['318'] = () => '500'
  await app.sync({ from: '2026-03-22', to: '2026-03-22' })
  const later = await ask(app, query)
  await app.app.close()
  const dataDir = join(home, 'data')
  const restoreTime = new Date('2026-03-27T12:00:00Z')
  const request = { dataDir, owner: undefined, now: restoreTime, clock: () => restoreTime }
  await restoreBackup(path, request, { fault: assert.fail, inPieces: false })
  app.clock.now = new Date('2026-03-28T12:00:00Z')
  const restored = await startTestApp(t, { dataDir, clock: app.clock, providers: [app.memory.provider] })
  const response = await restored.get(`${PATH}?${query}&as_of=${later.as_of}&sha256=${later.sha256}`)
  const gap = { from: '2026-03-25T12:00:00.000Z', to: '2026-03-27T12:00:00.000Z' }
  assert.deepEqual(
    [response.status, await response.json()],
    [404, { detail: `what this store had from ${gap.from} until it was restored at ${gap.to} is lost`, gap }],
  )
  const batch = await fetch(`${restored.app.url}/api/v1/convert/batch?as_of=${later.as_of}`, {
    ...{ method: 'POST', headers: { 'x-api-key': restored.key }, body: '[]' },
  })
  assert.deepEqual([batch.status, ((await batch.json()) as { gap: unknown }).gap], [404, gap])
  assert.equal((await verify(restored, query, before)).matches, true)
  const after = await ask(restored, query)
  assert.equal(after.as_of, gap.to, 'the newest instant is outside of the gap')
  assert.equal((await verify(restored, query, after)).matches, true)
})
