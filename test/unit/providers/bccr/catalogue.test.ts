import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccrCatalogue } from '../../../../src/providers/bccr/catalogue.ts'

const parities = bccrCatalogue.slice(2)

test('bccrCatalogue begins with the two sides of the dollar', () => {
  assert.deepEqual(
    bccrCatalogue
      .slice(0, 2)
      .map(({ externalCode, base, quote, rateType, table }) => [
        externalCode,
        `${base}/${quote}`,
        rateType,
        table,
      ]),
    [
      ['317', 'USD/CRC', 'compra', '1'],
      ['318', 'USD/CRC', 'venta', '1'],
    ],
  )
})

test('bccrCatalogue has 45 parities in the order of their currencies', () => {
  const currencies = parities.map(({ base, quote }) => (base === 'USD' ? quote : base))
  assert.equal(currencies.length, 45)
  assert.deepEqual(currencies, [...new Set(currencies)].sort())
})

test('bccrCatalogue quotes four currencies in dollars and the others per dollar', () => {
  const inDollars = parities.filter(({ quote }) => quote === 'USD').map(({ base }) => base)
  assert.deepEqual(inDollars, ['AUD', 'EUR', 'GBP', 'XDR'])
  assert.ok(parities.every(({ base, quote }) => (base === 'USD') !== (quote === 'USD')))
})

test('bccrCatalogue has unique codes, and none of XDR', () => {
  const codes = bccrCatalogue.map(({ externalCode }) => externalCode)
  assert.equal(new Set(codes).size, 47)
  const withoutCode = bccrCatalogue.filter(({ externalCode }) => externalCode === undefined)
  assert.deepEqual(
    withoutCode.map(({ name }) => name),
    ['Derechos Especiales de Giro'],
  )
})

test('bccrCatalogue describes each parity completely', () => {
  for (const series of parities) {
    assert.equal(series.rateType, 'referencia')
    assert.equal(series.table, '520')
    assert.notEqual(series.name, '')
    const currency = series.base === 'USD' ? series.quote : series.base
    if (currency === 'VES') assert.equal(series.plausibleRange, undefined)
    else assert.ok(Number(series.plausibleRange?.low) < Number(series.plausibleRange?.high), currency)
  }
})
