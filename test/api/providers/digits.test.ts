// Each captured value of the four optional sources, digit for digit: sync, /rates/latest, export, import, as_of.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../../src/demo/bank.ts'
import { banxico } from '../../../src/providers/banxico/banxico.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { enableProvider } from '../../../src/sync/catalogue.ts'
import { addDays } from '../../../src/values/dates.ts'
import { canonicalNumber } from '../../../src/values/decimal.ts'
import { fixedClock, startTestApp, temporaryDatabase, temporaryDirectory } from '../../support/app.ts'
import { BANXICO_TOKEN, startBanxico } from '../../support/sources/banxico.ts'
import { monthRows } from '../../support/sources/ecb.ts'
import { FOUR, startFour } from '../../support/sources/four.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

type Json = Record<string, unknown>
type Reader = { json<T>(path: string): Promise<T> }
/** A value as its source publishes it. */
type Published = { provider: string; code: string; day: string; value: string }
type SeriesJson = { external_code: string; base_currency: string; quote_currency: string; rate_type: string }

// 18:00 in Costa Rica, 19:00 in Bogotá: the TRM of the 24th is there.
const MONDAY = '2026-03-24T00:00:00Z'
const PROVIDERS = [bccr, ...FOUR]
const read = (name: string) => readFileSync(join(import.meta.dirname, '../../fixtures', name), 'utf8')
const isoDay = (text = '') => text.split('/').reverse().join('-')

function ecbValues(): Published[] {
  return monthRows().map((row) => {
    const [key = '', , , , , , day = '', value = ''] = row.split(',')
    return { provider: 'ecb', code: key.replace('EXR.', ''), day, value }
  })
}

function banguatValues(): Published[] {
  const rows = read('banguat/tipocambiorango-2026-03-01-20.xml').match(/<Var>.*?<\/Var>/g) ?? []
  return rows.flatMap((row) =>
    ['compra', 'venta'].map((side) => ({
      ...{ provider: 'banguat', code: `2.${side}` },
      day: isoDay(/<fecha>([^<]*)</.exec(row)?.[1]),
      value: new RegExp(`<${side}>([^<]*)<`).exec(row)?.[1] ?? '',
    })),
  )
}

function trmValues(): Published[] {
  type Row = { valor: string; vigenciadesde: string; vigenciahasta: string }
  const values: Published[] = []
  for (const row of JSON.parse(read('trm/trm-2026-03-16-24.json')) as Row[]) {
    const last = row.vigenciahasta.slice(0, 10)
    for (let day = row.vigenciadesde.slice(0, 10); day <= last; day = addDays(day, 1))
      values.push({ provider: 'trm', code: 'TRM', day, value: row.valor })
  }
  return values
}

function banxicoValues(): Published[] {
  type Series = { idSerie: string; datos: { fecha: string; dato: string }[] }
  const captured = read('banxico/sie-five-series-2026-03-01-15.json')
  return (JSON.parse(captured) as { bmx: { series: Series[] } }).bmx.series.flatMap(({ idSerie, datos }) =>
    datos.map(({ fecha, dato }) => ({
      ...{ provider: 'banxico', code: idSerie, day: isoDay(fecha), value: dato },
    })),
  )
}

const PUBLISHED = [...ecbValues(), ...banguatValues(), ...trmValues(), ...banxicoValues()]

/** A line for each value: without the zeros that a source adds. */
function lines(values: readonly Published[]): string[] {
  return values
    .map(({ provider, code, day, value }) => `${provider} ${code} ${day} ${canonicalNumber(value)}`)
    .toSorted()
}

/** Reads each published value from /rates/latest, on its own day. */
async function latestLines({ json }: Reader): Promise<string[]> {
  const answered: string[] = []
  for (const { code: provider } of FOUR) {
    const series = await json<SeriesJson[]>(`/api/v1/series?provider=${provider}`)
    for (const { external_code, base_currency: base, quote_currency: quote, rate_type } of series) {
      const days = PUBLISHED.filter((one) => one.provider === provider && one.code === external_code)
      assert.ok(days.length > 0, external_code)
      for (const { day } of days) {
        const query = new URLSearchParams({ provider, base, quote, on: day })
        const latest = await json<Json>(`/api/v1/rates/latest?${query}`)
        answered.push(`${provider} ${external_code} ${latest.rate_date} ${latest[rate_type]}`)
      }
    }
  }
  return answered.toSorted()
}

async function exportText(dataDir: string, form: 'csv' | 'ndjson') {
  const path = join(dataDir, `rates.${form}`)
  const end = await runCommand(['export', path, '--data-dir', dataDir], {}, PROVIDERS)
  assert.equal(end.code, 0, end.err)
  return { path, text: readFileSync(path, 'utf8') }
}

/** Returns the values of the four in an export. */
function exportedLines(text: string, form: 'csv' | 'ndjson'): string[] {
  const values = text.split('\n').flatMap((line): string[] => {
    if (form === 'csv') {
      const [provider, , code, , , day, value] = line.split(',')
      return /^[a-z]/.test(line) ? [`${provider} ${code} ${day} ${value}`] : []
    }
    const row = line === '' ? {} : (JSON.parse(line) as Json)
    return 'value' in row ? [`${row.provider} ${row.external_code} ${row.rate_date} ${row.value}`] : []
  })
  return values.filter((line) => FOUR.some(({ code }) => line.startsWith(`${code} `))).toSorted()
}

async function startStored(t: TestContext) {
  const clock = fixedClock(MONDAY)
  const app = await startFour(t, { clock, backfillFrom: '2026-02-17', ecbRows: monthRows() })
  for (const provider of FOUR) await asOtherProcess(app, (db) => enableProvider(db, provider, clock.read))
  await until(async () => (await app.json<Json[]>('/api/v1/providers')).length === PROVIDERS.length)
  // The captured answer of Guatemala ends three days before the clock.
  const hole = (side: string) => `banguat: USD/GTQ ${side} has no value on 2026-03-21 to 2026-03-23`
  const guatemala = `3 parcial ${hole('compra')}; ${hole('venta')}`
  assert.deepEqual(await app.syncAll(), ['1 ok', '2 ok', guatemala, '4 ok', '5 ok'])
  return app
}

test('captured values are those of /rates/latest, of an export and of its import', async (t) => {
  const app = await startStored(t)
  const expected = lines(PUBLISHED)
  assert.deepEqual(await latestLines(app), expected)
  for (const form of ['csv', 'ndjson'] as const) {
    const { path, text } = await exportText(app.dataDir, form)
    assert.deepEqual(exportedLines(text, form), expected, form)
    const dataDir = temporaryDirectory(t)
    const run = (...words: string[]) => runCommand([...words, '--data-dir', dataDir], {}, PROVIDERS)
    const refusal = await run('import', path)
    assert.deepEqual(
      [refusal.code, refusal.err],
      [
        1,
        'cambista: the provider ecb is not enabled: nothing was imported; run cambista provider enable ecb first\n',
      ],
    )
    for (const { code } of FOUR) assert.equal((await run('provider', 'enable', code)).code, 0, code)
    const end = await run('import', path)
    assert.equal(end.code, 0, end.err + end.out)
    const other = await startTestApp(t, { clock: app.clock, dataDir, providers: PROVIDERS })
    assert.deepEqual(await latestLines(other), expected, form)
    const copy = await exportText(dataDir, form)
    assert.deepEqual(exportedLines(copy.text, form), expected, form)
    await other.app.close()
  }
})

test('`as_of` answers the published digits before a correction, and the corrected ones after it', async (t) => {
  const app = await startStored(t)
  const { sources, clock, json, syncAll } = app
  const corrections = [
    ['ecb', 'EUR', 'AUD', '2026-03-17', 'referencia', '1.6227', '1.6272'],
    ['banguat', 'USD', 'GTQ', '2026-03-11', 'venta', '7.66069', '7.6607'],
    ['trm', 'USD', 'COP', '2026-03-19', 'referencia', '3704.17', '3704.71'],
    ['banxico', 'USD', 'MXN', '2026-03-12', 'referencia', '17.8368', '17.8386'],
  ] as const
  clock.now = new Date('2026-03-25T00:00:00Z')
  for (const [provider, , , , , published, corrected] of corrections)
    sources[provider].correct = (body) => body.replaceAll(published, corrected)
  const statuses = await syncAll({ from: '2026-03-01', to: '2026-03-20' })
  assert.deepEqual(statuses, ['1 ok', '2 ok', '3 ok', '4 ok', '5 ok'])
  clock.now = new Date('2026-03-26T00:00:00Z')
  for (const [provider, base, quote, day, side, published, corrected] of corrections) {
    const value = async (asOf: string) => {
      const query = new URLSearchParams({ provider, base, quote, on: day, ...(asOf && { as_of: asOf }) })
      return (await json<Json>(`/api/v1/rates/latest?${query}`))[side]
    }
    const answers = [
      await value('2026-03-24T12:00:00Z'),
      await value('2026-03-25T12:00:00Z'),
      await value(''),
    ]
    assert.deepEqual(answers, [published, corrected, corrected], provider)
  }
  const { text } = await exportText(app.dataDir, 'csv')
  const exported = exportedLines(text, 'csv').join('\n')
  for (const [provider, , , day, , published, corrected] of corrections) {
    assert.match(exported, new RegExp(`^${provider} \\S+ ${day} ${corrected}$`, 'm'))
    assert.doesNotMatch(exported, new RegExp(`^${provider} \\S+ ${day} ${published}$`, 'm'))
  }
})

test('a token from a file syncs Banxico; without one its run has advice, and the bank is synchronized', async (t) => {
  const clock = fixedClock(new Date().toISOString()) // the command has the clock of the machine
  const [source, bank] = [
    await startBanxico(t, clock.read),
    await startBank({ token: 'token', today: clock.today }),
  ]
  t.after(() => bank.close())
  const dataDir = temporaryDirectory(t)
  temporaryDatabase(t, dataDir)
  const tokenFile = join(dataDir, 'banxico-token')
  writeFileSync(tokenFile, '', { mode: 0o600 })
  const run = (...words: string[]) =>
    runCommand([...words, '--data-dir', dataDir], { CAMBISTA_BCCR_TOKEN: 'token' }, [bccr, banxico])
  const sync = async () => {
    const { code, out, err } = await run(
      ...['sync', '--from', '2026-03-01', '--to', '2026-03-15', '--json'],
      ...['--bccr-url', bank.url, '--bccr-pace', '0'],
      ...['--banxico-url', source.url, '--banxico-pace', '0', '--banxico-token-file', tokenFile],
    )
    assert.ok(!(out + err).includes(BANXICO_TOKEN))
    const runs = JSON.parse(out) as { status: string; message: string | null }[]
    return { code, statuses: runs.map(({ status }) => status), message: runs.at(-1)?.message }
  }
  assert.equal((await run('provider', 'enable', 'banxico')).out, 'provider banxico is enabled\n')

  const absent = await sync()
  assert.deepEqual([absent.statuses, absent.code], [['ok', 'error'], 1])
  assert.match(
    absent.message ?? '',
    /^banxico: there is no token: make one at https:\S+ .*--banxico-token-file/,
  )
  assert.equal(source.requests.length, 0)

  writeFileSync(tokenFile, 'another')
  const refused = await sync()
  assert.deepEqual([refused.statuses, refused.code], [['ok', 'error'], 1])
  assert.match(refused.message ?? '', /banxico: the token was refused: make one at /)
  assert.equal(source.requests.length, 1)

  writeFileSync(tokenFile, `${BANXICO_TOKEN}\n`)
  assert.deepEqual(await sync(), { code: 0, statuses: ['ok', 'ok'], message: null })
  assert.deepEqual(exportedLines((await exportText(dataDir, 'csv')).text, 'csv'), lines(banxicoValues()))
})
