// Lists of documents by facts of their invoices: clave, issuer, kind and days, beside the other filters.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { KINDS } from '../../../src/formats/invoices/kinds.ts'
import { INVOICE_KINDS } from '../../../src/http/listings/invoice-params.ts'
import { updateAgentActive } from '../../../src/store/directory/agents.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { createClave, sampleInvoice, sampleMessage } from '../../support/documents/invoice-xml.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Page = { documents: { id: number; name: string }[]; next_after: number; has_more: boolean }

const LIST = '/api/v1/documents'
const BILL = createClave('FacturaElectronica', 1)
const CREDIT = createClave('NotaCreditoElectronica', 2, '109870654')
const OTHERS = { company_id: 2, agent_id: 3, owner_id: 2 }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, { now: '2026-03-24T12:00:00.000Z' })
  await fillDirectory(app)
  const db = openTestDatabase(app.dataDir)
  await updateAgentActive(db, 2, true)
  await db.destroy()
  const later = { clave: BILL.replace('240326', '250326'), issuedAt: '2026-03-25T10:00:00-06:00' }
  await upload({
    'factura.xml': sampleInvoice({ clave: BILL }),
    'nota.txt': 'nada',
    'nota.xml': sampleInvoice({ kind: 'NotaCreditoElectronica', clave: CREDIT, issuerId: '109870654' }),
    [`${BILL}.pdf`]: '%PDF-1.7',
    'respuesta.xml': sampleMessage({ clave: BILL }),
    'mala.xml': sampleInvoice({ clave: BILL }).replace('509.25000', '509,25'),
    'otro día.xml': sampleInvoice(later),
  })
  await upload({ 'para el 2.xml': sampleInvoice({ clave: BILL }) }, { agent_id: 2 })
  await upload({ 'ajena.xml': sampleInvoice({ clave: BILL }) }, OTHERS)
})

/** Uploads contents by name for the first agent, or with other fields. */
async function upload(contents: Record<string, string>, fields: object = {}): Promise<void> {
  const documents = Object.entries(contents).map(([name, content]) => ({
    name,
    mimetype: 'application/xml',
    base64: Buffer.from(content).toString('base64'),
  }))
  const response = await post(app, CREATE, { ...batch(...documents), ...fields })
  assert.equal(response.status, 200, await response.text())
}

async function list(query: string, secret: string = TOKENS.read): Promise<Page> {
  const response = await read(app, `${LIST}?${query}`, { authorization: `Bearer ${secret}` })
  assert.equal(response.status, 200, query)
  return (await response.json()) as Page
}

const names = async (query: string, secret?: string) =>
  (await list(query, secret)).documents.map(({ name }) => name)

const OF_BILL = ['factura.xml', `${BILL}.pdf`, 'respuesta.xml', 'para el 2.xml', 'ajena.xml']

test('`clave` finds the XML, its PDF and its answers, in the order of ids', async () => {
  assert.deepEqual(await names(`clave=${BILL}`), OF_BILL)
  assert.deepEqual(await names(`clave=${BILL}&order=desc`), OF_BILL.toReversed())
  assert.deepEqual(await names(`clave=${BILL}&company_id=1`), OF_BILL.slice(0, 4))
  assert.deepEqual(await names(`clave=${BILL}&agent_id=2`), ['para el 2.xml'])
  assert.deepEqual(await names(`clave=${createClave('FacturaElectronica', 99)}`), [])
})

test('`clave` finds no document that the token may not see', async () => {
  assert.deepEqual(await names(`clave=${BILL}`, TOKENS.ofCompany), ['ajena.xml'])
  assert.deepEqual(await names(`clave=${CREDIT}`, TOKENS.ofCompany), [])
  const ofAgent = await names(`clave=${BILL}`, TOKENS.ofAgent)
  assert.equal(ofAgent.length < 4 && !ofAgent.includes('ajena.xml'), true)
})

test('`clave` continues page by page at `next_after`', async () => {
  const allNames: string[] = []
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await list(`clave=${BILL}&limit=2&after=${after}`)
    allNames.push(...page.documents.map(({ name }) => name))
    after = page.next_after
    hasMore = page.has_more
  }
  assert.deepEqual(allNames, OF_BILL)
})

test('`issuer` finds the invoices of an id, with or without leading zeros', async () => {
  for (const id of ['109870654', '000109870654']) assert.deepEqual(await names(`issuer=${id}`), ['nota.xml'])
  assert.deepEqual(await names('issuer=3101123456&company_id=1&agent_id=1'), [
    'factura.xml',
    'respuesta.xml',
    'otro día.xml',
  ])
  assert.deepEqual(await names('issuer=999'), [])
})

test('`kind` finds invoices of a kind, also those with a fault', async () => {
  assert.deepEqual(await names('kind=NotaCreditoElectronica'), ['nota.xml'])
  assert.deepEqual(await names('kind=MensajeHacienda'), ['respuesta.xml'])
  assert.deepEqual(await names('kind=FacturaElectronica&company_id=1'), [
    'factura.xml',
    'mala.xml',
    'otro día.xml',
    'para el 2.xml',
  ])
  assert.deepEqual(await names('kind=ReciboElectronicoPago'), [])
})

test('`issued_from` and `issued_to` are days of the invoice', async () => {
  assert.deepEqual(await names('issued_from=2026-03-25'), ['otro día.xml'])
  assert.deepEqual(await names('issued_to=2026-03-24&kind=NotaCreditoElectronica'), ['nota.xml'])
  assert.deepEqual(await names('issued_from=2026-03-24&issued_to=2026-03-24&company_id=2'), ['ajena.xml'])
  assert.deepEqual(await names('issued_to=2026-03-23'), [])
  assert.deepEqual(await names('issued_from=2026-03-25&issued_to=2026-03-25&from=2026-03-25'), [])
})

test('filters of invoices go with those of names, states and arrival', async () => {
  assert.deepEqual(await names(`clave=${BILL}&q=factura`), ['factura.xml'])
  assert.deepEqual(await names(`clave=${BILL}&kind=MensajeHacienda&issuer=3101123456`), ['respuesta.xml'])
  assert.deepEqual(await names(`clave=${BILL}&state=done`), [])
  assert.deepEqual(await names(`clave=${BILL}&state=new,failed&company_id=2`), ['ajena.xml'])
  assert.deepEqual(await names('kind=FacturaElectronica&state=new&company_id=2'), ['ajena.xml'])
  assert.deepEqual(await names(`issuer=3101123456&from=2026-03-25`), [])
  assert.deepEqual(await names('q=día&kind=FacturaElectronica&to=2026-03-24'), ['otro día.xml'])
})

test('`wait` with `clave` answers as soon as a document of it arrives', async () => {
  const clave = createClave('FacturaElectronica', 70)
  const answer = list(`clave=${clave}&wait=20`)
  await upload({ 'otra.xml': sampleInvoice({ clave: createClave('FacturaElectronica', 71) }) })
  await upload({ 'esperada.xml': sampleInvoice({ clave }) })
  const { documents, next_after } = await answer
  assert.deepEqual(
    documents.map(({ name, id }) => [name, id]),
    [['esperada.xml', next_after]],
  )
  const none = await list(`clave=${createClave('FacturaElectronica', 72)}&wait=1&after=3`)
  assert.deepEqual([none.documents, none.next_after, none.has_more], [[], 3, false])
})

for (const [query, message] of [
  ['clave=506', /^clave must be 50 digits$/],
  [`clave=${'x'.repeat(50)}`, /^clave must be 50 digits$/],
  ['issuer=', /^issuer must be the id of an issuer, 1 to 20 characters$/],
  [`issuer=${'1'.repeat(21)}`, /^issuer must be the id/],
  ['issuer=%00', /^issuer must be the id/],
  ['kind=factura', /^kind must be one of FacturaElectronica, NotaDebitoElectronica, .*MensajeReceptor$/],
  ['issued_from=24/03/2026', /^issued_from must be a calendar day written YYYY-MM-DD/],
  ['issued_from=2026-03-24&issued_to=2026-03-23', /^issued_from must not be after issued_to$/],
  ['factura=1', /did you mean clave\?$/],
  ['key=1', /did you mean clave\?$/],
  ['numero=1', /did you mean clave\?$/],
  ['emisor=1', /did you mean issuer\?$/],
  ['cedula=1', /did you mean issuer\?$/],
  ['tipo=1', /did you mean kind\?$/],
] as const) {
  test(`a list with ${query.slice(0, 50)} is a 422`, async () => {
    const response = await read(app, `${LIST}?${query}`)
    assert.equal(response.status, 422)
    assert.match(((await response.json()) as { message: string }).message, message)
  })
}

test('`INVOICE_KINDS` are the kinds that the reader knows', () => {
  assert.deepEqual(INVOICE_KINDS, Object.keys(KINDS))
})
