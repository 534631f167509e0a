// LibreOffice Calc: opens the tables for spreadsheets of Costa Rica, and writes workbooks for an import.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../support/app.ts'
import { runCommand } from '../support/terminal.ts'
import { openForClients, saveByCalc } from './support.ts'

const app = await openForClients()
const MOST_DIGITS = 15 // a float retains all of them

/** Opens a CSV as a person in Costa Rica does, and saves it in another form. */
async function savedByCalc(t: TestContext, text: string, form: 'fods' | 'xlsx'): Promise<string> {
  const dir = temporaryDirectory(t)
  const csv = join(dir, 'table.csv')
  writeFileSync(csv, text)
  await saveByCalc(dir, csv, form)
  return join(dir, `table.${form}`)
}

/** Type and stored value of each cell with a value, by row. */
function parseCells(fods: string): string[][] {
  return [...fods.matchAll(/<table:table-row[^>]*>(.*?)<\/table:table-row>/gs)].map(([, row = '']) =>
    [...row.matchAll(/office:value-type="(\w+)"(?: office:(?:date-)?value="([^"]*)")?/g)].map(
      ([, type, value]) => (value === undefined ? `${type}` : `${type} ${value}`),
    ),
  )
}

const countDigits = (value: string) => value.replace('.', '').replace(/^0+/, '').length

test('Calc opens days of a history and of all rates as dates, and values as numbers with all digits', async (t) => {
  const text = async (path: string) => (await app.get(path)).text()
  const history = '/api/v1/series/2/history'
  const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(history)
  assert.ok(points.length > 60)
  const saved = await savedByCalc(t, await text(`${history}.csv?dialect=es-CR`), 'fods')
  const [, ...rows] = parseCells(readFileSync(saved, 'utf8'))
  assert.deepEqual(
    rows.map(([day, value = '']) => [day, value.startsWith('float '), Number(value.slice(6))]),
    points.map(({ rate_date, value }) => [`date ${rate_date}`, true, Number(value)]),
  )
  const rates = await app.json<{ rate_date: string; value: string }[]>('/api/v1/rates')
  const all = await savedByCalc(t, await text('/api/v1/rates.csv?dialect=es-CR'), 'fods')
  const cells = parseCells(readFileSync(all, 'utf8')).slice(1)
  assert.equal(cells.length, rates.length)
  for (const [at, { rate_date, value }] of rates.entries()) {
    assert.ok(countDigits(value) <= MOST_DIGITS, value)
    const numbers = cells[at]?.flatMap((cell) => (cell.startsWith('float ') ? [Number(cell.slice(6))] : []))
    assert.ok(cells[at]?.includes(`date ${rate_date}`), `${cells[at]}`)
    assert.ok(numbers?.includes(Number(value)), `${value} in ${cells[at]}`)
  }
})

test('a workbook that it wrote is imported with the digits that it shows', async (t) => {
  const values = ['496,40', '512,35', '1.083,45', '503,90'] // with thousands, which no dollar is
  const lines = values.map((value, at) => `${20 + at}/02/2026;${value}`)
  const text = [
    'Tipo de cambio de venta del dólar',
    'Fecha;Tipo cambio venta',
    ...lines,
    'Fuente: BCCR',
    '',
  ].join('\r\n')
  const saved = await savedByCalc(t, text, 'xlsx')
  const dataDir = join(temporaryDirectory(t), 'data')
  const end = await runCommand(['import', '--bccr', saved, '--data-dir', dataDir])
  assert.equal(end.code, 0, end.err)
  const out = join(dataDir, '../out.csv')
  assert.equal((await runCommand(['export', out, '--data-dir', dataDir])).code, 0)
  const rows = readFileSync(out, 'utf8').matchAll(/^bccr,2,318,USD\/CRC,venta,([^,]*,[^,]*,[^,]*),/gm)
  assert.deepEqual(
    [...rows].map(([, one]) => one),
    ['2026-02-20,496.4,2', '2026-02-21,512.35,2', '2026-02-22,1083.45,2', '2026-02-23,503.9,2'],
  )
})
