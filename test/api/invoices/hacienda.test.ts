// Answers of Hacienda to invoices: which of them count, beside others, and in which order. No signature is verified.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { updateAgentActive } from '../../../src/store/directory/agents.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { createClave, sampleInvoice, sampleMessage } from '../../support/documents/invoice-xml.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { callForValue, connect } from '../mcp/support.ts'

type Invoice = Record<string, unknown> & { hacienda?: unknown; warnings?: string[] }
type Shown = { id: number; invoice?: Invoice }

const MANY = 1_000

let app: TestApp
let sequence = 500
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  const db = openTestDatabase(app.dataDir)
  await updateAgentActive(db, 2, true)
  await db.destroy()
})

function newClave(): string {
  sequence += 1
  return createClave('FacturaElectronica', sequence)
}

/** Uploads contents, and returns their ids. */
async function upload(contents: string[], fields: object = {}): Promise<number[]> {
  const documents = contents.map((content, at) => ({
    name: `${at}.xml`,
    mimetype: 'application/xml',
    base64: Buffer.from(content).toString('base64'),
  }))
  const response = await post(app, CREATE, { ...batch(...documents), ...fields })
  const body = (await response.json()) as { created_documents: Shown[] }
  assert.equal(response.status, 200, JSON.stringify(body))
  return body.created_documents.map(({ id }) => id)
}

async function readInvoice(id: number | undefined, secret: string = TOKENS.read): Promise<Invoice> {
  const response = await read(app, `/api/v1/documents/${id}`, { authorization: `Bearer ${secret}` })
  return ((await response.json()) as Shown).invoice ?? {}
}

test('an answer of another issuer, total or tax has a mismatch, and the invoice has no answer', async () => {
  const clave = newClave()
  const ids = await upload([
    sampleInvoice({ clave }),
    sampleMessage({ clave, issuerId: '3101999999', total: '7.00000' }),
    sampleMessage({ clave, issuerId: '3101999999' }),
    sampleMessage({ clave, total: '1130.00001' }),
    sampleMessage({ clave, tax: '0.00000' }),
    sampleMessage({ clave, message: '3', total: '113' }),
  ])
  const [invoice, ...answers] = ids
  assert.deepEqual((await readInvoice(invoice)).hacienda, undefined)
  for (const [at, id] of answers.entries()) {
    const { warnings = [] } = await readInvoice(id)
    const ofContent = at < 2 ? ['clave_id'] : []
    assert.deepEqual(warnings, [...ofContent, 'hacienda_mismatch', 'clave_twice'], `${at}`)
  }
})

test('an answer counts whose issuer, total and tax have the same value, or that has no amounts', async () => {
  const answers = [
    { issuerId: '3101123456', total: '1130', tax: '130.0' },
    { total: null, tax: null },
    { total: null },
    { tax: null },
  ]
  for (const options of answers) {
    const clave = newClave()
    const [invoice, answer] = await upload([sampleInvoice({ clave }), sampleMessage({ clave, ...options })])
    const expected = { outcome: 'accepted', document_id: answer }
    assert.deepEqual((await readInvoice(invoice)).hacienda, expected, JSON.stringify(options))
    assert.equal((await readInvoice(answer)).warnings, undefined)
  }
})

test('an answer without an issuer fits no invoice, also none without an issuer', async () => {
  const clave = newClave()
  const content = sampleInvoice({ clave, receiver: '' }).replace(/<Identificacion>.*?<\/Identificacion>/, '')
  const [invoice, answer] = await upload([content, sampleMessage({ clave, issuerId: '' })])
  assert.equal((await readInvoice(invoice)).hacienda, undefined)
  assert.deepEqual((await readInvoice(answer)).warnings, ['hacienda_mismatch'])
})

test('an invoice without an element of the tax has a tax of 0', async () => {
  const clave = newClave()
  const content = sampleInvoice({ clave }).replace(/<TotalImpuesto>.*?<\/TotalImpuesto>/, '')
  const [invoice, answer] = await upload([content, sampleMessage({ clave, tax: '0.00000' })])
  assert.deepEqual((await readInvoice(invoice)).hacienda, { outcome: 'accepted', document_id: answer })
  assert.equal((await readInvoice(answer)).warnings, undefined)
})

test('the answer to a FacturaElectronicaCompra has the id of its seller or of its buyer', async () => {
  for (const issuerId of ['3101123456', '3101654321']) {
    sequence += 1
    const clave = createClave('FacturaElectronicaCompra', sequence, '3101654321')
    const content = sampleInvoice({ kind: 'FacturaElectronicaCompra', clave })
    const [invoice, answer] = await upload([content, sampleMessage({ clave, issuerId })])
    assert.deepEqual((await readInvoice(invoice)).hacienda, { outcome: 'accepted', document_id: answer })
    assert.equal((await readInvoice(answer)).warnings, undefined)
  }
})

test('an answer without a visible invoice of its clave has no mismatch', async () => {
  const clave = newClave()
  const [answer] = await upload([sampleMessage({ clave, total: '7' })])
  assert.equal((await readInvoice(answer)).warnings, undefined)
  await upload([sampleInvoice({ clave })], { agent_id: 2 })
  assert.deepEqual((await readInvoice(answer)).warnings, ['hacienda_mismatch'])
  assert.equal(
    (await readInvoice(answer, TOKENS.ofAgent)).warnings,
    undefined,
    'the invoice of another agent',
  )
})

test('an answer that fits one of several invoices of its clave has no mismatch', async () => {
  const clave = newClave()
  const [first, second, answer] = await upload([
    sampleInvoice({ clave, total: '9.00000' }),
    sampleInvoice({ clave }),
    sampleMessage({ clave }),
  ])
  assert.equal((await readInvoice(first)).hacienda, undefined)
  assert.deepEqual((await readInvoice(second)).hacienda, { outcome: 'accepted', document_id: answer })
  assert.equal((await readInvoice(answer)).warnings, undefined)
})

test('warnings of the content come before those of the reading', async () => {
  const clave = newClave()
  const answer = sampleMessage({ clave, total: '1' }).replace(/ xmlns="[^"]*"/, '')
  const [, id] = await upload([sampleInvoice({ clave }), answer])
  assert.deepEqual((await readInvoice(id)).warnings, ['namespace', 'hacienda_mismatch'])
})

test('a rejection is not covered by a later acceptance, and the others are beside it', async (t) => {
  const clave = newClave()
  const [invoice] = await upload([sampleInvoice({ clave })])
  const [early] = await upload([sampleMessage({ clave, detail: 'primera' })])
  assert.deepEqual((await readInvoice(invoice)).hacienda, { outcome: 'accepted', document_id: early })
  assert.equal('hacienda_others' in (await readInvoice(invoice)), false)
  const [rejection] = await upload([sampleMessage({ clave, message: '3' })])
  const [late] = await upload([sampleMessage({ clave })])
  const facts = {
    hacienda: { outcome: 'rejected', document_id: rejection },
    hacienda_others: [
      { outcome: 'accepted', document_id: late },
      { outcome: 'accepted', document_id: early },
    ],
  }
  const pick = ({ hacienda, hacienda_others }: Invoice) => ({ hacienda, hacienda_others })
  assert.deepEqual(pick(await readInvoice(invoice)), facts)
  const list = await read(app, `/api/v1/documents?clave=${clave}&kind=FacturaElectronica`)
  const { documents } = (await list.json()) as { documents: Shown[] }
  assert.deepEqual(pick(documents[0]?.invoice ?? {}), facts)
  const csv = await (await read(app, `/api/v1/documents.csv?clave=${clave}&kind=FacturaElectronica`)).text()
  const [row] = parse(csv, { columns: true }) as Record<string, string>[]
  assert.deepEqual([row?.hacienda, row?.hacienda_document_id], ['rejected', String(rejection)])
  assert.deepEqual(JSON.parse(row?.hacienda_others ?? ''), facts.hacienda_others)
  const ndjson = await read(app, `/api/v1/documents.ndjson?clave=${clave}&kind=FacturaElectronica`)
  assert.deepEqual(pick((JSON.parse(await ndjson.text()) as Shown).invoice ?? {}), facts)
  const client = await connect(t, 'modern', { app, headers: { authorization: `Bearer ${TOKENS.read}` } })
  const value = (await callForValue(client, 'read_document', { id: invoice })) as Shown
  assert.deepEqual(pick(value.invoice ?? {}), facts)
})

test('the same bytes again are no other answer, and the newest acceptance is the first', async () => {
  const clave = newClave()
  const answer = sampleMessage({ clave })
  const [invoice, old] = await upload([sampleInvoice({ clave }), sampleMessage({ clave, detail: 'otra' })])
  const [, last] = await upload([answer, answer])
  const { hacienda, hacienda_others } = await readInvoice(invoice)
  assert.deepEqual(hacienda, { outcome: 'accepted', document_id: last })
  assert.deepEqual(hacienda_others, [{ outcome: 'accepted', document_id: old }])
})

test('answers of other agents do not count for a token of one agent', async () => {
  const clave = newClave()
  const [invoice] = await upload([sampleInvoice({ clave })])
  const [answer] = await upload([sampleMessage({ clave })])
  await upload([sampleMessage({ clave, message: '3' })], { agent_id: 2 })
  const own = await readInvoice(invoice, TOKENS.ofAgent)
  assert.deepEqual(own.hacienda, { outcome: 'accepted', document_id: answer })
  assert.equal('hacienda_others' in own, false)
})

test('a rejection is found among a thousand answers, and at most 10 others are answered', async () => {
  const clave = newClave()
  const [invoice, rejection] = await upload([
    sampleInvoice({ clave }),
    sampleMessage({ clave, message: '3' }),
  ])
  const flood = Array.from({ length: MANY }, (_, at) =>
    sampleMessage({ clave, detail: `${at}`, ...(at % 2 === 0 && { total: `${at}` }) }),
  )
  const ids = await upload(flood)
  const { hacienda, hacienda_others } = await readInvoice(invoice)
  assert.deepEqual(hacienda, { outcome: 'rejected', document_id: rejection })
  const newest = ids.filter((_, at) => at % 2 === 1).slice(-10)
  assert.deepEqual(
    hacienda_others,
    newest.toReversed().map((document_id) => ({ outcome: 'accepted', document_id })),
  )
  const list = await read(app, `/api/v1/documents?after=${(ids[0] ?? 0) - 1}&limit=200`)
  const { documents } = (await list.json()) as { documents: Shown[] }
  const counts = documents.map(({ invoice }) => invoice?.warnings?.includes('hacienda_mismatch'))
  assert.equal(counts.filter(Boolean).length, 100)
})
