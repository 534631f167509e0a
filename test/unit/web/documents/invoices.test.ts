import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claveGroups,
  type DocumentInvoice,
  isReadInvoice,
  readInvoiceSearch,
} from '../../../../src/web/model/documents/invoices.ts'
import { fc } from '../../../support/fast-check.ts'

const CLAVE = '50624032600310112345600100001010000000043112345678'

test('readInvoiceSearch reads an id or a clave, with spaces and hyphens', () => {
  const texts = {
    '3-101-123456': { issuer: '3101123456', clave: '' },
    ' 1 0234 0567 ': { issuer: '102340567', clave: '' },
    '3.101.123456': { issuer: '3101123456', clave: '' },
    '': { issuer: '', clave: '' },
    [CLAVE]: { issuer: '', clave: CLAVE },
    [CLAVE.replace(/(?=(.{5})+$)/g, '\u00a0')]: { issuer: '', clave: CLAVE },
    [`${CLAVE.slice(0, 25)}\n${CLAVE.slice(25)}\t`]: { issuer: '', clave: CLAVE },
    [CLAVE.slice(1)]: { error: 'digits', digits: 49 },
    [`${CLAVE}0`]: { error: 'digits', digits: 51 },
    ['1'.repeat(21)]: { error: 'digits', digits: 21 },
    'El Roble': { error: 'text' },
    '٣١٠١': { error: 'text' },
  }
  for (const [text, search] of Object.entries(texts))
    assert.deepEqual(readInvoiceSearch(text), search, JSON.stringify(text))
})

test('readInvoiceSearch returns digits that the API accepts, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const search = readInvoiceSearch(text)
      if (!search.error) assert.match(`${search.issuer} ${search.clave}`, /^\d{0,20} (\d{50})?$/)
    }),
  )
})

test('claveGroups divides a clave into its parts, and leaves another text whole', () => {
  assert.deepEqual(claveGroups(CLAVE), [
    ...['506', '240326', '003101123456', '00100001010000000043', '1', '12345678'],
  ])
  assert.equal(claveGroups(CLAVE).join(''), CLAVE)
  assert.deepEqual(claveGroups('506'), ['506'])
})

test('isReadInvoice rejects a fault, a companion and nothing', () => {
  const others: (DocumentInvoice | undefined)[] = [
    { kind: 'FacturaElectronica', fault: 'Clave stands twice' },
    { clave: CLAVE, from: 'name' },
    undefined,
  ]
  for (const invoice of others) assert.equal(isReadInvoice(invoice), false)
})
