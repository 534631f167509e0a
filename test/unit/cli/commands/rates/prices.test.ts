// `export --prices`: price directives of several pairs.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openApp } from '../../../../api/support.ts'
import { temporaryDirectory } from '../../../../support/app.ts'
import { runCommand } from '../../../../support/terminal.ts'

const app = await openApp({ backfillFrom: '2026-01-11' })
await app.sync()
await app.sync({ from: '2025-10-01', to: '2025-10-31' }) // days after them are a hole
const exportPrices = (...words: string[]) =>
  runCommand(['export', '--data-dir', app.dataDir, '--base', 'usd,EUR', '--quote', 'CRC', ...words])
const HOLE = '2025-11-01..2026-01-10'

for (const [format, type] of [
  ['ledger', 'venta'],
  ['beancount', 'compra'],
] as const) {
  test(`\`export --prices ${format}\` writes the ${type} of each pair by day, after the newest hole`, async () => {
    const { code, out, err } = await exportPrices('--prices', format, '--type', type)
    assert.equal(code, 0, err)
    const points: [string, string][] = []
    for (const base of ['USD', 'EUR']) {
      const query = `base=${base}&quote=CRC&type=${type}&from=2026-01-11&to=2026-03-25`
      const history = await app.json<{ points: { date: string; value: string }[] }>(
        `/api/v1/history?${query}`,
      )
      for (const { date, value } of history.points) {
        const price = `${base} ${value} CRC`
        points.push([date, format === 'ledger' ? `P ${date} ${price}` : `${date} price ${price}`])
      }
    }
    points.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    const lines = [
      `; USD/CRC ${type}, Banco Central de Costa Rica`,
      `; USD/CRC begins at 2026-01-11; not synchronized: ${HOLE}`,
      `; EUR/CRC ${type}, Banco Central de Costa Rica`,
      `; EUR/CRC begins at ${out.match(/EUR\/CRC begins at (\S+);/)?.[1]}; not synchronized: ${HOLE}`,
      ...points.map(([, line]) => line),
    ]
    assert.equal(out, `${lines.join('\n')}\n`)
    for (const line of [lines[1], lines[3]]) assert.ok(err.includes(String(line).slice(2)), err)
  })
}

test('`export --prices` writes a new file, and counts its prices', async (t) => {
  const file = join(temporaryDirectory(t), 'prices.ledger')
  const { code, out } = await exportPrices('--prices', 'ledger', file)
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('P '))
  assert.deepEqual([code, out], [0, `${lines.length} prices written to ${file}\n`])
})

test('`export` refuses options of prices without --prices, and the reverse', async () => {
  for (const [words, reason] of [
    [['--prices', 'ledger', '--format', 'csv'], /--prices and --format exclude each other/],
    [['--base', 'US', '--prices', 'ledger'], /--base must be currency codes of three letters/],
    [[], /--base needs --prices/],
  ] as const) {
    const { code, err } = await exportPrices(...words)
    assert.equal(code, 2)
    assert.match(err, reason)
  }
  const { code, err } = await runCommand(['export', '--data-dir', app.dataDir, '--prices', 'ledger'])
  assert.deepEqual([code, /--prices needs --base and --quote/.test(err)], [2, true])
})
