// A bank that means harm: whatever it answers, a run ends and says why, nothing of it is stored, what was stored
// stays, and an honest bank heals the rest. The heavy answers go to the program, whose memory is measured.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { addDays, todayIn } from '../../src/dates.ts'
import { startBank } from '../../src/demo/bank.ts'
import { bccr, openSession } from '../../src/providers/bccr/bccr.ts'
import { selectCoverage } from '../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { Db } from '../../src/store/tables.ts'
import { syncAll } from '../../src/sync/run.ts'
import { checkComplete } from '../support/completeness.ts'
import { startProgram } from '../support/program.ts'
import {
  bomb,
  drips,
  type Evil,
  type HostileBank,
  pours,
  says,
  startGarbage,
  startHostileBank,
} from '../support/rates/hostile-bank.ts'
import { openDesk } from '../support/rates/memory-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, LONG, PROGRAM, scaled } from './scale.ts'

const TOKEN = 'operator-secret.token'
const SERVICES = { public: TOKEN, site: undefined }
const MOST_MIB = 400
const GIGABYTE = 2 ** 30
const FLOOR = '2026-02-01'

const row = (fecha: string, value: string) => `{"fecha":"${fecha}","valorDatoPorPeriodo":${value}}`

/** An answer of either service with one value of everything. */
function answered(date: string, value: string): Evil {
  return (response, request) => {
    const alone = /indicadoresEconomicos\/(\d+)/.exec(request.url ?? '')?.[1]
    if (alone !== undefined || request.url?.includes('/cuadro/')) {
      const code = alone ?? '333'
      const datos = `[{"codigoIndicador":"${code}","nombreIndicador":"x","series":[${row(date, value)}]}]`
      return says(`{"estado":true,"datos":${datos}}`)(response, request)
    }
    const until = /FechaFin=([\d-]+)/.exec(request.url ?? '')?.[1] ?? ''
    if (until < date && /^20/.test(date)) {
      return says('{"columnas":[],"indicadoresRaiz":[]}')(response, request)
    }
    const [year, month = '', day] = date.split('-')
    const name = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')[Number(month) - 1] ?? 'xyz'
    const columns = `[{"field":"serie1","tituloIngles":"${day} ${name} ${year}"}]`
    const codes = request.url?.includes('IdGrupoVariable=1&') ? [317, 318] : [333]
    const indicators = codes.map((code) => `{"idIndicador":${code},"series":{"serie1Ingles":${value}}}`)
    says(`{"columnas":${columns},"indicadoresRaiz":[${indicators}]}`)(response, request)
  }
}

const DAY = '2026-03-20'
const text = (body: string): Evil => says(body)
const nested = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times)

const HARMS: [what: string, evil: Evil, words: RegExp][] = [
  ['nothing', says(''), /not JSON/],
  ['an HTML page', says('<html><table>', { 'content-type': 'text/html' }), /not JSON: <html>/],
  ['JSON 10,000 levels deep', text(nested('[', ']', 10_000)), /nests too deep/],
  ['objects 10,000 levels deep', text('{"datos":'.repeat(10_000)), /not JSON|too deep/],
  ['a date of 9999', answered('9999-12-31', '"500"'), /rejected|has no day|begins on/],
  ['a date of 0001', answered('0001-01-01', '"500"'), /rejected|has no day/],
  ['the 30th of February', answered('2026-02-30', '"500"'), /not a date|has no day/],
  ['a value of 10,000 digits', answered(DAY, '9'.repeat(10_000)), /not a decimal/],
  ['an exponent of a million', answered(DAY, '1e1000000'), /not a decimal/],
  ['an exponent of 99', answered(DAY, '1e99'), /not a decimal/],
  ['a negative value', answered(DAY, '-500'), /not positive/],
  ['NaN', answered(DAY, '"NaN"'), /not a decimal/],
  ['Infinity', answered(DAY, '"Infinity"'), /not a decimal/],
  ['a hexadecimal value', answered(DAY, '"0x1F4"'), /not a decimal/],
  ['a list for a value', answered(DAY, '[500]'), /not a decimal/],
  ['an object for a value', answered(DAY, '{"__proto__":500}'), /not a decimal/],
  ['prototype keys', text('{"__proto__":{"estado":true,"datos":[]},"constructor":1}'), /has neither|has no/],
  [
    'UTF-16',
    says(Buffer.from('{"estado":true}', 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }),
    /not JSON/,
  ],
  ['a redirect to itself', says('', { location: '/SDDE/api' }, 302), /never followed/],
  ['a redirect to a file', says('', { location: 'file:///etc/passwd' }, 307), /never followed/],
  ['bytes that are no gzip', says('plain', { 'content-encoding': 'gzip' }), /cut short|cannot be reached/],
  ['an unknown encoding', says('plain', { 'content-encoding': 'rot13' }), /not JSON/],
  ['headers of a megabyte', says('', { 'x-long': 'x'.repeat(2 ** 20) }), /HEADERS_OVERFLOW/],
  ['silence', () => undefined, /in time/],
  ['a byte now and then', drips(20), /in time/],
  ['the end in the middle', (response) => void response.write('{"es', () => response.destroy()), /cut short/],
  ['a reset', (response) => void response.destroy(), /cannot be reached/],
  ...[400, 401, 402, 403, 404, 410, 418, 429, 500, 501, 502, 503, 504, 511, 599].map(
    (status): [string, Evil, RegExp] => [
      `HTTP ${status}`,
      says('no', {}, status),
      new RegExp(`HTTP ${status}`),
    ],
  ),
]

for (const [service, token] of Object.entries(SERVICES)) {
  test(`the ${service} service can harm nothing, whatever it answers`, async (t) => {
    const desk = await openDesk(t, { backfillFrom: FLOOR, catalogue: bccr.catalogue })
    const honest = await startBank({ token: TOKEN, today: desk.clock.today })
    t.after(() => honest.close())
    const hostile = await startHostileBank(t)
    const sync = async (url: string, timeoutMs = 60_000) => {
      const settings = () => ({ url, token, paceMs: 0, userAgent: 'test' })
      const tuning = { sleep: async () => undefined, timeoutMs }
      const provider = {
        ...bccr,
        connect: (...[its, signal]: Parameters<typeof bccr.connect>) => openSession(its, signal, tuning),
      }
      const request = { trigger: 'cli' as const, range: undefined, signal: new AbortController().signal }
      const [end] = await syncAll({ ...desk.deps, settings }, [provider], request)
      assert.ok(end)
      return end.run
    }
    await sync(honest.url)
    const before = await contents(desk.db)
    for (const [what, evil, words] of HARMS) {
      hostile.evil = evil
      const { status, message } = await sync(hostile.url, words.source === 'in time' ? 150 : undefined)
      assert.ok(status === 'error' || status === 'parcial', `${what}: ${status} ${message}`)
      assert.match(message ?? '', words, what)
      assert.ok(!message?.includes(TOKEN), what)
      assert.deepEqual(await contents(desk.db), before, what)
    }
    const garbage = await sync(`https://127.0.0.1:${await startGarbage(t)}`)
    assert.match(garbage.message ?? '', /cannot be reached/)
    desk.clock.now = new Date('2026-03-25T12:00:00Z')
    const healed = await sync(honest.url)
    assert.equal(healed.status, 'ok', healed.message ?? '')
    figure(t, 'harms', HARMS.length + 1)
  })
}

test('a value that is given twice with two values is not taken, and what contradicts it not either', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  await sync()
  const before = await stored('EUR')
  bank.fault = ({ indicator }, usual) => {
    const answer = usual()
    if (indicator !== undefined) return answer
    const other = answer.observations
      .filter(({ code }) => code === '333')
      .map((one) => ({ ...one, value: '9' }))
    return { ...answer, observations: [...answer.observations, ...other] }
  }
  const run = await sync()
  assert.match(run.message ?? '', /given twice with two values/)
  assert.deepEqual(await stored('EUR'), before)
})

/** A day of which every series has a value: one without is no longer covered once a row of it was rejected. */
function lastWeekday(day: string): string {
  const isWeekend = [0, 6].includes(new Date(day).getUTCDay())
  return isWeekend ? lastWeekday(addDays(day, -1)) : day
}

const MIB = Buffer.alloc(2 ** 20, ' ')
const WITHIN = 7.5 * 2 ** 20
const inside = (item: string) =>
  `{"estado":true,"columnas":[],"indicadoresRaiz":[],"datos":[${item.repeat(WITHIN / item.length)}{}]}`
const HEAVY: [what: string, evil: () => Evil, words: RegExp][] = [
  ['1 GB with a length', () => pours(MIB, GIGABYTE, { 'content-length': String(GIGABYTE) }), /larger than/],
  ['1 GB in chunks', () => pours(MIB, GIGABYTE), /larger than/],
  [
    'an endless stream',
    () => pours(Buffer.from('[{"a":[],'.repeat(10_000)), Number.MAX_VALUE),
    /larger than/,
  ],
  ['a gzip bomb of 1 GB', () => says(bomb(1024), { 'content-encoding': 'gzip' }), /larger than/],
  ['objects as many as fit', () => text(inside('{},')), /too many values/],
  ['rows as many as fit', () => text(inside(`${row(DAY, '"500"')},`)), /too many values/],
  [
    'a table of a million rows in HTML',
    () => says(`<table>${'<tr><td>500</td></tr>'.repeat(1_000_000)}`),
    /larger than/,
  ],
  ['one text as long as fits', () => text(`["${'x'.repeat(WITHIN)}"]`), /has neither|has no/],
  [
    'one number as long as fits',
    () => answered(lastWeekday(todayIn(() => new Date())), '9'.repeat(WITHIN)),
    /not a decimal/,
  ],
  [
    'an error of 1 GB',
    () => (response, request) => pours(MIB, GIGABYTE)(Object.assign(response, { statusCode: 400 }), request),
    /larger than|HTTP 400/,
  ],
]
const SHORT = new Set(['1 GB in chunks', 'objects as many as fit', 'one number as long as fits'])

test('a heavy answer takes little memory of the program, and an honest bank heals all', async (t) => {
  const dataDir = temporaryDirectory(t)
  const honest = await startBank({ token: TOKEN, today: () => todayIn(() => new Date()) })
  t.after(() => honest.close())
  const hostile = await startHostileBank(t)
  await runSync(t, dataDir, honest.url, TOKEN)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const before = await contents(db)
  let most = 0
  for (const [what, evil, words] of HEAVY.filter(([name]) => LONG || SHORT.has(name))) {
    for (const token of LONG ? [TOKEN, ''] : [TOKEN])
      most = Math.max(most, await harm(t, hostile, dataDir, token, evil(), what, words))
    assert.deepEqual(await contents(db), before, what)
  }
  const { message } = await runSync(t, dataDir, honest.url, TOKEN)
  assert.equal(message, null)
  figure(t, 'values that are whole in the end', await checkComplete(db))
  figure(t, 'most memory of a sync that is harmed, MiB', Math.round(most))
  figure(t, 'heavy answers', scaled({ short: SHORT.size, long: 2 * HEAVY.length }))
})

async function harm(
  t: TestContext,
  hostile: HostileBank,
  dataDir: string,
  token: string,
  evil: Evil,
  what: string,
  words: RegExp,
): Promise<number> {
  hostile.evil = evil
  const { status, message, peak } = await runSync(t, dataDir, hostile.url, token)
  assert.ok(status === 'error' || status === 'parcial', `${what}: ${status}`)
  assert.match(message ?? '', words, what)
  assert.ok(peak > 0 && peak < MOST_MIB, `${what}: ${peak} MiB`)
  return peak
}

/** One `cambista sync`: what its run says, and its most memory in MiB. */
async function runSync(t: TestContext, dataDir: string, url: string, token: string) {
  const from = addDays(
    todayIn(() => new Date()),
    -60,
  )
  const words = [
    'sync',
    '--json',
    '--data-dir',
    dataDir,
    '--bccr-url',
    url,
    '--bccr-pace',
    '0',
    '--backfill-from',
    from,
  ]
  const program = startProgram(t, words, { CAMBISTA_BCCR_TOKEN: token }, PROGRAM)
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(program.child.pid))
  }, 20)
  await program.ended()
  clearInterval(timer)
  const run = JSON.parse(program.printed.out) as { status: string; message: string | null }
  return { ...run, peak }
}

function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0 // it has ended
  }
}

/** Every value and every covered interval. */
async function contents(db: Db) {
  const series = await selectSeries(db)
  const rates = await Promise.all(series.map(({ id }) => selectRatesOfSeries(db, id)))
  return { series: series.length, rates, coverage: [...(await selectCoverage(db))] }
}
