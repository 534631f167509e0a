import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type BankOptions, startBank } from '../../../../src/demo/bank.ts'
import { addDays, currentDay } from '../../../../src/values/dates.ts'
import { temporaryDirectory } from '../../../support/app.ts'
import { runCommand } from '../../../support/terminal.ts'

const today = currentDay(() => new Date())
const monthAgo = addDays(today, -30)

async function openBank(t: TestContext, options: Partial<BankOptions> = {}) {
  const bank = await startBank({ token: 'secret', today: () => today, ...options })
  t.after(() => bank.close())
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['sync', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0']
  const sync = (...more: string[]) => runCommand([...words, ...more], { CAMBISTA_BCCR_TOKEN: 'secret' })
  return { bank, dataDir, sync, words }
}

test('`sync` without dates fetches new days and the history, and prints the run', async (t) => {
  const { sync } = await openBank(t)
  const end = await sync('--backfill-from', monthAgo)
  assert.equal(end.code, 0, end.out + end.err)
  assert.match(end.out, /^run 1: ok, .*: \d+ new, 0 replaced, 0 unchanged\n$/)
  assert.equal(end.err, '')
})

test('`sync --json` prints the object of /sync/runs', async (t) => {
  const { sync } = await openBank(t)
  const end = await sync('--json', '--from', monthAgo, '--to', today)
  const { inserted, started_at, finished_at, ...run } = JSON.parse(end.out)
  assert.deepEqual(run, {
    id: 1,
    provider_id: 1,
    trigger: 'cli',
    status: 'ok',
    date_from: monthAgo,
    date_to: today,
    updated: 0,
    unchanged: 0,
    message: null,
  })
  assert.ok(inserted > 1000)
  assert.ok(started_at <= finished_at)
})

test('`sync --from` ends tomorrow, and `sync --to` begins on 1983-01-01', async (t) => {
  const { sync, bank } = await openBank(t)
  const after = JSON.parse((await sync('--json', '--from', today)).out)
  assert.deepEqual([after.date_from, after.date_to], [today, addDays(today, 1)])
  const first = bank.requests.map(({ query }) => (query.fechaInicio ?? '').replaceAll('/', '-'))
  assert.deepEqual(new Set(first), new Set([today]), 'more than the range was read')
  const before = JSON.parse((await sync('--json', '--to', '1983-01-05')).out)
  assert.deepEqual([before.date_from, before.date_to], ['1983-01-01', '1983-01-05'])
})

test('`sync` exits with 3 for the status parcial and prints the failures', async (t) => {
  const { sync } = await openBank(t, { codes: ['325', '77777'] })
  const end = await sync('--from', monthAgo)
  assert.equal(end.code, 3)
  assert.match(end.out, /^run 1: parcial/)
  assert.match(end.out, /^ {2}520: unknown indicator 77777/m)
  assert.match(end.out, /^ {2}520: absent from the answer: AED, /m)
})

test('`sync` with a refused token exits with 3 and fetches the rates from the website', async (t) => {
  const { words } = await openBank(t)
  const env = { CAMBISTA_BCCR_TOKEN: 'expired-token' }
  const end = await runCommand([...words, '--from', today], env)
  assert.equal(end.code, 3)
  assert.match(end.out, /token/)
  assert.doesNotMatch(end.out + end.err, /expired-token/)
  assert.match(end.out, /: [1-9]\d* new/)
})

test('`sync` exits with 1 when every request of the bank fails', async (t) => {
  const { sync, bank } = await openBank(t)
  bank.faults = () => ({ status: 400, body: '{"CodigoError":"400","Mensaje":"Fuera de servicio"}' })
  const end = await sync('--from', today)
  assert.equal(end.code, 1)
  assert.match(end.out, /^run 1: error/)
  assert.match(end.out, /Fuera de servicio/)
})

test('`sync` exits with 3 when a run over indicators fails after a good sync, and `doctor` notes that run', async (t) => {
  const syncTwice = async (...words: string[]) => {
    const { sync, bank, dataDir } = await openBank(t)
    assert.equal((await sync('--backfill-from', monthAgo)).code, 0)
    const enable = ['indicator', 'enable', '423', '--from', monthAgo, '--data-dir', dataDir]
    assert.equal((await runCommand(enable, { CAMBISTA_BCCR_TOKEN: 'secret' })).code, 0)
    bank.faults = (request) =>
      JSON.stringify(request).includes('423')
        ? { status: 400, body: '{"CodigoError":"400","Mensaje":"Fuera de servicio"}' }
        : undefined
    const end = await sync('--backfill-from', monthAgo, ...words)
    assert.equal(end.code, 3, end.out + end.err)
    return { ...end, doctor: await runCommand(['doctor', '--data-dir', dataDir]) }
  }
  const { out, doctor } = await syncTwice()
  assert.match(out, /^run 2: ok, .*\nindicators, run 1: error: .*\n {2}.*Fuera de servicio/)
  const note = /^note {5}last run of indicators: run 1, ended [^ ]*, error \(.*Fuera de servicio/m
  assert.match(doctor.out, note)
  const json = await syncTwice('--json')
  assert.equal(JSON.parse(json.out).status, 'ok')
  assert.match(json.err, /^indicators, run 1: error: .*\n {2}.*Fuera de servicio/)
})

test('`sync` with an empty token file exits with 1 and sends no request', async (t) => {
  const { sync, bank, dataDir } = await openBank(t)
  const file = join(dataDir, '..', 'token')
  writeFileSync(file, ' \n')
  const end = await sync('--bccr-token-file', file)
  assert.equal(end.code, 1, end.out + end.err)
  assert.match(end.err + end.out, /the file of the bank's token is empty: \/.*\/token/)
  assert.deepEqual(bank.requests, [])
})

test('`sync` with an unreadable token file exits with 1 and the reason', async (t) => {
  const { sync } = await openBank(t)
  const end = await sync('--bccr-token-file', '/nowhere/token')
  assert.equal(end.code, 1)
  assert.match(end.err, /cannot read the bank's token: ENOENT/)
  assert.doesNotMatch(end.err, /\n {4}at |\.ts:\d/, 'a stack trace')
})

test('`sync --accept-jump` stores a withheld value, which `doctor` names with that command', async (t) => {
  const values: Record<string, string> = {}
  const { sync, dataDir } = await openBank(t, { value: (code) => values[code] })
  assert.equal((await sync('--backfill-from', addDays(today, -40))).code, 0)
  values['318'] = '5123.45'
  const end = await sync('--from', addDays(today, -1), '--to', today)
  assert.equal(end.code, 3, end.out)
  assert.match(end.out, /318: USD\/CRC venta of .* is 5123\.45, more than a factor of 5 from .*, withheld/)
  const doctor = await runCommand(['doctor', '--data-dir', dataDir])
  const command = `cambista sync --accept-jump 2 ${today} stores it`
  assert.match(
    doctor.out,
    /series 2 \(USD\/CRC venta\): 5123\.45 of .* is far from its nearest values and withheld/,
  )
  assert.ok(doctor.out.includes(command), doctor.out)
  const accepted = await sync('--accept-jump', '2', today, '--json')
  assert.equal(JSON.parse(accepted.out).updated, 1, accepted.out)
  assert.match((await sync('--from', today, '--to', today)).out, /: ok, .* 0 replaced/)
})

test('`sync --accept-jump` refuses a wrong request', async (t) => {
  const { sync } = await openBank(t)
  const wrong: [words: string[], message: RegExp][] = [
    [['--accept-jump', '2'], /--accept-jump SERIES needs its DAY/],
    [['--accept-jump', '2', 'ayer'], /--accept-jump SERIES needs its DAY/],
    [[today], /DAY belongs to --accept-jump SERIES/],
    [['--accept-jump', '2', today, '--from', today], /leave out --from and --to/],
    [['--accept-jump', '2', addDays(today, 9)], /must not be after tomorrow/],
    [['--accept-jump', '999', today], /there is no series 999/],
  ]
  for (const [words, message] of wrong) {
    const end = await sync(...words)
    assert.notEqual(end.code, 0)
    assert.match(end.err, message)
  }
})
