import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applyFragment,
  encodeFragment,
  FIRST_VIEW,
  parseFragment,
  SCREENS,
  SIDES,
  SPANS,
} from '../../../src/web/model/fragment.ts'
import { fc } from '../../support/fast-check.ts'

test('encodeFragment writes no defaults', () => {
  assert.equal(encodeFragment(FIRST_VIEW), '#rates')
  assert.deepEqual(parseFragment(''), FIRST_VIEW)
})

test('parseFragment inverts encodeFragment', () => {
  const code = fc.constantFrom('USD', 'CRC', 'JPY', 'EUR', 'XDR')
  const day = fc.constantFrom('', '2019-03-12', '2024-02-29')
  const rates = fc.record({
    day,
    on: day,
    pair: fc.constantFrom('USD/CRC', 'EUR/USD'),
    span: fc.constantFrom(...SPANS),
    compare: fc.constantFrom('', 'USD', '2025'),
    table: fc.boolean(),
    amount: fc.constantFrom('1000', '-150', '0.125', '1234567890123456789.012345'),
    source: code,
    target: code,
    side: fc.constantFrom(...SIDES),
    indicator: fc.constantFrom('', '423', '3149'),
    indicatorSpan: fc.constantFrom(...SPANS),
  })
  fc.assert(
    fc.property(rates, (parts) => {
      const view = { ...FIRST_VIEW, ...parts }
      assert.deepEqual(parseFragment(encodeFragment(view)), view)
    }),
  )
  const closes = { ...FIRST_VIEW, ratesView: 'closes' as const, months: 'EUR/CRC', year: '1983' }
  assert.equal(encodeFragment(closes), '#rates/closes?months=EUR/CRC&year=1983')
  assert.deepEqual(parseFragment('#rates/closes?months=EUR/CRC&year=1983'), closes)
  assert.equal(encodeFragment({ ...FIRST_VIEW, ratesView: 'closes' }), '#rates/closes')
  const range = { ...FIRST_VIEW, from: '2025-10-01', to: '2026-09-30' }
  assert.deepEqual(parseFragment(encodeFragment(range)), range)
  const documents = { ...FIRST_VIEW, screen: 'documents' as const, company: 7, agent: 12 }
  assert.equal(encodeFragment(documents), '#documents?company=7&agent=12')
  assert.deepEqual(parseFragment('#documents?company=7&agent=12'), documents)
  const filters = {
    state: 'failed',
    search: 'peaje & más',
    since: '2026-11-22',
    until: '2026-11-30',
  } as const
  const open = { ...documents, ...filters, document: 41 }
  const link =
    '#documents?company=7&agent=12&state=failed&search=peaje+%26+m%C3%A1s&since=2026-11-22&until=2026-11-30&document=41'
  assert.equal(encodeFragment(open), link)
  assert.deepEqual(parseFragment(link), open)
  assert.equal(encodeFragment({ ...FIRST_VIEW, screen: 'documents', send: true }), '#documents?send=true')
  const invoices = { ...documents, issuer: '3101123456', clave: '5'.repeat(50) }
  assert.deepEqual(parseFragment(encodeFragment(invoices)), invoices)
  const others = parseFragment(`#documents?issuer=3-101&clave=${'5'.repeat(49)}`)
  assert.deepEqual(others, { ...FIRST_VIEW, screen: 'documents' })
  const wrong = parseFragment(`#documents?state=new&since=2026-13-01&document=-4&search=${'x'.repeat(200)}`)
  assert.deepEqual(wrong, { ...FIRST_VIEW, screen: 'documents', search: 'x'.repeat(100) })
})

test('parseFragment reads older links', () => {
  const both = { ...FIRST_VIEW, day: '2019-03-12', on: '2019-03-12' }
  assert.deepEqual(parseFragment('#rates?on=2019-03-12'), both)
  const closes = { ...FIRST_VIEW, ratesView: 'closes' as const, months: 'EUR/CRC' }
  assert.deepEqual(parseFragment('#rates?months=EUR/CRC'), closes)
  assert.equal(parseFragment('#rates?year=2025').ratesView, 'closes')
})

test('a link has the day of the dollar beside that of the converter', () => {
  const view = { ...FIRST_VIEW, on: '2019-03-12' }
  assert.equal(encodeFragment(view), '#rates?on=2019-03-12&day=')
  assert.deepEqual(parseFragment(encodeFragment(view)), view)
  assert.equal(encodeFragment({ ...FIRST_VIEW, day: '2019-03-12' }), '#rates?day=2019-03-12')
})

test('parseFragment ignores invalid parameters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { screen } = parseFragment(`#${text}`)
      assert.ok(SCREENS.includes(screen))
    }),
  )
  const wrong =
    '#rates/x?on=2026-02-30&pair=<b>&span=2y&months=EUR&year=26&from=2026-05-01&to=2026-01-01&amount=1e9&source=usd&company=-1'
  assert.deepEqual(parseFragment(wrong), FIRST_VIEW)
})

test('applyFragment changes the parameters of one screen only', () => {
  const rates = { ...FIRST_VIEW, day: '2019-03-12', pair: 'EUR/USD', months: 'EUR/CRC' }
  const documents = applyFragment(rates, '#documents?agent=3')
  assert.deepEqual(documents, { ...rates, screen: 'documents', agent: 3 })
  assert.deepEqual(applyFragment(documents, encodeFragment({ ...documents, screen: 'rates' })), {
    ...documents,
    screen: 'rates',
  })
  assert.deepEqual(applyFragment(rates, '#rates'), { ...FIRST_VIEW, months: 'EUR/CRC' })
  assert.deepEqual(applyFragment(rates, '#rates/closes').day, '2019-03-12')
})
