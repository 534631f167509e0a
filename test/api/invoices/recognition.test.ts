// Invoices among documents: their facts in lists, documents and claims, for each way of an upload; copies.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { updateCompanySettings } from '../../../src/store/directory/companies.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { CLAVE, createClave, sampleInvoice, sampleMessage } from '../../support/documents/invoice-xml.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

type Invoice = Record<string, unknown>
type Shown = { id: number; name: string; invoice?: Invoice }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

/** Uploads contents by name, and returns their ids. */
async function upload(contents: Record<string, string | Buffer>): Promise<number[]> {
  const documents = Object.entries(contents).map(([name, content]) => ({
    name,
    mimetype: 'application/xml',
    base64: Buffer.from(content as string).toString('base64'),
  }))
  const response = await post(app, CREATE, batch(...documents))
  const body = (await response.json()) as { created_documents: { id: number }[] }
  assert.equal(response.status, 200, JSON.stringify(body))
  return body.created_documents.map(({ id }) => id)
}

async function readInvoice(id: number | undefined): Promise<Invoice | undefined> {
  const document = (await (await read(app, `/api/v1/documents/${id}`)).json()) as Shown
  return document.invoice
}

test('an invoice has its facts in the list, the document and the claim', async () => {
  const [id] = await upload({ 'factura.xml': sampleInvoice(), 'nota.txt': 'nada' })
  const facts = {
    kind: 'FacturaElectronica',
    version: '4.4',
    from: 'content',
    clave: CLAVE,
    consecutive: '00100001010000000043',
    issued_at: '2026-03-24T09:30:00-06:00',
    date: '2026-03-24',
    issuer: { type: '02', id: '3101123456', name: 'Ferretería El Roble & Hijos S.A.' },
    receiver: { type: '02', id: '3101654321', name: 'Acme S.A.' },
    currency: 'USD',
    exchange_rate: '509.25',
    total: '1130',
    tax: '130',
    rate_check: { published: null, reason: 'No rate for USD -> CRC is stored on or before 2026-03-24' },
  }
  assert.deepEqual(await readInvoice(id), facts)
  const list = (await (await read(app, '/api/v1/documents')).json()) as { documents: Shown[] }
  assert.deepEqual(
    list.documents.map(({ name, invoice }) => [name, invoice]),
    [
      ['factura.xml', facts],
      ['nota.txt', undefined],
    ],
  )
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const claims = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 50 }, headers)
  const { documents } = (await claims.json()) as { documents: Shown[] }
  assert.deepEqual(documents.find((one) => one.id === id)?.invoice, facts)
})

test('a PDF that is named by a clave belongs to its invoice', async () => {
  const clave = createClave('FacturaElectronica', 50)
  const [pdf, xml, twice] = await upload({
    [`${clave}.pdf`]: '%PDF-1.7',
    [`${clave}_otro.xml`]: '<otro/>',
    [`${clave} ${clave}.pdf`]: '%PDF-1.7 x',
  })
  assert.deepEqual(await readInvoice(pdf), { clave, from: 'name' })
  assert.equal(await readInvoice(xml), undefined)
  assert.equal(await readInvoice(twice), undefined)
})

test('an unreadable invoice has its fault alone', async () => {
  const [id] = await upload({ 'mala.xml': sampleInvoice().replace('509.25000', '509,25') })
  assert.deepEqual(await readInvoice(id), {
    kind: 'FacturaElectronica',
    fault: 'TipoCambio is not an amount',
  })
})

test('an invoice in marks, base64 or JSON has facts or a fault, however it is uploaded', async () => {
  const clave = createClave('FacturaElectronica', 60)
  const xml = sampleInvoice({ clave })
  const base64 = Buffer.from(xml.slice(xml.indexOf('<Factura'))).toString('base64')
  const reply = (message: string) =>
    JSON.stringify({
      clave,
      'ind-estado': 'rechazado',
      'respuesta-xml': Buffer.from(sampleMessage({ clave, message })).toString('base64'),
    })
  const contents: Record<string, [content: string, facts: object]> = {
    'marks.xml': [`\ufeff\ufeff\n${xml}`, { kind: 'FacturaElectronica', clave }],
    'base64.xml': [`\ufeff${base64}\n`, { kind: 'FacturaElectronica', clave }],
    'quoted.txt': [`"${base64}"`, { kind: 'FacturaElectronica', clave }],
    'answer.json': [reply('3'), { kind: 'MensajeHacienda', clave, outcome: 'rejected' }],
    'other.json': [
      reply('1'),
      { kind: 'MensajeHacienda', fault: 'ind-estado of the JSON around it is not its Mensaje' },
    ],
    'of-hacienda.xml': [
      '<x xmlns="https://cdn.comprobanteselectronicos.go.cr/xml-schemas/v4.4/otra"/>',
      { kind: '', fault: 'its namespace is none of an invoice' },
    ],
    'latin1.xml': [xml.replace('UTF-8', 'ISO-8859-1'), { kind: 'FacturaElectronica', clave }],
  }
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  for (const [name, [content, facts]] of Object.entries(contents)) {
    const [first] = await upload({ [name]: content })
    const query = new URLSearchParams({ company_id: '1', agent_id: '1', owner_id: '1', name })
    const raw = await fetch(`${app.app.url}/api/v1/documents?${query}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: content,
    })
    const form = new FormData()
    for (const field of ['company_id', 'agent_id', 'owner_id']) form.append(field, '1')
    form.append('file', new Blob([content]), name)
    const posted = await fetch(`${app.app.url}/api/v1/documents`, { method: 'POST', headers, body: form })
    const ids = await Promise.all(
      [raw, posted].map(async (response) => {
        const body = (await response.json()) as { created_documents: { id: number }[] }
        assert.equal(response.status, 200, JSON.stringify(body))
        return body.created_documents[0]?.id
      }),
    )
    for (const id of [first, ...ids]) {
      const invoice = (await readInvoice(id)) ?? {}
      const read = Object.keys(facts).map((key) => [key, invoice[key]])
      assert.deepEqual(Object.fromEntries(read), facts, name)
    }
  }
})

test('a copy names the first of the same clave, and a deletion makes the second the first', async () => {
  const clave = createClave('FacturaElectronica', 51)
  const content = sampleInvoice({ clave })
  const [first, second, third] = await upload({ 'a.xml': content, 'b.xml': content, 'c.xml': `${content}\n` })
  assert.deepEqual(
    [(await readInvoice(first))?.duplicate_of, (await readInvoice(first))?.same_content],
    [undefined, undefined],
  )
  assert.deepEqual(
    [(await readInvoice(second))?.duplicate_of, (await readInvoice(second))?.same_content],
    [first, true],
  )
  assert.deepEqual(
    [(await readInvoice(third))?.duplicate_of, (await readInvoice(third))?.same_content],
    [first, false],
  )
  const deletion = await fetch(`${app.app.url}/api/v1/documents/${first}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${TOKENS.remove}` },
  })
  assert.equal(deletion.status, 200)
  assert.equal((await readInvoice(second))?.duplicate_of, undefined)
  assert.equal((await readInvoice(third))?.duplicate_of, second)
})

test('the log counts the invoices of an upload, and has no clave, name or identification', async () => {
  const clave = createClave('FacturaElectronica', 77)
  await upload({ [`${clave}.xml`]: sampleInvoice({ clave }), 'nota.txt': 'nada' })
  const readLines = () => app.logLines.flatMap((text) => text.trimEnd().split('\n'))
  await until(() => readLines().some((line) => line.includes('"count":2,"invoices":1')))
  const lines = readLines()
  assert.deepEqual(
    lines.filter((line) => /506\d{20}|3101123456|Ferretería/.test(line)),
    [],
  )
})

test('`direction` is the side of the company by its tax ids', async () => {
  const [id] = await upload({ 'dirigida.xml': sampleInvoice() })
  const read = async () => (await readInvoice(id))?.direction
  const db = openTestDatabase(app.dataDir)
  const setIds = (tax_ids: string | null) => updateCompanySettings(db, 1, { tax_ids })
  assert.equal(await read(), undefined)
  await setIds('9,3101123456')
  assert.equal(await read(), 'issued')
  await setIds('3101654321')
  assert.equal(await read(), 'received')
  await setIds('9')
  assert.equal(await read(), 'other')
  await setIds(null)
  await db.destroy()
})
