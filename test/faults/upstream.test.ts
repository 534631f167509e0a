// A hostile bank: whatever it answers, a run ends with the reason and stores nothing of it. Stored rates stay, and an
// honest bank fills the rest. The heavy answers go to a process, whose memory is measured.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { bccr, openBccrConnection } from '../../src/providers/bccr/bccr.ts'
import { selectCoverage } from '../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { syncAll } from '../../src/sync/run.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
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
const MAX_MIB = 400
const GIGABYTE = 2 ** 30
const BACKFILL = '2026-02-01'

const row = (fecha: string, value: string) => `{"fecha":"${fecha}","valorDatoPorPeriodo":${value}}`

/** A reply of either service with the one value for every series. */
function oneValue(date: string, value: string): Evil {
  return (response, request) => {
    const singleCode = /indicadoresEconomicos\/(\d+)/.exec(request.url ?? '')?.[1]
    if (singleCode !== undefined || request.url?.includes('/cuadro/')) {
      const code = singleCode ?? '333'
      const datos = `[{"codigoIndicador":"${code}","nombreIndicador":"x","series":[${row(date, value)}]}]`
      return says(`{"estado":true,"datos":${datos}}`)(response, request)
    }
    const lastDate = /FechaFin=([\d-]+)/.exec(request.url ?? '')?.[1] ?? ''
    if (lastDate < date && /^20/.test(date)) {
      return says('{"columnas":[],"indicadoresRaiz":[]}')(response, request)
    }
    const [year, month = '', day] = date.split('-')
    const monthName = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')[Number(month) - 1] ?? 'xyz'
    const columns = `[{"field":"serie1","tituloIngles":"${day} ${monthName} ${year}"}]`
    const codes = request.url?.includes('IdGrupoVariable=1&') ? [317, 318] : [333]
    const indicators = codes.map((code) => `{"idIndicador":${code},"series":{"serie1Ingles":${value}}}`)
    says(`{"columnas":${columns},"indicadoresRaiz":[${indicators}]}`)(response, request)
  }
}

const DAY = '2026-03-20'
const jsonReply = (body: string): Evil => says(body)
const nestedJson = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times)

const HARMFUL_REPLIES: [harm: string, evil: Evil, message: RegExp][] = [
  ['nothing', says(''), /not JSON/],
  ['an HTML page', says('<html><table>', { 'content-type': 'text/html' }), /not JSON: <html>/],
  ['JSON 10,000 levels deep', jsonReply(nestedJson('[', ']', 10_000)), /nests too deep/],
  ['objects 10,000 levels deep', jsonReply('{"datos":'.repeat(10_000)), /not JSON|too deep/],
  ['a date of 9999', oneValue('9999-12-31', '"500"'), /rejected|has no day|begins on/],
  ['a date of 0001', oneValue('0001-01-01', '"500"'), /rejected|has no day/],
  ['the 30th of February', oneValue('2026-02-30', '"500"'), /not a date|has no day/],
  ['a value of 10,000 digits', oneValue(DAY, '9'.repeat(10_000)), /not a decimal/],
  ['an exponent of a million', oneValue(DAY, '1e1000000'), /not a decimal/],
  ['an exponent of 99', oneValue(DAY, '1e99'), /not a decimal/],
  ['a negative value', oneValue(DAY, '-500'), /not positive/],
  ['NaN', oneValue(DAY, '"NaN"'), /not a decimal/],
  ['Infinity', oneValue(DAY, '"Infinity"'), /not a decimal/],
  ['a hexadecimal value', oneValue(DAY, '"0x1F4"'), /not a decimal/],
  ['a list for a value', oneValue(DAY, '[500]'), /not a decimal/],
  ['an object for a value', oneValue(DAY, '{"__proto__":500}'), /not a decimal/],
  [
    'prototype keys',
    jsonReply('{"__proto__":{"estado":true,"datos":[]},"constructor":1}'),
    /has neither|has no/,
  ],
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
  test(`the ${service} service cannot change stored rates by any harmful answer`, async (t) => {
    const desk = await openDesk(t, { backfillFrom: BACKFILL, catalogue: bccr.catalogue })
    const honest = await startBank({ token: TOKEN, today: desk.clock.today })
    t.after(() => honest.close())
    const hostile = await startHostileBank(t)
    const sync = async (url: string, timeoutMs = 60_000) => {
      const settings = () => ({ url, token, paceMs: 0, userAgent: 'test' })
      const tuning = { sleep: async () => undefined, timeoutMs }
      const provider = {
        ...bccr,
        connect: (...[settings, signal]: Parameters<typeof bccr.connect>) =>
          openBccrConnection(settings, signal, tuning),
      }
      const request = { trigger: 'cli' as const, range: undefined, signal: new AbortController().signal }
      const [result] = await syncAll({ ...desk.deps, settings }, [provider], request)
      assert.ok(result)
      return result.run
    }
    await sync(honest.url)
    const before = await readStore(desk.db)
    for (const [harm, evil, expected] of HARMFUL_REPLIES) {
      hostile.evil = evil
      const { status, message } = await sync(hostile.url, expected.source === 'in time' ? 150 : undefined)
      assert.ok(status === 'error' || status === 'parcial', `${harm}: ${status} ${message}`)
      assert.match(message ?? '', expected, harm)
      assert.ok(!message?.includes(TOKEN), harm)
      assert.deepEqual(await readStore(desk.db), before, harm)
    }
    const garbage = await sync(`https://127.0.0.1:${await startGarbage(t)}`)
    assert.match(garbage.message ?? '', /cannot be reached/)
    desk.clock.now = new Date('2026-03-25T12:00:00Z')
    const repair = await sync(honest.url)
    assert.equal(repair.status, 'ok', repair.message ?? '')
    figure(t, 'harms', HARMFUL_REPLIES.length + 1)
  })
}

test('two different values of one day are both rejected, and the stored one stays', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  await sync()
  const before = await stored('EUR')
  bank.fault = ({ indicator }, usual) => {
    const answer = usual()
    if (indicator !== undefined) return answer
    const contradictions = answer.observations
      .filter(({ code }) => code === '333')
      .map((observation) => ({ ...observation, value: '9' }))
    return { ...answer, observations: [...answer.observations, ...contradictions] }
  }
  const run = await sync()
  assert.match(run.message ?? '', /given twice with two values/)
  assert.deepEqual(await stored('EUR'), before)
})

/**
 * The last day on which every series has a value. Once a row of a day is rejected, the day is no longer covered.
 */
function lastWeekday(day: string): string {
  const isWeekend = [0, 6].includes(new Date(day).getUTCDay())
  return isWeekend ? lastWeekday(addDays(day, -1)) : day
}

const MIB = Buffer.alloc(2 ** 20, ' ')
const FILL_BYTES = 7.5 * 2 ** 20
const fillList = (item: string) =>
  `{"estado":true,"columnas":[],"indicadoresRaiz":[],"datos":[${item.repeat(FILL_BYTES / item.length)}{}]}`
const HEAVY: [harm: string, evil: () => Evil, message: RegExp][] = [
  ['1 GB with a length', () => pours(MIB, GIGABYTE, { 'content-length': String(GIGABYTE) }), /larger than/],
  ['1 GB in chunks', () => pours(MIB, GIGABYTE), /larger than/],
  [
    'an endless stream',
    () => pours(Buffer.from('[{"a":[],'.repeat(10_000)), Number.MAX_VALUE),
    /larger than/,
  ],
  ['a gzip bomb of 1 GB', () => says(bomb(1024), { 'content-encoding': 'gzip' }), /larger than/],
  ['the most objects that fit', () => jsonReply(fillList('{},')), /too many values/],
  ['the most rows that fit', () => jsonReply(fillList(`${row(DAY, '"500"')},`)), /too many values/],
  [
    'a table of a million rows in HTML',
    () => says(`<table>${'<tr><td>500</td></tr>'.repeat(1_000_000)}`),
    /larger than/,
  ],
  ['one text of the largest size', () => jsonReply(`["${'x'.repeat(FILL_BYTES)}"]`), /has neither|has no/],
  [
    'one number of the largest size',
    () => oneValue(lastWeekday(currentDay(() => new Date())), '9'.repeat(FILL_BYTES)),
    /not a decimal/,
  ],
  [
    'an error of 1 GB',
    () => (response, request) => pours(MIB, GIGABYTE)(Object.assign(response, { statusCode: 400 }), request),
    /larger than|HTTP 400/,
  ],
]
const SHORT_LANE = new Set(['1 GB in chunks', 'the most objects that fit', 'one number of the largest size'])

test(`sync uses at most ${MAX_MIB} MiB for a heavy answer, and an honest bank fills the rest`, async (t) => {
  const dataDir = temporaryDirectory(t)
  const honest = await startBank({ token: TOKEN, today: () => currentDay(() => new Date()) })
  t.after(() => honest.close())
  const hostile = await startHostileBank(t)
  await runSync(t, dataDir, honest.url, TOKEN)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const before = await readStore(db)
  let peakMib = 0
  for (const [harm, evil, expected] of HEAVY.filter(([name]) => LONG || SHORT_LANE.has(name))) {
    for (const token of LONG ? [TOKEN, ''] : [TOKEN])
      peakMib = Math.max(peakMib, await syncHarmed(t, hostile, dataDir, token, evil(), harm, expected))
    assert.deepEqual(await readStore(db), before, harm)
  }
  const { message } = await runSync(t, dataDir, honest.url, TOKEN)
  assert.equal(message, null)
  figure(t, 'values that are complete in the end', await checkComplete(db))
  figure(t, 'most memory of a sync, MiB', Math.round(peakMib))
  figure(t, 'heavy answers', scaled({ short: SHORT_LANE.size, long: 2 * HEAVY.length }))
})

async function syncHarmed(
  t: TestContext,
  hostile: HostileBank,
  dataDir: string,
  token: string,
  evil: Evil,
  harm: string,
  expected: RegExp,
): Promise<number> {
  hostile.evil = evil
  const { status, message, peak } = await runSync(t, dataDir, hostile.url, token)
  assert.ok(status === 'error' || status === 'parcial', `${harm}: ${status}`)
  assert.match(message ?? '', expected, harm)
  assert.ok(peak > 0 && peak < MAX_MIB, `${harm}: ${peak} MiB`)
  return peak
}

/** Runs `cambista sync`; returns its run and its peak memory in MiB. */
async function runSync(t: TestContext, dataDir: string, url: string, token: string) {
  const from = addDays(
    currentDay(() => new Date()),
    -60,
  )
  const args = [
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
  const program = startProgram(t, args, { CAMBISTA_BCCR_TOKEN: token }, PROGRAM)
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMemory(program.child.pid))
  }, 20)
  await program.waitForExit()
  clearInterval(timer)
  const run = JSON.parse(program.printed.out) as { status: string; message: string | null }
  return { ...run, peak }
}

function peakMemory(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0 // the process has ended
  }
}

/** Every value and every covered interval. */
async function readStore(db: WriteDb) {
  const series = await selectSeries(db)
  const rates = await Promise.all(series.map(({ id }) => selectRatesOfSeries(db, id)))
  return { series: series.length, rates, coverage: [...(await selectCoverage(db))] }
}
