// Markers of missing values and notations of numbers, over captured answers of central banks.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { noValue, readPublishedValues } from '../../../src/providers/published-value.ts'
import { canonicalNumber } from '../../../src/values/decimal.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
const readFixture = (path: string) => readFileSync(join(FIXTURES, path), 'utf8')

const row = (value: string) => ({ code: '333', day: '2026-03-24', value, roundedTo: undefined })

/** Reads texts as the values of one answer. */
function readTexts(texts: readonly string[], notation: 'plain' | 'thousands'): string[] {
  return readPublishedValues(texts.map(row), notation).map(({ value }) => value)
}

/** Asserts that a text is either a marker or a number, and returns the canonical number. */
function parse(text: string): string | undefined {
  const value = canonicalNumber(readTexts([text], 'thousands')[0] ?? '')
  assert.equal(value === undefined, noValue(text), text)
  return value
}

test('noValue knows each marker in any case', () => {
  const markers = [
    '',
    ' ',
    'N/E',
    'ND',
    'NA',
    'N/A',
    'n.d.',
    'N.D.',
    '.',
    '-',
    'NaN',
    'nan',
    'n/e',
    ' ND ',
    null,
  ]
  for (const text of [...markers, undefined]) assert.ok(noValue(text), String(text))
  for (const text of ['0', '1', '0.0', 'N', '--', '..', 'none', 'null']) assert.ok(!noValue(text), text)
})

test('readPublishedValues removes commas between thousands alone, and no digit', () => {
  const texts = ['1,435.400000', '-12,345,678', '1435.4', '0.853', '1.5E-05', 'N/E', '', '0', '-1']
  const read = ['1435.400000', '-12345678', '1435.4', '0.853', '1.5E-05', 'N/E', '', '0', '-1']
  assert.deepEqual(readTexts(texts, 'thousands'), read)
  assert.deepEqual(readTexts(read, 'plain'), read)
})

test('readPublishedValues refuses an answer for one value in another notation', () => {
  const others = [
    '1,43',
    '0,853',
    '7,665',
    '1,2345',
    '1,234,56',
    '12.345,60',
    ',123',
    '1e3,000',
    '0,123.4',
    'x',
  ]
  for (const text of [...others, '9'.repeat(41), '1e99'])
    for (const notation of ['plain', 'thousands'] as const)
      assert.throws(() => readTexts(['1435.4', text], notation), FetchFailure, `${notation} ${text}`)
  assert.throws(() => readTexts(['1435.4', '1,435.40'], 'plain'), {
    message: '"1,435.40" of 333 on 2026-03-24 is not a decimal',
  })
})

test('each cell of the IMF is a number or NA', () => {
  const rows = readFixture('other-banks/imf-representative-2026-03.tsv').trimEnd().split(/\r?\n/)
  const cells = rows
    .flatMap((row) => row.split('\t').slice(1))
    .filter((cell) => !/^$|[A-Za-z]+ \d{2}, /.test(cell))
  assert.ok(cells.includes('NA') && cells.includes('1,435.400000') && cells.length > 300)
  for (const cell of cells) parse(cell)
  assert.ok(rows.some((row) => row.startsWith('Euro(1)\t')))
  assert.throws(() => parse('Euro(1)'))
})

test('each value of Chile is a number, or NaN with the status ND', () => {
  type Chile = { Series: { Obs: { value: string; statusCode: string }[] } }
  const { Series } = JSON.parse(readFixture('other-banks/chile-bcch-2026-03.json')) as Chile
  assert.ok(Series.Obs.some(({ statusCode }) => statusCode === 'ND'))
  for (const { value, statusCode } of Series.Obs)
    assert.equal(parse(value) === undefined, statusCode === 'ND')
})

test('each cell of the Board is a number, or ND', () => {
  const rows = readFixture('other-banks/reconstructed-h10-package.csv').trimEnd().split(/\r?\n/)
  const cells = rows.filter((row) => /^\d{4}-/.test(row)).flatMap((row) => row.split(',').slice(1))
  assert.equal(cells.filter((cell) => parse(cell) === undefined).length, 22)
  for (const path of globSync('other-banks/fred/*.json', { cwd: FIXTURES })) {
    const { observations } = JSON.parse(readFixture(path)) as { observations: { value: string }[] }
    for (const { value } of observations) assert.ok(parse(value), path)
  }
})

test('each value of the other captured answers is a number', () => {
  const argentina = readFixture('other-banks/argentina-bcra-2026-03-19.json')
  const values = [
    ...[...argentina.matchAll(/"tipo(?:Pase|Cotizacion)":([^,}]+)/g)],
    ...[...readFixture('banguat/tipocambiorango-2026-03-01-20.xml').matchAll(/<(?:venta|compra)>([^<]*)</g)],
    ...[...readFixture('trm/trm-2026-03-16-24.json').matchAll(/"valor":"([^"]*)"/g)],
    ...[...readFixture('banxico/sie-five-series-2026-03-01-15.json').matchAll(/"dato":"([^"]*)"/g)],
    ...[...readFixture('ecb/exr-cut-2026-02-17.csv').matchAll(/^D,.*,(.*)$/gm)],
    ...[...readFixture('ecb/reconstructed-exr-dataonly-2026-03-11.csv').matchAll(/^EXR\..*,(\S*)\r$/gm)],
  ].map(([, value = '']) => value)
  assert.ok(values.length > 800, String(values.length))
  for (const value of values) assert.ok(parse(value), value)
})
