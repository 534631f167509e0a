import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE } from '../../../../src/web/i18n/page.ts'
import { inLanguage } from '../../../../src/web/i18n/table-texts.ts'
import { createFormats } from '../../../../src/web/model/formats.ts'
import { type ConversionLeg, supportLine } from '../../../../src/web/model/rates/support.ts'

const AT = Date.parse('2026-11-23T05:52:10Z')
const EURO: ConversionLeg = {
  pair: 'EUR/USD',
  rate_type: 'referencia',
  rate_date: '2026-11-20',
  value: '1.20534',
  inverse: false,
}
const DOLLAR: ConversionLeg = {
  pair: 'USD/CRC',
  rate_type: 'venta',
  rate_date: '2026-11-22',
  value: '492.95',
  inverse: false,
}
const YEN: ConversionLeg = { ...EURO, pair: 'USD/JPY', value: '119.256', inverse: true }
const conversion = {
  amount: '1500',
  source: 'EUR',
  result: '891258.5295',
  target: 'CRC',
  legs: [EURO, DOLLAR],
  at: AT,
}

function line(language: 'es' | 'en', change: Partial<typeof conversion> = {}): string {
  const { sides, convert } = inLanguage(PAGE, language)
  const texts = { sides, rateSource: convert.rateSource, dataAsOf: convert.dataAsOf }
  return supportLine({ ...conversion, ...change }, createFormats(language), texts)
}

test('supportLine writes amount, result, legs with their days, source and time', () => {
  assert.equal(
    line('es'),
    '1 500,00 EUR = 891 258,53 CRC · EUR/USD 1,20534 (20/11/2026) × USD/CRC venta 492,95 (22/11/2026) · ' +
      'BCCR, tipo de cambio de referencia · datos al 22/11/2026 23:52 (hora de Costa Rica)',
  )
  assert.equal(
    line('en'),
    '1,500.00 EUR = 891,258.53 CRC · EUR/USD 1.20534 (20/11/2026) × USD/CRC sell 492.95 (22/11/2026) · ' +
      'BCCR, reference exchange rate · data of 22/11/2026 23:52 (Costa Rica time)',
  )
})

test('supportLine divides by an inverse leg, and encloses negative figures in parentheses', () => {
  assert.match(
    line('es', { source: 'JPY', legs: [YEN, DOLLAR] }),
    / CRC · ÷ USD\/JPY 119,256 \(20\/11\/2026\) × /,
  )
  assert.match(
    line('es', { amount: '-1500', result: '-891258.5295' }),
    /^\(1 500,00\) EUR = \(891 258,53\) CRC · EUR/,
  )
  assert.match(line('en', { source: 'CRC', legs: [] }), /^1,500\.00 CRC = 891,258\.53 CRC · BCCR, /)
})
