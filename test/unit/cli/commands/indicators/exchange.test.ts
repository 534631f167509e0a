// `cambista export --indicators` and `cambista import` of such a file, and the same file over HTTP
// (decisions#indicators).

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startIndicatorApp, TBP } from '../../../../support/rates/indicator-app.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const FREE = { code: '777', name: 'Índice, "de precios"', unit: 'Millones; base 100' }
const VALUES: Record<string, string> = {
  '2026-03-19': '4.10',
  '2026-03-20': '-0.25000000',
  '2026-03-22': '0',
  '2026-03-23': '1234567.123456789012',
}

/** A store with two indicators: days and values of the first, days alone of the second. */
async function startSource(t: TestContext) {
  const app = await startIndicatorApp(t, [TBP, FREE])
  app.values['423'] = (day) => VALUES[day]
  await app.sync()
  const before = await (await app.get('/api/v1/export')).text()
  await app.enable(['423', '777'], '2026-03-10')
  await app.read()
  assert.equal(await (await app.get('/api/v1/export')).text(), before, 'the export of rates is the same')
  return app
}

/** A fresh store, and commands on it. */
async function openTarget(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const at = ['--data-dir', dataDir]
  await runCommand(['key', 'create', 'erp', ...at])
  return {
    dataDir,
    run: (...words: string[]) => runCommand([...words, ...at]),
    async json<T>(...words: string[]): Promise<T> {
      return JSON.parse((await runCommand([...words, '--json', ...at])).out) as T
    },
  }
}

function withEnd(lines: readonly string[], count: number): string {
  const text = lines.map((line) => `${line}\n`).join('')
  return `${text}# end,${count},${createHash('sha256').update(text).digest('hex')}\n`
}

test('/api/v1/indicators/export and `export --indicators` write facts, covered days, values and the end', async (t) => {
  const app = await startSource(t)
  const csv = await app.get('/api/v1/indicators/export')
  assert.match(csv.headers.get('content-disposition') ?? '', /filename="cambista-indicators\.csv"/)
  const text = await csv.text()
  const [, at = ''] = /,([^,]+Z)$/m.exec(text) ?? []
  assert.equal(
    text,
    withEnd(
      [
        'provider,code,value_date,value,stored_at',
        `# indicator,{"provider":"bccr","code":"423","name":"${TBP.name}","unit":"porcentaje anual","periodicity":"diaria"}`,
        '# covered,bccr,423,2026-03-10,2026-03-24',
        `bccr,423,2026-03-19,4.1,${at}`,
        `bccr,423,2026-03-20,-0.25,${at}`,
        `bccr,423,2026-03-22,0,${at}`,
        `bccr,423,2026-03-23,1234567.123456789012,${at}`,
        `# indicator,${JSON.stringify({ provider: 'bccr', ...FREE, periodicity: 'diaria' })}`,
        '# covered,bccr,777,2026-03-10,2026-03-24',
      ],
      4,
    ),
  )
  const ndjson = await (await app.get('/api/v1/indicators/export', { accept: 'application/x-ndjson' })).text()
  assert.equal(ndjson, await (await app.get('/api/v1/indicators/export.ndjson')).text())
  assert.equal(text, await (await app.get('/api/v1/indicators/export.csv')).text())
  assert.match(
    ndjson,
    /^\{"provider":"bccr","code":"423","value_date":"2026-03-20","value":"-0\.25","stored_at":/m,
  )
  const { out } = await runCommand(['export', '--indicators', '--data-dir', app.dataDir])
  assert.equal(out, text)
})

for (const form of ['csv', 'ndjson'] as const) {
  test(`an imported ${form} gives the same export, and its indicators are disabled until they are enabled`, async (t) => {
    const app = await startSource(t)
    const file = join(temporaryDirectory(t), `indicators.${form}`)
    const target = await openTarget(t)
    writeFileSync(file, await (await app.get(`/api/v1/indicators/export.${form}`)).text())
    const dry = await target.run('import', file, '--dry-run')
    assert.equal(dry.out, 'dry run, bccr: 4 new, 0 replaced, 0 unchanged, 0 kept that differ\n')
    assert.match((await target.run('import', file)).out, /^run 1: ok, bccr: 4 new, 0 replaced/m)
    const copy = join(temporaryDirectory(t), `copy.${form}`)
    assert.match((await target.run('export', '--indicators', copy)).out, /^4 values written to /m)
    assert.deepEqual(readFileSync(copy), readFileSync(file))
    assert.deepEqual(await target.json('indicator', 'list'), [])
    const all = await target.json<{ code: string; state: string; newest_value: string; name: string }[]>(
      ...['indicator', 'list', '--all', '--search', 'precios'],
    )
    assert.deepEqual(
      all.filter(({ code }) => code === '777').map(({ name, state }) => [name, state]),
      [[FREE.name, 'disabled']],
    )
    assert.match((await target.run('import', file)).out, /^run 2: ok, bccr: 0 new, 0 replaced, 4 unchanged/m)
    await target.run('indicator', 'enable', '423')
    const [first] = await target.json<{ newest_value: string }[]>('indicator', 'list')
    assert.equal(first?.newest_value, '1234567.123456789012')
  })
}

test('an import changes a stored value only with --replace, which makes a revision', async (t) => {
  const app = await startSource(t)
  const file = join(temporaryDirectory(t), 'indicators.csv')
  const text = await (await app.get('/api/v1/indicators/export.csv')).text()
  const lines = text.split('\n').slice(0, -2)
  const other = lines.map((line) => line.replace(',2026-03-19,4.1,', ',2026-03-19,4.15,'))
  writeFileSync(file, withEnd(other, 4))
  const run = (...words: string[]) => runCommand(['import', file, ...words, '--data-dir', app.dataDir])
  const result = await run()
  assert.equal(result.code, 3)
  assert.match(result.out, /parcial, bccr: 0 new, 0 replaced, 3 unchanged, 1 kept that differ/)
  assert.match(result.out, /1 stored values were kept of which the file has others: see --replace/)
  const value = async (query = '') =>
    (await app.json<{ value: string }>(`/api/v1/indicators/423/latest?on=2026-03-19${query}`)).value
  assert.equal(await value(), '4.1')
  assert.match((await run('--replace')).out, /ok, bccr: 0 new, 1 replaced, 3 unchanged/)
  assert.equal(await value(), '4.15')
  assert.equal(await value('&as_of=2026-03-24T13:00:00Z'), '4.1')
  const [newest] = await app.json<{ trigger: string }[]>('/api/v1/indicators/runs?limit=1')
  assert.equal(newest?.trigger, 'import')
})

test('a file that was altered or cut, has a bad line, a rate or a later day is refused as a whole', async (t) => {
  const head = [
    'provider,code,value_date,value,stored_at',
    '# indicator,{"provider":"bccr","code":"423","name":null,"unit":null,"periodicity":null}',
  ]
  const at = '2026-03-24T12:40:00.000Z'
  const good = `bccr,423,2026-03-19,4.1,${at}`
  const dir = temporaryDirectory(t)
  const target = await openTarget(t)
  const cases: [text: string, reason: RegExp][] = [
    [withEnd([...head, good], 2), /the file has 1 values, and not 2/],
    [withEnd([...head, good], 1).replace('4.1', '4.2'), /the SHA-256 is that of other lines/],
    [`${[...head, good].join('\n')}\n`, /the file has no end/],
    [withEnd([...head, `bccr,423,2026-03-19,"1,234",${at}`], 1), /line 3: not a line of cambista export/],
    [withEnd([...head, `bccr,423,2026-03-19,4.10,${at}`], 1), /line 3: "4.10" is no value/],
    [withEnd([...head, good, good], 2), /line 4: 2026-03-19 is not after 2026-03-19/],
    [withEnd([...head, good.replace('423', '424')], 1), /line 3: the line of "424" is not below its own/],
    [withEnd([...head, `bccr,423,2999-03-19,4,${at}`], 1), /423 has days up to 2999-03-19, and tomorrow is/],
    [withEnd([...head, good.replace('2026-03-24T', '2999-03-24T')], 1), /a value was stored at 2999/],
    [withEnd([head[0] ?? '', head[1]?.replace('423', '318') ?? ''], 0), /318 is a rate of bccr/],
    [withEnd([head[0] ?? '', head[1]?.replace('bccr', 'ecb') ?? ''], 0), /no indicators of "ecb"/],
  ]
  for (const [text, reason] of cases) {
    const file = join(dir, 'bad.csv')
    writeFileSync(file, text)
    const { code, err } = await target.run('import', file)
    assert.equal(code, 1, err)
    assert.match(err, reason)
    assert.match(err, /nothing was imported/)
  }
  assert.match((await target.run('export', '--indicators')).out, /^provider,code.*\n# end,0,/)
})
