// hledger, ledger and beancount of Debian read price directives, and value a posting at the rates of /convert.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type PriceFormat, priceLine } from '../../src/domain/rates/prices.ts'
import { addDays } from '../../src/values/dates.ts'
import { loseDays } from '../api/support.ts'
import { temporaryDirectory } from '../support/app.ts'
import { until } from '../support/terminal.ts'
import { KEY, openForClients, run, TODAY } from './support.ts'

const FIRST = '2025-03-25'
const AMOUNT = 1_000_000
const DAYS = Array.from({ length: 20 }, (_, at) => addDays(FIRST, 1 + at * 19))

/** Without it ledger shows colones as whole numbers. */
const DIGITS = 'commodity CRC\n  format 1000.00000000 CRC\n\n'

const app = await openForClients({ backfillFrom: FIRST })

/** A year of prices, as curl writes them. */
async function fetchPrices(file: string, base: string, format: PriceFormat, from = FIRST): Promise<void> {
  const path = `/k/${KEY}/api/v1/history.${format}?base=${base}&quote=CRC&from=${from}&to=${TODAY}`
  await run('curl', ['-sSf', '-o', file, app.app.url + path])
}

async function dayRate(base: string, on: string): Promise<number> {
  const query = new URLSearchParams({ amount: '1', from: base, to: 'CRC', on })
  return Number((await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate)
}

function near(read: string, expected: number, what: string): void {
  const [number = ''] = /[\d.]+/.exec(read) ?? []
  assert.ok(Math.abs(Number(number) / expected - 1) < 1e-8, `${what}: ${read} is not ${expected}`)
}

for (const base of ['USD', 'JPY']) {
  test(`hledger and ledger value ${base} on ${DAYS.length} days as /convert does`, async (t) => {
    const dir = temporaryDirectory(t)
    const [prices, journal] = [join(dir, 'prices.ledger'), join(dir, 'main.ledger')]
    await fetchPrices(prices, base, 'ledger')
    const entry = `${FIRST} * opening\n  Assets:Caja  ${AMOUNT} ${base}\n  Equity:Inicio\n`
    writeFileSync(journal, `${DIGITS}include prices.ledger\n\n${entry}`)
    for (const day of DAYS) {
      const worth = AMOUNT * (await dayRate(base, day))
      const hledger = ['-f', journal, 'bal', 'Assets', `--value=${day},CRC`, '-N', '-O', 'csv']
      near((await run('hledger', hledger)).split('\n')[1] ?? '', worth, `hledger ${day}`)
      const ledger = ['-f', journal, 'bal', 'Assets', '-X', 'CRC', '--now', day, '--flat', '--no-total']
      near(await run('ledger', ledger), worth, `ledger ${day}`)
    }
  })

  test(`beancount values ${base} on ${DAYS.length} days as /convert does`, async (t) => {
    const dir = temporaryDirectory(t)
    const [prices, journal] = [join(dir, 'prices.beancount'), join(dir, 'main.beancount')]
    await fetchPrices(prices, base, 'beancount')
    const opening = ['Assets:Caja', 'Equity:Inicio'].map((name) => `${FIRST} open ${name}\n`).join('')
    const entry = `${FIRST} * "opening"\n  Assets:Caja  ${AMOUNT} ${base}\n  Equity:Inicio\n`
    writeFileSync(journal, `include "prices.beancount"\n${opening}${entry}`)
    assert.equal(await run('bean-check', [journal]), '')
    const values = DAYS.map(
      (day, at) => `convert(sum(position), 'CRC', ${day}) as v${String.fromCharCode(97 + at)}`,
    ).join(', ')
    const query = `select ${values} where account ~ 'Assets'`
    const [, line = ''] = (await run('bean-query', ['-f', 'csv', journal, query])).split('\n')
    const cells = line.split(',')
    for (const [at, day] of DAYS.entries())
      near(cells[at] ?? '', AMOUNT * (await dayRate(base, day)), `beancount ${day}`)
  })
}

test('hledger, ledger and beancount parse 15,800 prices', async (t) => {
  const dir = temporaryDirectory(t)
  const lines = (format: PriceFormat) =>
    Array.from({ length: 15_800 }, (_, at) => {
      const date = addDays('1983-01-03', at)
      const point = { date, rate_date: date, value: `${400 + (at % 200)}.${at % 9}1` }
      const rounded = at % 7 === 0 ? { rounded_to: 2 } : {}
      return priceLine(format, { base: 'USD', quote: 'CRC' }, { ...point, ...rounded })
    })
  const [ledger, beancount] = [join(dir, 'all.ledger'), join(dir, 'all.beancount')]
  writeFileSync(ledger, `; USD/CRC venta\n${lines('ledger').join('\n')}\n`)
  writeFileSync(beancount, `; USD/CRC venta\n${lines('beancount').join('\n')}\n`)
  assert.equal((await run('hledger', ['-f', ledger, 'prices'])).trimEnd().split('\n').length, 15_800)
  const journal = join(dir, 'main.ledger')
  writeFileSync(
    journal,
    `${DIGITS}include all.ledger\n\n1983-01-01 * x\n  Assets:Caja  1 USD\n  Equity:Inicio\n`,
  )
  const last = Number(lines('ledger').at(-1)?.split(' ')[3])
  near(await run('ledger', ['-f', journal, 'bal', 'Assets', '-X', 'CRC', '--no-total']), last, 'ledger')
  assert.equal(await run('bean-check', [beancount]), '')
})

test('over days that were not synchronized curl writes no file', async (t) => {
  await loseDays(app, { from: '2025-08-01', to: '2025-08-05' })
  const file = join(temporaryDirectory(t), 'prices.ledger')
  const isLost = () =>
    fetchPrices(file, 'USD', 'ledger').then(
      () => false,
      () => true,
    )
  await until(isLost)
  for (const format of ['ledger', 'beancount'] as const) {
    await assert.rejects(fetchPrices(`${file}2`, 'USD', format), /503/)
    assert.equal(existsSync(`${file}2`), false)
  }
  await fetchPrices(file, 'USD', 'ledger', '2025-08-06')
})
