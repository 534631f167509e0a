// The ECB's files: their bytes over invented rates, their headers, and days that were not synchronized.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { fixedClock, startTestApp, temporaryDirectory } from '../../../support/app.ts'
import { AUD, createMemoryBank, EUR, JPY, XDR } from '../../../support/rates/memory-bank.ts'
import { until } from '../../../support/terminal.ts'
import { loseDays, roundDays, send } from '../../support.ts'
import { ask, type TestApp } from '../support.ts'

const ROOT = '/stats/eurofxref/eurofxref'
const FILES = ['-daily.xml', '-hist-90d.xml', '-hist.xml', '-hist.csv', '-hist.zip']
const CLOSED = ['2026-03-21', '2026-03-22'] // a weekend
const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>Banco Central de Costa Rica</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
`
const END = '\t</Cube>\n</gesmes:Envelope>\n'

/** Rows of the invented bank, oldest first: the euro in dollars, yen, Australian dollars, colones. */
const DAYS = [
  ['2026-03-20', '1.16274', '181.852536', '1.78883076923077', '581.660685'],
  ['2026-03-21', '1.16274', '181.852536', '1.78883076923077', '582.823425'],
  ['2026-03-22', '1.16274', '181.852536', '1.78883076923077', '582.823425'],
  ['2026-03-23', '1.1', '172.04', '1.69230769230769', '550'],
] as const

/** The bank from 2026-03-20 to `today`, with the dollar on each day and parities on workdays. */
async function openBank(
  t: Parameters<typeof startTestApp>[0],
  {
    today = '2026-03-23',
    backfillFrom = '2026-03-20',
    serveRounded = false,
    token = 'test-token' as string | null,
  } = {},
) {
  const clock = fixedClock(`${today}T16:00:00Z`)
  const memory = createMemoryBank(clock)
  const since = (value: (day: string) => string) => (day: string) =>
    day < '2026-03-20' ? undefined : value(day)
  const workdays = (value: (day: string) => string) => (day: string) =>
    CLOSED.includes(day) ? undefined : since(value)(day)
  const isFriday = (day: string) => day < '2026-03-21'
  memory.publish[EUR] = workdays((day) => (isFriday(day) ? '1.16274' : '1.1'))
  memory.publish[JPY] = workdays(() => '156.4')
  memory.publish[AUD] = workdays(() => '0.65')
  memory.publish[XDR] = () => undefined
  memory.publish['318'] = since((day) => (day >= '2026-03-23' ? '500' : isFriday(day) ? '500.25' : '501.25'))
  memory.publish['317'] = since(() => '490')
  if (token === null) Object.assign(memory, { supportsSingleSeries: false, roundedTo: 2 })
  const compat = { open: 'any', serveRounded } as const
  const app = await startTestApp(t, {
    ...{ clock, backfillFrom, token, providers: [memory.provider], listen: { compat } },
  })
  await app.sync()
  return { ...app, memory }
}

function xmlDay([day, usd, jpy, aud, crc]: readonly string[]): string {
  const cubes = Object.entries({ USD: usd, AUD: aud, CRC: crc, JPY: jpy }).map(
    ([code, rate]) => `\t\t\t<Cube currency='${code}' rate='${rate}'/>\n`,
  )
  return `\t\t<Cube time='${day}'>\n${cubes.join('')}\t\t</Cube>\n`
}

test('the three XML files have the bytes of the form, newest day first', async (t) => {
  const app = await openBank(t)
  const all = DAYS.toReversed().map(xmlDay).join('')
  for (const [file, days] of [
    ['-daily.xml', xmlDay(DAYS[3])],
    ['-hist.xml', all],
  ] as const) {
    for (const path of [ROOT + file, `/compat/ecb${ROOT}${file}?x=1`]) {
      const { status, headers, body } = await send(app.app.url + path)
      assert.deepEqual([status, headers['content-type'], body], [200, 'text/xml', HEAD + days + END])
    }
  }
  const { headers } = await send(`${app.app.url}${ROOT}-hist.xml`)
  assert.deepEqual([headers['x-ends-at'], headers['x-left-out']], ['2026-03-20', undefined])
  // Days before the first sync are missing.
  assert.deepEqual(await ask(app, `${ROOT}-hist-90d.xml`), [
    503,
    'the days from 2025-12-23 to 2026-03-08 have not been synchronized',
  ])
  const whole = await openBank(t, { backfillFrom: '2025-01-01' })
  assert.deepEqual(await ask(whole, `${ROOT}-hist-90d.xml`), [200, HEAD + all + END])
})

test('the CSV has a column for each currency, a comma at each end, and N/A without a value', async (t) => {
  const app = await openBank(t)
  const { status, headers, body } = await send(`${app.app.url}${ROOT}-hist.csv`)
  const rows = DAYS.toReversed().map(
    ([day, usd, jpy, aud, crc]) => `${day},${usd},${aud},${crc},${jpy},N/A,\n`,
  )
  assert.deepEqual([status, headers['content-type']], [200, 'text/csv'])
  assert.equal(body, `Date,USD,AUD,CRC,JPY,XDR,\n${rows.join('')}`)
})

test('the zip has the CSV as its one entry, for zipfile, unzip and gunzip-like readers', async (t) => {
  const app = await openBank(t)
  const url = `${app.app.url}${ROOT}-hist.zip`
  const { status, headers, bytes } = await send(url)
  assert.deepEqual([status, headers['content-type']], [200, 'application/zip'])
  assert.equal(headers['content-length'], String(bytes.length))
  const csv = (await send(`${app.app.url}${ROOT}-hist.csv`)).bytes
  const nameEnd = 30 + 'eurofxref-hist.csv'.length
  const packed = bytes.readUInt32LE(18)
  // Version 2.0, no flags, deflate, midnight of 1980-01-01.
  assert.equal(bytes.subarray(0, 14).toString('hex'), '504b030414000000080000002100')
  assert.equal(bytes.readUInt32LE(22), csv.length)
  assert.deepEqual([bytes.readUInt16LE(26), bytes.readUInt16LE(28)], [18, 0])
  assert.equal(bytes.subarray(30, nameEnd).toString(), 'eurofxref-hist.csv')
  assert.deepEqual(inflateRawSync(bytes.subarray(nameEnd, nameEnd + packed)), csv)
  assert.equal(bytes.length, nameEnd + packed + 46 + 18 + 22)
  const file = join(temporaryDirectory(t), 'eurofxref-hist.zip')
  writeFileSync(file, bytes)
  const script =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None and not z.comment; ' +
    'i, = z.infolist(); print(i.filename, i.date_time, i.flag_bits, i.CRC, i.file_size, i.comment, flush=True); ' +
    'sys.stdout.buffer.write(z.read(i))'
  const read = execFileSync('/usr/bin/python3', ['-c', script, file], { encoding: 'utf8' })
  const checksum = bytes.readUInt32LE(14)
  const line = `eurofxref-hist.csv (1980, 1, 1, 0, 0, 0) 0 ${checksum} ${csv.length} b''\n`
  assert.equal(read, line + csv)
  assert.match(execFileSync('unzip', ['-t', file], { encoding: 'utf8' }), /No errors detected/)
  assert.deepEqual((await send(url)).bytes, bytes)
})

/** Status, headers of its own and body of a file. */
async function readFile(app: TestApp, file: string) {
  const { status, headers, body } = await send(app.app.url + ROOT + file)
  const own = { endsAt: headers['x-ends-at'], leftOut: headers['x-left-out'] }
  return {
    status,
    ...own,
    body,
    days: [...body.matchAll(/time='([^']+)'|^(\d{4}-\d\d-\d\d),/gm)].map((found) => found[1] ?? found[2]),
  }
}

async function loseAndAwait(app: TestApp, days: { from: string; to: string }, codes: readonly string[]) {
  const { headers } = await app.get('/api/v1/rates')
  await loseDays(app, days, codes)
  const isLost = async () => (await app.get('/api/v1/rates')).headers.get('etag') !== headers.get('etag')
  await until(isLost)
}

test('tipo selects the side of the dollar, and another value of it is 400 in plain text', async (t) => {
  const app = await openBank(t)
  assert.ok((await readFile(app, '-daily.xml?tipo=compra')).body.includes("currency='CRC' rate='539'"))
  const { status, headers, body } = await send(`${app.app.url}${ROOT}-hist.csv?tipo=both`)
  const type = 'text/plain; charset=utf-8'
  assert.deepEqual([status, headers['content-type'], body], [400, type, 'tipo must be compra or venta'])
  for (const path of ['/stats/eurofxref', '/stats/eurofxref/', `${ROOT}-sdmx.zip`]) {
    const answer = await send(app.app.url + path)
    assert.deepEqual([answer.status, answer.headers['content-type'], answer.body], [404, type, 'Not found'])
  }
})

test('HEAD and If-None-Match are answered without a body, and each file has its own tag', async (t) => {
  const app = await openBank(t, { backfillFrom: '2025-01-01' })
  const tags = new Set<string>()
  for (const file of FILES) {
    const url = app.app.url + ROOT + file
    const { etag = '', ...headers } = (await send(url)).headers
    tags.add(etag)
    const head = await send(url, { method: 'HEAD' })
    assert.deepEqual([head.status, head.body, head.headers.etag], [200, '', etag], file)
    assert.equal(head.headers['content-type'], headers['content-type'])
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await send(url, { headers: { 'if-none-match': tag } })
      assert.deepEqual([answer.status, answer.body, answer.headers.etag], [304, '', etag], `${file} ${tag}`)
      assert.equal(answer.headers.vary, headers.vary)
    }
    assert.equal((await send(url, { headers: { 'if-none-match': '"other"' } })).status, 200)
    const packed = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
    const plain = await send(url)
    assert.deepEqual(Buffer.from(await packed.arrayBuffer()), plain.bytes, file)
    assert.equal(packed.headers.get('content-encoding'), /hist.*(xml|csv)/.test(file) ? 'gzip' : null, file)
  }
  assert.equal(tags.size, FILES.length)
  await loseAndAwait(app, { from: '2026-03-20', to: '2026-03-20' }, [JPY])
  for (const file of FILES) assert.ok(!tags.has(String((await send(app.app.url + ROOT + file)).headers.etag)))
})

test('the daily file is of the newest day with the euro and the dollar, up to today', async (t) => {
  const app = await openBank(t, { today: '2026-03-22' }) // a Sunday; the dollar of Monday is stored
  const sunday = await readFile(app, '-daily.xml')
  assert.equal(sunday.body, HEAD + xmlDay(DAYS[2]) + END)
  app.clock.now = new Date('2026-04-02T16:00:00Z')
  const late = await readFile(app, '-daily.xml')
  assert.equal(late.body, HEAD + xmlDay(DAYS[3]) + END, 'an old day has its own date')
})

test('a hole of the dollar or of the euro is an error of the 90 days, and ends the histories', async (t) => {
  for (const code of ['318', EUR]) {
    const app = await openBank(t, { backfillFrom: '2025-01-01' })
    await loseAndAwait(app, { from: '2026-03-21', to: '2026-03-22' }, [code])
    const recent = await send(`${app.app.url}${ROOT}-hist-90d.xml`)
    assert.deepEqual(
      [recent.status, recent.headers['content-type'], recent.headers['retry-after'], recent.body],
      [
        503,
        'text/plain; charset=utf-8',
        '3600',
        'the days from 2026-03-21 to 2026-03-22 have not been synchronized',
      ],
    )
    for (const file of ['-hist.xml', '-hist.csv']) {
      const { status, endsAt, days } = await readFile(app, file)
      assert.deepEqual(
        { status, endsAt, days },
        { status: 200, endsAt: '2026-03-23', days: ['2026-03-23'] },
        file,
      )
    }
    assert.deepEqual((await readFile(app, '-daily.xml')).days, ['2026-03-23'])
  }
})

test('a hole after the newest row leaves no history, and the daily file has its own day', async (t) => {
  const app = await openBank(t, { backfillFrom: '2025-01-01' })
  app.memory.publish[EUR] = () => undefined
  app.memory.publish['318'] = () => undefined
  app.clock.now = new Date('2026-03-26T16:00:00Z')
  await app.sync()
  await loseAndAwait(app, { from: '2026-03-24', to: '2026-03-24' }, [EUR])
  for (const file of ['-hist.xml', '-hist.csv', '-hist.zip', '-hist-90d.xml']) {
    const { status, body } = await readFile(app, file)
    assert.deepEqual(
      [status, body],
      [503, 'the days from 2026-03-24 to 2026-03-24 have not been synchronized'],
    )
    assert.equal((await send(app.app.url + ROOT + file, { method: 'HEAD' })).status, 503)
  }
  assert.deepEqual((await readFile(app, '-daily.xml')).days, ['2026-03-23'])
})

test('a hole of another currency leaves it out of the 90 days, and ends it in the histories', async (t) => {
  const app = await openBank(t, { backfillFrom: '2025-01-01' })
  await loseAndAwait(app, { from: '2026-03-21', to: '2026-03-21' }, [JPY])
  const recent = await readFile(app, '-hist-90d.xml')
  assert.deepEqual([recent.status, recent.leftOut, recent.days.length], [200, 'JPY', 4])
  assert.ok(!recent.body.includes('JPY') && recent.body.includes('AUD'))
  const history = await readFile(app, '-hist.xml')
  assert.deepEqual([history.leftOut, history.endsAt], ['JPY', '2026-03-20'])
  assert.equal(history.body.split("'JPY'").length - 1, 1)
  const csv = (await readFile(app, '-hist.csv')).body.split('\n')
  assert.deepEqual(
    csv.map((line) => line.split(',')[4]),
    ['JPY', '172.04', 'N/A', 'N/A', 'N/A', undefined],
  )
})

test('the daily file names a currency that is known only over a hole', async (t) => {
  const app = await openBank(t, { backfillFrom: '2025-01-01', today: '2026-03-22' })
  await loseAndAwait(app, { from: '2026-03-21', to: '2026-03-22' }, [AUD])
  const { status, leftOut, body } = await readFile(app, '-daily.xml')
  assert.deepEqual([status, leftOut, body.includes('AUD')], [200, 'AUD', false])
  await loseAndAwait(app, { from: '2025-01-01', to: '2026-03-22' }, [JPY])
  assert.equal((await readFile(app, '-daily.xml')).leftOut, 'AUD,JPY', 'no value is before the hole')
})

test('rounded parities count as missing, unless the operator serves them', async (t) => {
  const app = await openBank(t, { token: null, backfillFrom: '2025-01-01' })
  const daily = await readFile(app, '-daily.xml')
  assert.deepEqual([daily.status, daily.body], [404, 'no rates of the euro in colones are held'])
  for (const file of ['-hist-90d.xml', '-hist.xml', '-hist.csv', '-hist.zip']) {
    const { status, body } = await readFile(app, file)
    assert.deepEqual(
      [status, body],
      [503, 'the days from 2026-03-20 to 2026-03-23 are stored rounded, and not answered'],
    )
  }
  const [line = '', ...others] = app.logLines.filter((one) => one.includes('"shape":"ecb"'))
  assert.match(line, /"rounded values are not served".*"from":"2026-03-20".*--serve-rounded/)
  assert.deepEqual(others, [])
  const roundedApp = await openBank(t, { token: null, backfillFrom: '2025-01-01', serveRounded: true })
  for (const file of FILES) {
    const { status, headers } = await send(roundedApp.app.url + ROOT + file)
    assert.deepEqual([status, headers['x-rounded-to']], [200, '2'], file)
  }
})

test('X-Rounded-To counts a value before the range only where it is carried into it', async (t) => {
  // The euro of Friday 2026-03-20 is rounded; the next value is of Monday, the 23rd.
  for (const [today, serveRounded, roundedTo] of [
    ['2026-06-20', true, '2'],
    ['2026-06-21', true, undefined],
    ['2026-06-21', false, undefined],
  ] as const) {
    const app = await openBank(t, { today, serveRounded })
    await roundDays(app, { from: '2026-03-20', to: '2026-03-20' }, [EUR])
    const path = '/api/v1/convert?amount=1&from=EUR&to=USD&on=2026-03-20'
    const isRounded = async () => 'rounded_to' in (await app.json<object>(path))
    await until(isRounded)
    const { status, headers } = await send(`${app.app.url}${ROOT}-hist-90d.xml`)
    assert.deepEqual([status, headers['x-rounded-to']], [200, roundedTo], `${today} ${serveRounded}`)
    const history = await send(`${app.app.url}${ROOT}-hist.xml`)
    assert.equal(history.headers['x-rounded-to'], serveRounded ? '2' : undefined)
  }
})

test('before the first sync the daily file is a 404, and the others name the missing days', async (t) => {
  const app = await startTestApp(t, { listen: { compat: { open: 'any', serveRounded: false } } })
  assert.equal((await readFile(app, '-daily.xml')).status, 404)
  for (const file of FILES.slice(1)) assert.ok([404, 503].includes((await readFile(app, file)).status), file)
})

test('missing days are logged once a day', async (t) => {
  const app = await openBank(t)
  for (let times = 0; times < 3; times += 1) await ask(app, `${ROOT}-hist-90d.xml`)
  const lines = app.logLines.filter((line) => line.includes('asked for days that were not synchronized'))
  assert.equal(lines.length, 1)
  assert.match(String(lines[0]), /"shape":"ecb"/)
})
