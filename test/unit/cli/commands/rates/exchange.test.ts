// `export` and `import`: the rates of one server in another that never syncs (decisions#export).

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inventedValue } from '../../../../../src/demo/invented-rates.ts'
import { openApp, storeAsOtherProcess } from '../../../../api/support.ts'
import { temporaryDirectory } from '../../../../support/app.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

const HOLE = { from: '2025-11-01', to: '2026-01-10' }

const app = await openApp({
  backfillFrom: '2026-01-11',
  bank: { value: (code, day) => (day > '2026-03-01' && code === '318' ? null : inventedValue(code, day)) },
})
await app.sync()
await app.sync({ from: '2025-10-01', to: '2025-10-31' }) // isolated days: those after them are a hole
const other = await openApp() // never synced
const dir = temporaryDirectory({ after: () => {} } as never)
const file = (name: string) => join(dir, name)

const exportFile = async (name: string, from = app.dataDir, ...words: string[]) => {
  const end = await runCommand(['export', file(name), '--data-dir', from, ...words])
  assert.equal(end.code, 0, end.err)
  return readFileSync(file(name), 'utf8')
}
const importFile = (path: string, ...words: string[]) =>
  runCommand(['import', path, '--data-dir', other.dataDir, ...words])

test('`export` writes each value, the covered days and its own hash', async () => {
  const text = await exportFile('one.csv')
  const lines = text.split('\n')
  assert.equal(
    lines[0],
    'provider,series_id,external_code,pair,rate_type,rate_date,value,rounded_to,stored_at',
  )
  assert.equal(lines.at(-1), '')
  const values = lines.filter((line) => /^bccr,/.test(line))
  const [, count, sha256] = /^# end,(\d+),([0-9a-f]{64})$/.exec(lines.at(-2) ?? '') ?? []
  assert.equal(Number(count), values.length)
  assert.equal(
    createHash('sha256')
      .update(text.slice(0, text.indexOf('# end,')))
      .digest('hex'),
    sha256,
  )
  const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
    '/api/v1/series/1/history?from=2025-01-01&to=2026-12-31',
  )
  assert.deepEqual(
    values.filter((line) => line.startsWith('bccr,1,')).map((line) => line.split(',').slice(5, 7)),
    points.map(({ rate_date, value }) => [rate_date, value]),
  )
  assert.ok(
    lines.includes('# covered,bccr,1,317,USD/CRC,compra,2025-10-01,2025-10-31'),
    lines.slice(0, 4).join('\n'),
  )
  assert.match(values[0] ?? '', /,,\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('/api/v1/export answers the same bytes, by Accept and by path ending', async () => {
  const csv = await exportFile('two.csv')
  const ndjson = await exportFile('two.ndjson')
  const answers: [path: string, accept: string, text: string, type: RegExp][] = [
    ['/api/v1/export', '*/*', csv, /^text\/csv/],
    ['/api/v1/export', 'application/x-ndjson', ndjson, /^application\/x-ndjson/],
    ['/api/v1/export.csv', 'application/x-ndjson', csv, /^text\/csv/],
    ['/api/v1/export.ndjson', 'text/csv', ndjson, /^application\/x-ndjson/],
  ]
  for (const [path, accept, text, type] of answers) {
    const response = await app.get(path, { accept })
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', type)
    assert.ok((await response.text()) === text, `${path} ${accept}`)
  }
  const head = await fetch(`${app.app.url}/api/v1/export`, {
    method: 'HEAD',
    headers: { 'x-api-key': app.key },
  })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('`import --dry-run` counts the rows and stores nothing', async () => {
  await exportFile('three.csv')
  const end = await importFile(file('three.csv'), '--dry-run', '--json')
  assert.equal(end.code, 0, end.err)
  const [counts] = JSON.parse(end.out)
  const values = (await exportFile('three-b.csv')).match(/^bccr,/gm)?.length
  assert.deepEqual([counts.inserted, counts.updated, counts.kept], [values, 0, 0])
  assert.deepEqual(await other.json('/api/v1/rates'), [])
  assert.deepEqual(await other.json('/api/v1/sync/runs'), [])
})

const badExports: [title: string, change: (text: string) => string, words: RegExp][] = [
  ['without its end', (text) => text.slice(0, text.indexOf('# end')), /has no end/],
  ['that ends within a line', (text) => text.slice(0, -10), /ends within a line/],
  [
    'with another value',
    (text) => text.replace(/,(\d)(\d*\.\d+),,/, ',9$2,,'),
    /SHA-256 is that of other lines/,
  ],
  ['with a line less', (text) => text.replace(/^bccr.*\n/m, ''), /SHA-256 is that of other lines/],
  ['with more after its end', (text) => `${text}# covered,a\n`, /more after the end/],
  ['with ends of Windows', (text) => text.replaceAll('\n', '\r\n'), /not a line of cambista export/],
  ['of another program', () => 'fecha,compra\n2026-01-01,500\n', /not a line of cambista export/],
  ['with nothing', () => '', /has no end/],
  ['with a day twice', (text) => withValidEnd(text.replace(/^(bccr.*\n)/m, '$1$1')), /is not after/],
  [
    'with a value that is none',
    (text) => withValidEnd(text.replace(/,\d+(\.\d+)?,,/, ',-5,,')),
    /"-5" is no value/,
  ],
  [
    'with a day that is none',
    (text) => withValidEnd(text.replace(/compra,2025-10-02,/, 'compra,2025-02-30,')),
    /is no day/,
  ],
  [
    'of a series that is not here',
    (text) => withValidEnd(text.replaceAll(',317,', ',99317,')),
    /there is no series 99317/,
  ],
  [
    'of a provider that is not here',
    (text) => withValidEnd(text.replaceAll('bccr,', 'nobody,')),
    /there is no provider nobody/,
  ],
  [
    'whose series is another one here',
    (text) => withValidEnd(text.replaceAll('USD/CRC,compra', 'USD/CRC,venta')),
    /is USD\/CRC compra here/,
  ],
  [
    'with a value after tomorrow',
    (text) =>
      withValidEnd(text.replace(/(\nbccr,1,317,USD\/CRC,compra,)[^,]+(,[^\n]+\n)(?=#)/, '$12901-01-01$2')),
    /series 317 of bccr has a value of 2901-01-01, which is after tomorrow, \d{4}-\d\d-\d\d: nothing was imported/,
  ],
  [
    'with covered days after tomorrow',
    (text) =>
      withValidEnd(text.replace(/(# covered,bccr,2,318,USD\/CRC,venta,2026-01-11),[-\d]+/, '$1,2901-01-01')),
    /series 318 of bccr has covered days up to 2901-01-01, which is after tomorrow, .*: nothing was imported; cambista rates discard --after .* removes/,
  ],
]
for (const [title, change, words] of badExports) {
  test(`\`import\` refuses a file ${title} as a whole`, async () => {
    const text = await exportFile(`${title}.csv`)
    const badFile = file(`${title}-bad.csv`)
    writeFileSync(badFile, change(text))
    assert.notEqual(readFileSync(badFile, 'utf8'), text)
    const dry = await importFile(badFile, '--dry-run')
    const end = await importFile(badFile)
    assert.deepEqual([dry.code, end.code, dry.err], [1, 1, end.err])
    assert.match(end.err, words)
    assert.deepEqual(await other.json('/api/v1/rates'), [])
  })
}

for (const form of ['csv', 'ndjson']) {
  test(`an empty server that imports ${form} exports the same file and gives the same answers`, async () => {
    const first = await exportFile(`round.${form}`)
    const box = await openApp()
    const end = await runCommand(['import', file(`round.${form}`), '--data-dir', box.dataDir])
    assert.equal(end.code, 0, end.err)
    assert.ok((await exportFile(`round-again.${form}`, box.dataDir)) === first, 'the same bytes')
    const all = await app.json<unknown[]>('/api/v1/rates')
    await until(async () => (await box.json<unknown[]>('/api/v1/rates')).length === all.length)
    for (const path of PATHS) {
      const [mine, theirs] = await Promise.all([app.get(path), box.get(path)])
      assert.deepEqual([theirs.status, await theirs.text()], [mine.status, await mine.text()], path)
    }
    assert.equal((await box.get(`/api/v1/convert?amount=1&from=USD&to=CRC&on=${HOLE.to}`)).status, 404)
    const [run] = await box.json<{ trigger: string; status: string }[]>('/api/v1/sync/runs')
    assert.deepEqual([run?.trigger, run?.status], ['import', 'ok'])
  })
}

const days = [
  '2025-09-30',
  '2025-10-01',
  '2025-10-31',
  '2025-11-01',
  '2025-12-15',
  '2026-01-10',
  '2026-01-11',
]
const PATHS = [
  '/api/v1/series',
  '/api/v1/providers',
  ...[...days, '2026-03-02', '2026-03-24', '2026-12-31'].flatMap((day) => [
    `/api/v1/rates?on=${day}`,
    `/api/v1/rates/latest?on=${day}`,
    `/api/v1/rates/latest?base=EUR&quote=USD&on=${day}`,
    `/api/v1/convert?amount=1000.5&from=JPY&to=CRC&on=${day}&details=true`,
  ]),
  ...[1, 2, 3, 17, 46].map((id) => `/api/v1/series/${id}/history?from=2025-01-01`),
]

test('`import` replaces exact values only with --replace, and counts equal ones as unchanged', async () => {
  const box = await openApp()
  const importJson = (path: string, ...words: string[]) =>
    runCommand(['import', path, '--data-dir', box.dataDir, '--json', ...words])
  await exportFile('replace.csv')
  const [first] = JSON.parse((await importJson(file('replace.csv'))).out)
  await storeAsOtherProcess(box, { series: 1, day: '2026-03-20', value: '777.77' })
  const result = await importJson(file('replace.csv'))
  assert.equal(result.code, 3)
  const [counts] = JSON.parse(result.out)
  assert.deepEqual(
    [counts.inserted, counts.updated, counts.unchanged, counts.kept],
    [0, 0, first.inserted - 1, 1],
  )
  assert.equal(counts.run.status, 'parcial')
  assert.match(await exportFile('kept.csv', box.dataDir), /compra,2026-03-20,777\.77,/)
  const replaced = await importJson(file('replace.csv'), '--replace')
  assert.equal(replaced.code, 0, replaced.err)
  assert.deepEqual(JSON.parse(replaced.out)[0].updated, 1)
  const revisions = await runCommand(['revision', 'list', '--data-dir', box.dataDir, '--json'])
  assert.equal(JSON.parse(revisions.out)[0].old_value, '777.77')
  const columns = (text: string) => text.replace(/,[^,]*Z$/gm, '').replace(/^# end.*/m, '')
  assert.equal(
    columns(await exportFile('replaced.csv', box.dataDir)),
    columns(readFileSync(file('replace.csv'), 'utf8')),
  )
})

test('`export` overwrites no file and leaves none when it fails', async () => {
  await exportFile('there.csv')
  const end = await runCommand(['export', file('there.csv'), '--data-dir', app.dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, /is there already/)
  const none = await runCommand(['export', file('none.csv'), '--data-dir', join(dir, 'nothing')])
  assert.equal(none.code, 1)
  assert.ok(!existsSync(file('none.csv')))
})

test('`export -` writes to stdout, and makes no file', async () => {
  const prices = ['--prices', 'ledger', '--base', 'USD', '--quote', 'CRC']
  for (const words of [[], ['--format', 'ndjson'], ['--indicators'], prices]) {
    const dash = await runCommand(['export', '-', ...words, '--data-dir', app.dataDir])
    const bare = await runCommand(['export', ...words, '--data-dir', app.dataDir])
    assert.deepEqual([dash.code, dash.out], [0, bare.out])
  }
  assert.ok(!existsSync('-'))
})

/** Replaces the end line of a changed export by one with the right count and hash. */
function withValidEnd(text: string): string {
  const before = text.slice(0, text.indexOf('# end,'))
  const count = before.match(/^(bccr|nobody),/gm)?.length
  return `${before}# end,${count},${createHash('sha256').update(before).digest('hex')}\n`
}
