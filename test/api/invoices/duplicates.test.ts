// Refusal of invoices that have a document already, on each way of an upload.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { scaled } from '../../faults/scale.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { createClave, sampleInvoice, sampleMessage } from '../../support/documents/invoice-xml.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Answer = {
  status: number
  body: {
    message: string
    errors?: { index: number; field: string; document_id?: number; same_content?: boolean }[]
    created_documents?: { id: number }[]
  }
}

const PAIRS = scaled({ short: 20, long: 200 })
const REFUSE = { 'x-cambista-duplicates': 'refuse' }

let app: TestApp
let sequence = 900
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

function newClave(): string {
  sequence += 1
  return createClave('FacturaElectronica', sequence)
}

async function upload(contents: string[], headers: Record<string, string> = {}): Promise<Answer> {
  const documents = contents.map((content, at) => ({
    name: `${at}.xml`,
    mimetype: 'application/xml',
    base64: Buffer.from(content).toString('base64'),
  }))
  const response = await post(app, CREATE, batch(...documents), headers)
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

async function lastId(): Promise<number | undefined> {
  const response = await read(app, '/api/v1/documents?order=desc&limit=1')
  const { documents } = (await response.json()) as { documents: { id: number }[] }
  return documents[0]?.id
}

/** Copy, equality and warnings of the invoice of a document. */
async function readMarks(id: number | undefined): Promise<unknown[]> {
  type Shown = { invoice: { duplicate_of?: number; same_content?: boolean; warnings?: string[] } }
  const { invoice } = (await (await read(app, `/api/v1/documents/${id}`)).json()) as Shown
  return [invoice.duplicate_of, invoice.same_content, invoice.warnings]
}

test('a second upload of an invoice is refused whole, with the first document', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const first = await upload([content], REFUSE)
  assert.equal(first.status, 200)
  const last = await lastId()
  const second = await upload([sampleInvoice({ clave: newClave() }), `${content}\n`], REFUSE)
  assert.equal(second.status, 409)
  assert.equal(second.body.message, 'Invoice already stored')
  assert.deepEqual(second.body.errors, [
    {
      index: 1,
      field: 'clave',
      message: 'the invoice has a document already',
      same_content: false,
      document_id: first.body.created_documents?.[0]?.id,
    },
  ])
  assert.equal(await lastId(), last)
  assert.equal((await upload([content])).status, 200, 'stored without the header')
})

test('a client learns of documents in its own access alone, and of ids with documents:GET', async () => {
  const db = openTestDatabase(app.dataDir)
  const created_at = '2026-03-24T00:00:00.000Z'
  const other = { id: 40, company_id: 1, name: 'Otro', description: '', active: 1, created_at }
  await db.insertInto('agents').values(other).execute()
  await db.destroy()
  const content = sampleInvoice({ clave: newClave() })
  const documents = [{ name: 'a.xml', mimetype: 'text/xml', base64: Buffer.from(content).toString('base64') }]
  const ofOther = await post(app, CREATE, { company_id: 1, agent_id: 40, owner_id: 1, documents })
  assert.equal(ofOther.status, 200)
  const ofAgent = { ...REFUSE, authorization: `Bearer ${TOKENS.ofAgent}` }
  assert.equal((await upload([content], ofAgent)).status, 200)
  const blind = await upload([content], { ...REFUSE, authorization: `Bearer ${TOKENS.upload}` })
  assert.equal(blind.status, 409)
  assert.equal(blind.body.errors?.[0]?.document_id, undefined)
})

test('a copy of another sender is refused for the same bytes, and else stored and marked', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const [first] = (await upload([content])).body.created_documents ?? []
  assert.deepEqual(await readMarks(first?.id), [undefined, undefined, undefined])
  const other = { ...REFUSE, authorization: `Bearer ${TOKENS.ofAgent}` }
  const same = await upload([content], other)
  assert.equal(same.status, 409)
  assert.deepEqual(
    same.body.errors?.map(({ document_id, same_content }) => [document_id, same_content]),
    [[first?.id, true]],
  )
  const altered = await upload([`${content}\n`], other)
  assert.equal(altered.status, 200)
  const [copy] = altered.body.created_documents ?? []
  assert.deepEqual(await readMarks(copy?.id), [first?.id, false, ['clave_twice']])
  assert.deepEqual(await readMarks(first?.id), [undefined, undefined, ['clave_twice']])
  const again = await upload([`${content}\n\n`], other)
  assert.deepEqual(
    again.body.errors?.map(({ document_id, same_content }) => [document_id, same_content]),
    [[copy?.id, false]],
    'its own earlier copy',
  )
  const both = await upload([`${content}\n`], REFUSE)
  assert.deepEqual(
    both.body.errors?.map(({ document_id, same_content }) => [document_id, same_content]),
    [[copy?.id, true]],
    'the same bytes come before those of the sender',
  )
})

test('a copy that is equal to the first marks nothing', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const [first, second] = (await upload([content, content])).body.created_documents ?? []
  assert.deepEqual(await readMarks(first?.id), [undefined, undefined, undefined])
  assert.deepEqual(await readMarks(second?.id), [first?.id, true, undefined])
})

test('the mailbox of a mail is another sender than a token', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const [first] = (await upload([content])).body.created_documents ?? []
  const db = openTestDatabase(app.dataDir)
  await db
    .updateTable('documents')
    .set({ created_by: null })
    .where('id', '=', first?.id ?? 0)
    .execute()
  await db.destroy()
  assert.equal((await upload([content], REFUSE)).status, 409)
  assert.equal((await upload([`${content}\n`], REFUSE)).status, 200)
})

test('an invoice that is in a request twice is refused, and its answers are not', async () => {
  const clave = newClave()
  const content = sampleInvoice({ clave })
  const twice = await upload([content, content], REFUSE)
  assert.equal(twice.status, 409)
  assert.deepEqual(twice.body.errors, [
    { index: 1, field: 'clave', message: 'the invoice is in the request twice', same_content: true },
  ])
  const altered = await upload([content, `${content}\n`], REFUSE)
  assert.deepEqual(
    altered.body.errors?.map(({ same_content }) => same_content),
    [false],
  )
  assert.equal((await upload([content, sampleMessage({ clave })], REFUSE)).status, 200)
})

test('the address of a raw body, the header of a form and of a raw body refuse duplicates', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const ids = 'company_id=1&agent_id=1&owner_id=1'
  const url = `${app.app.url}/api/v1/documents`
  const authorization = `Bearer ${TOKENS.all}`
  const send = (query: string, headers = {}) =>
    fetch(`${url}?${ids}&name=a.xml${query}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/xml', ...headers },
      body: content,
    })
  assert.equal((await send('&duplicates=refuse')).status, 200)
  assert.equal((await send('&duplicates=refuse')).status, 409)
  assert.equal((await send('', REFUSE)).status, 409)
  const form = new FormData()
  for (const name of ['company_id', 'agent_id', 'owner_id']) form.set(name, '1')
  form.set('duplicates', 'refuse') // a field of this name has no meaning
  form.set('file', new Blob([content], { type: 'application/xml' }), 'a.xml')
  const sendForm = (headers = {}) =>
    fetch(url, { method: 'POST', headers: { authorization, ...headers }, body: form })
  assert.equal((await sendForm(REFUSE)).status, 409)
  assert.equal((await sendForm()).status, 200)
})

test('another value is an error with the right one', async () => {
  const wrong = await upload([sampleInvoice({ clave: newClave() })], { 'x-cambista-duplicates': 'reject' })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.message, 'X-Cambista-Duplicates must be refuse, or absent')
  const response = await fetch(
    `${app.app.url}/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=a.xml&duplicates=no`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/xml' },
      body: sampleInvoice(),
    },
  )
  assert.equal(response.status, 422)
  assert.match(await response.text(), /duplicates must be refuse/)
})

test('a repeated Idempotency-Key answers as before, and is of this header too', async () => {
  const content = sampleInvoice({ clave: newClave() })
  const key = { 'idempotency-key': `duplicates-${sequence}` }
  const first = await upload([content], { ...REFUSE, ...key })
  const second = await upload([content], { ...REFUSE, ...key })
  assert.deepEqual([first.status, second.status], [200, 200])
  assert.deepEqual(second.body.created_documents, first.body.created_documents)
  assert.equal((await upload([content], key)).status, 409)
})

test('the second of two equal uploads at once is refused', async () => {
  for (let round = 0; round < PAIRS; round++) {
    const content = sampleInvoice({ clave: newClave() })
    const answers = await Promise.all([upload([content], REFUSE), upload([content], REFUSE)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  }
})
