// Exchange differences and converted rows against an independent reckoning with fractions.

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { roundPlaces, sumCents } from '../../../../src/web/model/decimal.ts'
import { escapeFormula, unescapeFormula } from '../../../../src/web/model/files/csv.ts'
import { createFormats } from '../../../../src/web/model/formats.ts'
import { computeOutcomes, sumOutcomes } from '../../../../src/web/model/pasted/outcomes.ts'
import { oldLegAge, rateText, routeParts, routeText } from '../../../../src/web/model/pasted/route.ts'
import type { PastedRow } from '../../../../src/web/model/pasted/rows.ts'
import {
  computeDifference,
  computeTotals,
  positionSide,
  signedBalance,
} from '../../../../src/web/model/rates/differential.ts'
import type { ConversionLeg } from '../../../../src/web/model/rates/support.ts'
import { parsePositions } from '../../../../src/web/rates/differential/position-store.ts'

const SIDES = { compra: 'Compra', venta: 'Venta', referencia: 'Referencia' }
const FORMATS = createFormats('es')

/** Pseudo-random numbers that are equal in each run. */
function createRandom(seed: number) {
  let state = BigInt(seed)
  return (limit: number) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n
    return Number((state >> 33n) % BigInt(limit))
  }
}

/** Whole units of 10^-places as text, with every digit. */
function writeUnits(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0')
  const text = `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`
  return (units < 0n ? '-' : '') + text.replace(/\.$/, '')
}

/** Cents of a fraction over 10^places: half away from zero. */
function roundedCents(units: bigint, places: number): bigint {
  const divisor = 10n ** BigInt(places - 2)
  const size = units < 0n ? -units : units
  const cents = size / divisor + ((size % divisor) * 2n >= divisor ? 1n : 0n)
  return units < 0n ? -cents : cents
}

const cents = (text: string) => {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  return BigInt(`${text.startsWith('-') ? '-' : ''}${whole}${fraction.padEnd(2, '0')}`)
}

suite('computeDifference', () => {
  test('ties 2,000 random positions with the ledger to the cent', () => {
    const random = createRandom(7)
    let [net, income, expense] = [0n, 0n, 0n]
    const differences: string[] = []
    for (let index = 0; index < 2000; index += 1) {
      const type = random(2) === 0 ? 'asset' : 'liability'
      const balance = BigInt(random(2) === 0 ? 1 : -1) * BigInt(random(2_000_000_000) + 1)
      const [registration, closing] = [BigInt(random(90_000_000) + 1), BigInt(random(90_000_000) + 1)]
      const size = balance < 0n ? -balance : balance
      const result = computeDifference(
        { type, balance: writeUnits(balance, 2) },
        { registration: writeUnits(size * registration, 7), closing: writeUnits(size * closing, 7) },
      )
      const signed = type === 'asset' ? balance : -balance
      const [books, atClosing] = [roundedCents(signed * registration, 7), roundedCents(signed * closing, 7)]
      const expectation = [books, atClosing, atClosing - books]
      assert.deepEqual([result.books, result.closing, result.difference].map(cents), expectation)
      differences.push(result.difference)
      net += atClosing - books
      if (atClosing > books) income += atClosing - books
      else expense += atClosing - books
    }
    const totals = computeTotals(differences)
    assert.deepEqual([totals.income, totals.expense, totals.net].map(cents), [income, expense, net])
    assert.equal(net, income + expense)
  })
  test('rounds half away from zero, once', () => {
    const compute = (balance: string, type: 'asset' | 'liability', registration: string, closing: string) =>
      computeDifference({ balance, type }, { registration, closing })
    assert.deepEqual(compute('1', 'asset', '0.005', '0.015'), {
      books: '0.01',
      closing: '0.02',
      difference: '0.01',
    })
    assert.deepEqual(compute('1', 'liability', '0.005', '0.0149999'), {
      books: '-0.01',
      closing: '-0.01',
      difference: '0',
    })
    assert.equal(compute('-1200', 'asset', '580848', '580800').difference, '48')
  })
  test('a liability has the balance times -1, and each type its side', () => {
    assert.equal(signedBalance({ type: 'liability', balance: '-15.5' }), '15.5')
    assert.equal(signedBalance({ type: 'liability', balance: '15.5' }), '-15.5')
    assert.deepEqual(
      [positionSide('asset', 'usual'), positionSide('liability', 'usual'), positionSide('asset', 'venta')],
      ['compra', 'venta', 'venta'],
    )
    assert.equal(positionSide('liability', 'compra'), 'compra')
  })
})

suite('computeOutcomes', () => {
  const row = (number: number, amount: string): PastedRow => ({
    ...{ number, amount, day: '2026-11-03', currency: 'USD' },
    ...{ dateText: '', amountText: '', details: [] },
  })
  test('2,000 rounded rows have the sum of their cents', () => {
    const random = createRandom(11)
    let sum = 0n
    const answers = new Map<string, { rate: string; result: string; legs: [] }>()
    const rows = Array.from({ length: 2000 }, (_, index) => {
      const amount = BigInt(random(2) === 0 ? 1 : -1) * BigInt(random(100_000_000) + 1)
      const rate = BigInt(random(900_000_000) + 1)
      const size = amount < 0n ? -amount : amount
      answers.set(String(index + 1), {
        rate: writeUnits(rate, 6),
        result: writeUnits(size * rate, 8),
        legs: [],
      })
      sum += roundedCents(amount * rate, 8)
      return row(index + 1, writeUnits(amount, 2))
    })
    const work = computeOutcomes(rows, answers)
    let step = work.next()
    while (!step.done) step = work.next()
    assert.deepEqual(sumOutcomes(step.value), { count: 2000, sum: roundPlaces(writeUnits(sum, 2), 2) })
  })
  test('an answer without a rate is no zero', () => {
    const work = computeOutcomes(
      [row(1, '15'), row(2, '16'), { ...row(3, '17'), error: { kind: 'no-date' } }],
      new Map([
        ['1', { status: 404, reason: 'not_synchronized' }],
        ['2', { status: 404 }],
      ]),
    )
    const { value = [] } = work.next()
    assert.deepEqual(
      value.map(({ failure, conversion }) => [failure, conversion]),
      [
        ['not-synchronized', undefined],
        ['no-rate', undefined],
        [undefined, undefined],
      ],
    )
    assert.deepEqual(sumOutcomes(value), { count: 0, sum: '0' })
  })
})

test('sumCents adds more digits than a float has', () => {
  assert.equal(sumCents(['9007199254740993.01', '0.02', '-0.01']), '9007199254740993.02')
})

suite('routes', () => {
  const leg = (
    pair: string,
    value: string,
    day: string,
    more: Partial<ConversionLeg> = {},
  ): ConversionLeg => ({
    ...{ pair, value, rate_date: day, rate_type: 'referencia', inverse: false },
    ...more,
  })
  const euro = [
    leg('EUR/USD', '1.17632', '2026-11-06'),
    leg('USD/CRC', '488.91', '2026-11-07', { rate_type: 'venta' }),
  ]
  const yen = [
    leg('USD/JPY', '118.954', '2025-12-30', { inverse: true }),
    leg('USD/CRC', '489.96', '2026-01-02', { rate_type: 'venta' }),
  ]
  const write = (legs: readonly ConversionLeg[], day: string) =>
    routeText(routeParts(legs, day, FORMATS, SIDES))
  test('routeText writes each value with its day, and the year where it differs', () => {
    assert.equal(write(euro, '2026-11-07'), 'EUR/USD 1,17632 (06/11) × USD/CRC venta 488,91 (07/11)')
    assert.equal(write(yen, '2026-01-02'), '÷ USD/JPY 118,954 (30/12/2025) × USD/CRC venta 489,96 (02/01)')
    assert.equal(write([], '2026-01-02'), '')
  })
  test('oldLegAge returns the age of legs of more than 5 days', () => {
    assert.equal(oldLegAge(euro, '2026-11-11'), undefined)
    assert.equal(oldLegAge(euro, '2026-11-12'), 6)
    assert.equal(oldLegAge(yen, '2026-01-08'), 9)
  })
  test('rateText writes published values as they are, and rounds crosses', () => {
    const published = leg('USD/CRC', '489.4655', '2026-11-06', { rate_type: 'venta' })
    assert.equal(rateText('489.4655', [published], FORMATS), '489,4655')
    assert.equal(rateText('575.1146', euro, FORMATS), '575,11')
    assert.equal(rateText('4.118903', yen, FORMATS), '4,1189')
  })
})

test('unescapeFormula restores the text of a copied cell', () => {
  for (const text of ['=1', ' =1', '\t=1', ';=1', 'a, -1;+1\t@b', "it's -1; no =", 'plain']) {
    const copy = escapeFormula(text)
    assert.doesNotMatch(copy, /(?:^|[,;\t])\s*[=+\-@]/)
    assert.equal(unescapeFormula(copy), text)
  }
})

test('parsePositions ignores what is no position', () => {
  const good = { id: 9, detail: 'Banco', type: 'asset', balance: '-15.5', currency: 'USD', day: '2026-09-30' }
  const bad = [
    null,
    'x',
    { ...good, type: 'debt' },
    { ...good, balance: '1e5' },
    { ...good, balance: '1,5' },
    { ...good, currency: 'usd' },
    { ...good, day: '2026-02-30' },
    { ...good, detail: 5 },
  ]
  assert.deepEqual(parsePositions(JSON.stringify([...bad, good])), [{ ...good, id: 1 }])
  for (const json of ['', 'x', '{}', 'null', '5']) assert.deepEqual(parsePositions(json), [])
})
