// Invoices in the tools of the documents: facts, and the rate of their day.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import {
  createClave,
  type SampleOptions,
  sampleInvoice,
  sampleMessage,
} from '../../support/documents/invoice-xml.ts'
import { call, callForError, callForValue, connect, ERAS, type Era, type Json } from './support.ts'

const DATE = '2026-03-20'
const SUNDAY = '2026-03-22'
/** The name of the issuer of each sample. */
const ISSUER = 'Ferretería El Roble & Hijos S.A.'
const FOREIGN = /Roble|Acme|5062403/

let app: TestApp
let nextNumber = 1
before(async (t) => {
  app = await startTestApp(t as TestContext, { backfillFrom: '2026-03-01' })
  await app.sync()
  await fillDirectory(app)
})

async function upload(content: string, name = 'f.xml'): Promise<number> {
  const base64 = Buffer.from(content).toString('base64')
  const response = await post(app, CREATE, batch({ name, mimetype: 'application/xml', base64 }))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return created_documents[0]?.id ?? 0
}

function uploadInvoice(date: string, options: SampleOptions = {}): Promise<number> {
  const clave = createClave('FacturaElectronica', nextNumber++)
  return upload(sampleInvoice({ clave, issuedAt: `${date}T09:30:00-06:00`, ...options }))
}

async function readInvoice(id: number): Promise<Json> {
  const document = (await (await read(app, `/api/v1/documents/${id}`)).json()) as Json
  return document.invoice
}

for (const era of Object.keys(ERAS) as Era[]) {
  const open = (t: TestContext) =>
    connect(t, era, { app, headers: { authorization: `Bearer ${TOKENS.read}` } })

  test(`${era}: list_documents has the main facts of an invoice, and read_document all of them`, async (t) => {
    const client = await open(t)
    const id = await uploadInvoice(DATE)
    const clave = createClave('FacturaElectronica', nextNumber - 1)
    await upload(sampleInvoice().replace('509.25000', '509,25'))
    await upload('%PDF-1.7', `${clave}.pdf`)
    const facts = { kind: 'FacturaElectronica', clave, issuer_id: '3101123456', date: DATE }
    for (const tool of ['list_documents', 'wait_for_documents']) {
      const { documents } = await callForValue(client, tool, { after: id - 1 })
      assert.deepEqual(
        documents.map(({ invoice }: Json) => invoice),
        [
          { ...facts, currency: 'USD', total: '1130' },
          { kind: 'FacturaElectronica', fault: 'TipoCambio is not an amount' },
          { clave, from: 'name' },
        ],
      )
    }
    const filtered = async (filter: object) =>
      (await callForValue(client, 'list_documents', { after: id - 1, ...filter })).documents.length
    assert.equal(await filtered({ clave }), 2)
    assert.equal(await filtered({ clave, kind: 'FacturaElectronica' }), 1)
    assert.equal(await filtered({ issuer: '3101123456' }), 1)
    assert.equal(await filtered({ issuer: '1' }), 0)
    assert.match(await callForError(client, 'list_documents', { clave: '506' }), /50 digits/)
    const document = await call(client, 'read_document', { id })
    assert.deepEqual(document.structuredContent?.invoice, await readInvoice(id))
    assert.equal(document.structuredContent?.invoice.issuer.name, ISSUER)
    assert.doesNotMatch(document.content[0]?.text ?? '', FOREIGN)
  })

  test(`${era}: rate_for_document is /convert on the date of the invoice, with its check`, async (t) => {
    const client = await open(t)
    const { rate: venta } = await app.json<{ rate: string }>(
      `/api/v1/convert?amount=1&from=USD&to=CRC&on=${DATE}`,
    )
    for (const [date, options, from, words] of [
      [DATE, { rate: venta }, 'USD', / The invoice has this rate\.$/],
      [SUNDAY, { rate: '1' }, 'USD', / The rate of the invoice differs by -[\d.]+ \(-99\.\d+ %\)\.$/],
      [DATE, { currency: 'EUR', rate: '600' }, 'EUR', /differs by/],
      [DATE, { currency: 'CRC', rate: '1' }, 'USD', /venta of 2026-03-20\.$/],
    ] as const) {
      const id = await uploadInvoice(date, options)
      const { structuredContent, content } = await call(client, 'rate_for_document', { document_id: id })
      const { document_id, date: day, rate_check, ...conversion } = structuredContent ?? {}
      assert.deepEqual([document_id, day], [id, date])
      const path = `/api/v1/convert?amount=1&from=${from}&to=CRC&on=${date}&details=true`
      assert.deepEqual(conversion, await app.json(path))
      assert.deepEqual(rate_check, (await readInvoice(id)).rate_check)
      assert.equal(
        rate_check?.published,
        'currency' in options && options.currency === 'CRC' ? undefined : conversion.rate,
      )
      assert.match(content[0]?.text ?? '', words)
      assert.doesNotMatch(content[0]?.text ?? '', FOREIGN)
    }
  })

  test(`${era}: rate_for_document of a document without a date, or of a day without a rate, is an error`, async (t) => {
    const client = await open(t)
    const noDate = /^Document \d+ has no date: only an invoice that was read has one\. list_documents/
    const cases: [number, RegExp][] = [
      [await upload('nada', 'nota.txt'), noDate],
      [await upload(sampleMessage()), noDate],
      [await upload(sampleInvoice().replace('509.25000', '509,25')), noDate],
      [await uploadInvoice('2026-02-01'), /^No rate for USD -> CRC is stored on or before 2026-02-01/],
      [await uploadInvoice('2036-03-24'), /^its date 2036-03-24 is in the future: today is 2026-03-24/],
      [await uploadInvoice(DATE, { currency: 'XYZ' }), /^Cannot convert: no rates of XYZ are stored/],
      [999_999, /^Document not found/],
    ]
    for (const [document_id, text] of cases)
      assert.match(await callForError(client, 'rate_for_document', { document_id }), text)
    const other = await connect(t, era, { app, headers: { authorization: `Bearer ${TOKENS.ofCompany}` } })
    assert.match(
      await callForError(other, 'rate_for_document', { document_id: await uploadInvoice(DATE) }),
      /^Document not found/,
    )
  })
}
