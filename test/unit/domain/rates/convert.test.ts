// Conversions against exact fractions of whole numbers: no digit is taken on trust (decisions#conversion).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Conversion, convert, findRoute, type Leg } from '../../../../src/domain/rates/convert.ts'
import { byPair } from '../../../../src/domain/rates/rate-cache.ts'
import { bccrCatalogue } from '../../../../src/providers/bccr/catalogue.ts'
import type { RateType } from '../../../../src/providers/provider.ts'
import type { SeriesRow } from '../../../../src/store/rates/series.ts'
import { scaled } from '../../../faults/scale.ts'
import { fc } from '../../../support/fast-check.ts'
import {
  formatFraction,
  inverted,
  makeCoveredColumn,
  makeSeries,
  parseFraction,
  rounded,
  times,
} from '../support.ts'

const DAY = '2026-03-24'
const SERIES = bccrCatalogue.map(({ base, quote, rateType }, at) => makeSeries(at + 1, base, quote, rateType))
const PAIRS = byPair(SERIES)
const PARITIES = SERIES.filter(({ rate_type }) => rate_type === 'referencia')
const CURRENCIES = PARITIES.map((one) =>
  one.base_currency === 'USD' ? one.quote_currency : one.base_currency,
)

const rate = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 14n }), fc.nat(12))
  .map(([digits, decimals]) => formatFraction({ over: digits, under: 10n ** BigInt(decimals) }))
const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 30n - 1n }), fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }))
  .map(([whole, decimals]) => `${whole}.${String(decimals).padStart(20, '0')}`)

/** Rule of the contract, in whole numbers only. */
function expected(input: string, legs: readonly Leg[], pairPrice: (series: SeriesRow) => string) {
  const [first, ...others] = legs
  let exact = parseFraction('1')
  for (const { series, inverse } of legs) {
    const value = parseFraction(pairPrice(series))
    exact = times(exact, inverse ? inverted(value) : value)
  }
  const published = first && others.length === 0 && !first.inverse ? pairPrice(first.series) : undefined
  const rateText = first === undefined ? '1' : (published ?? rounded(exact, 15))
  return { rate: rateText, result: formatFraction(times(parseFraction(input), parseFraction(rateText))) }
}

function checkAgainstFractions(from: string, to: string, side: RateType, input: string, values: string[]) {
  const route = findRoute(PAIRS, 'USD', from, to, side)
  assert.ok('legs' in route, `${from} ${to}: no route`)
  const pairPrice = ({ id }: SeriesRow) => values[id % values.length] ?? '1'
  const columns = route.legs.map(({ series }) => makeCoveredColumn({ [DAY]: pairPrice(series) }))
  const outcome = conversion(input, route.legs, columns, DAY)
  const { rate: wantedRate, result } = expected(input, route.legs, pairPrice)
  assert.equal(outcome?.rate, wantedRate, `${from} ${to} ${values}`)
  assert.equal(outcome?.result, result, `${from} ${to} ${input}`)
}

for (const side of ['compra', 'venta'] as const) {
  test(`converts all 45 parities to the colon and back, ${side}, exactly`, () => {
    assert.equal(CURRENCIES.length, 45)
    fc.assert(
      fc.property(
        fc.constantFrom(...CURRENCIES, 'USD'),
        fc.boolean(),
        amount,
        manyRates(),
        (one, back, ...rest) => checkAgainstFractions(back ? 'CRC' : one, back ? one : 'CRC', side, ...rest),
      ),
      { numRuns: 2000 },
    )
  })
}

test('converts every pair of currencies exactly, with any values and amounts', () => {
  const currency = fc.constantFrom(...CURRENCIES, 'USD', 'CRC')
  fc.assert(
    fc.property(
      currency,
      currency,
      fc.constantFrom('compra', 'venta'),
      amount,
      manyRates(),
      checkAgainstFractions,
    ),
    { numRuns: scaled({ short: 1000, long: 4000 }) },
  )
})

test('finds a route between any two of the 47 currencies', () => {
  const all = [...CURRENCIES, 'USD', 'CRC']
  for (const from of all) {
    for (const to of all) {
      const route = findRoute(PAIRS, 'USD', from, to, 'venta')
      assert.ok('legs' in route)
      const direct = from === to || from === 'USD' || to === 'USD'
      assert.deepEqual(route.path, direct ? [from, to] : [from, 'USD', to])
      assert.equal(route.legs.length, from === to ? 0 : direct ? 1 : 2)
      const colon = from !== to && (from === 'CRC' || to === 'CRC')
      assert.equal(route.rateType, colon ? 'venta' : 'referencia')
    }
  }
})

const halves: [numerator: string, denominator: string, rate: string][] = [
  ['1', '3', '0.333333333333333'],
  ['2', '3', '0.666666666666667'],
  // Exactly halfway at the 15th digit: to the even neighbour, up or down.
  ['1.000000000000005', '1', '1'],
  ['1.000000000000015', '1', '1.00000000000002'],
  ['1.000000000000025', '1', '1.00000000000002'],
  ['1.0000000000000050000000000000000000000000000000000001', '1', '1.00000000000001'],
  ['999999999999999.5', '1', '1000000000000000'],
  ['123456789012345678', '1', '123456789012346000'],
  ['1', '9000000', '0.000000111111111111111'],
]
for (const [numerator, denominator, wanted] of halves) {
  test(`rounds ${numerator} / ${denominator} once, half to even, to ${wanted}`, () => {
    const legs = [
      { series: makeSeries(1, 'AAA', 'USD', 'referencia'), inverse: false },
      { series: makeSeries(2, 'BBB', 'USD', 'referencia'), inverse: true },
    ]
    const columns = [makeCoveredColumn({ [DAY]: numerator }), makeCoveredColumn({ [DAY]: denominator })]
    assert.equal(conversion('1', legs, columns, DAY)?.rate, wanted)
    assert.equal(rounded(times(parseFraction(numerator), inverted(parseFraction(denominator))), 15), wanted)
  })
}

test('gives a published value as it is, however many digits it has', () => {
  const legs = [{ series: makeSeries(1, 'USD', 'VES', 'referencia'), inverse: false }]
  const value = '123456789012345678901234567890.12345678901234567891'
  assert.equal(conversion('2', legs, [makeCoveredColumn({ [DAY]: value })], DAY)?.rate, value)
})

test('multiplies without rounding at 30 digits and 20 decimals', () => {
  const legs = [{ series: makeSeries(1, 'USD', 'CRC', 'venta'), inverse: false }]
  const input = `${'9'.repeat(30)}.${'9'.repeat(20)}`
  const outcome = conversion(input, legs, [makeCoveredColumn({ [DAY]: '499.99999999' })], DAY)
  assert.equal(outcome?.result, formatFraction(times(parseFraction(input), parseFraction('499.99999999'))))
  const least = conversion(`.${'0'.repeat(19)}1`, legs, [makeCoveredColumn({ [DAY]: '0.00000001' })], DAY)
  assert.equal(least?.result, `0.${'0'.repeat(27)}1`)
})

test('gives a currency into itself as it is', () => {
  assert.deepEqual(conversion('5.5', [], [], DAY), {
    rateDate: DAY,
    rate: '1',
    result: '5.5',
    roundedTo: undefined,
    legs: [],
  })
})

test('dates a conversion by the older of its two values', () => {
  const route = findRoute(PAIRS, 'USD', 'EUR', 'CRC', 'venta')
  assert.ok('legs' in route)
  const friday = makeCoveredColumn({ '2026-03-20': '1.1' })
  const sunday = makeCoveredColumn({ '2026-03-21': '500', '2026-03-22': '501' })
  const outcome = conversion('1', route.legs, [friday, sunday], '2026-03-22')
  assert.deepEqual([outcome?.rateDate, outcome?.rate], ['2026-03-20', '551.1'])
  const older = conversion(
    '1',
    route.legs,
    [makeCoveredColumn({ '2026-03-22': '1.1' }), friday],
    '2026-03-23',
  )
  assert.equal(older?.rateDate, '2026-03-20')
})

test('has no answer when one of the legs has no value yet', () => {
  const route = findRoute(PAIRS, 'USD', 'EUR', 'CRC', 'venta')
  assert.ok('legs' in route)
  const late = makeCoveredColumn({ '2026-03-25': '1' })
  const early = makeCoveredColumn({ '2026-03-20': '1' })
  assert.equal(conversion('1', route.legs, [early, late], DAY), undefined)
  assert.equal(conversion('1', route.legs, [late, early], DAY), undefined)
})

const none: [title: string, from: string, to: string, side: RateType, words: RegExp][] = [
  ['an unknown source', 'XXX', 'CRC', 'venta', /XXX/],
  ['an unknown target', 'CRC', 'XXX', 'venta', /XXX/],
  ['an unknown currency into itself', 'XXX', 'XXX', 'venta', /XXX/],
  ['referencia of the colon', 'USD', 'CRC', 'referencia', /no published referencia/],
  ['referencia of the colon, backwards', 'CRC', 'USD', 'referencia', /no published referencia/],
  ['referencia through the dollar to the colon', 'JPY', 'CRC', 'referencia', /JPY -> USD -> CRC/],
]
for (const [title, from, to, side, words] of none) {
  test(`has no route for ${title}`, () => {
    const route = findRoute(PAIRS, 'USD', from, to, side)
    assert.ok('missing' in route)
    assert.match(route.missing, words)
  })
}

test('has no route through another currency than the dollar', () => {
  const islands = [makeSeries(1, 'AAA', 'EUR', 'referencia'), makeSeries(2, 'EUR', 'BBB', 'referencia')]
  assert.ok('missing' in findRoute(byPair(islands), 'USD', 'AAA', 'BBB', 'venta'))
  const half = [makeSeries(1, 'AAA', 'USD', 'referencia'), makeSeries(2, 'EUR', 'BBB', 'referencia')]
  assert.ok('missing' in findRoute(byPair(half), 'USD', 'AAA', 'BBB', 'venta'))
})

test('uses referencia on a parity whatever side is requested', () => {
  for (const side of ['compra', 'venta', 'referencia'] as const) {
    const route = findRoute(PAIRS, 'USD', 'EUR', 'JPY', side)
    assert.ok('legs' in route)
    assert.deepEqual(
      [route.rateType, ...route.legs.map(({ series, inverse }) => `${series.base_currency} ${inverse}`)],
      ['referencia', 'EUR false', 'USD false'],
    )
  }
})

/** Days that were all requested have no hole. */
function conversion(
  amount: string,
  legs: readonly Leg[],
  columns: readonly ReturnType<typeof makeCoveredColumn>[],
  day: string,
): Conversion | undefined {
  const storedLegs = legs.map((leg, at) => ({
    ...leg,
    ...(columns[at] ?? makeCoveredColumn({})),
    startsOn: undefined,
  }))
  const outcome = convert(amount, storedLegs, day)
  assert.ok(!outcome || !('hole' in outcome))
  return outcome
}

function manyRates() {
  return fc.array(rate, { minLength: 2, maxLength: 5 })
}
