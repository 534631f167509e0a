// Documents of earlier versions of the program: the reader reads them once, newest first, and goes on where it stopped.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  readAllDocuments,
  readOlderDocuments,
  startOlderDocuments,
} from '../../../../src/domain/invoices/older-documents.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { READER_VERSION, selectInvoices } from '../../../../src/store/documents/invoices.ts'
import { findReaderProgress } from '../../../../src/store/documents/unread.ts'
import type { Engine } from '../../../../src/store/engine.ts'
import { makeDirectory, openTestBlobs, storeTexts } from '../../../support/company.ts'
import { createClave, sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { temporaryDirectory, temporaryEngine } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const NEVER = new AbortController().signal

async function open(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const engine = await temporaryEngine(t, dataDir)
  const { db, reads } = engine
  const blobs = await openTestBlobs(dataDir)
  return { engine, blobs, deps: { db, reads, blobs, signal: NEVER } }
}

const bill = (number: number) => sampleInvoice({ clave: createClave('FacturaElectronica', number) })

/** Claves by document. */
async function claves({ reads }: Engine, ids: readonly number[]): Promise<(string | null | undefined)[]> {
  const rows = await selectInvoices(reads, ids)
  return ids.map((id) => rows.get(id)?.clave)
}

test('the reader reads older documents once, and records that all are read', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const texts = Array.from({ length: 120 }, (_, at) => (at % 2 === 0 ? bill(at) : `nota ${at}`))
  const ids = await storeTexts(engine.db, blobs, [...texts, bill(1).replace('509.25000', '509,25')])
  const counts = { documents: 121, invoices: 60, faults: 1, unreadable: 0 }
  assert.deepEqual(await readOlderDocuments(deps), counts)
  const expected = texts.map((_, at) => (at % 2 === 0 ? createClave('FacturaElectronica', at) : undefined))
  assert.deepEqual(await claves(engine, ids), [...expected, null])
  assert.deepEqual(await findReaderProgress(engine.reads), { reader: READER_VERSION, unreadBefore: 0 })
  assert.equal((await readOlderDocuments(deps)).documents, 0)
  const before = await engine.reads.selectFrom('invoices').selectAll().orderBy('document_id').execute()
  assert.deepEqual(await readAllDocuments(deps, { again: true }), counts)
  const after = await engine.reads.selectFrom('invoices').selectAll().orderBy('document_id').execute()
  assert.deepEqual(after, before)
})

test('the reader gives a PDF the clave of its name, and counts no invoice', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const clave = createClave('FacturaElectronica', 1)
  const ids = await storeTexts(engine.db, blobs, ['%PDF'], { name: `${clave}.pdf` })
  const counts = { documents: 1, invoices: 0, faults: 0, unreadable: 0 }
  assert.deepEqual(await readOlderDocuments(deps), counts)
  assert.deepEqual(await claves(engine, ids), [clave])
})

test('the reader goes on where it stopped', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const ids = await storeTexts(
    engine.db,
    blobs,
    Array.from({ length: 120 }, (_, at) => bill(at)),
  )
  const stop = new AbortController()
  let reads = 0
  const stopping = {
    read: (sha256: string) => {
      reads += 1
      if (reads === 60) stop.abort()
      return blobs.read(sha256)
    },
  }
  assert.equal((await readOlderDocuments({ ...deps, blobs: stopping, signal: stop.signal })).documents, 100)
  const progress = await findReaderProgress(engine.reads)
  assert.deepEqual(progress, { reader: READER_VERSION, unreadBefore: ids[20] })
  assert.equal((await readOlderDocuments(deps)).documents, 20)
  assert.equal((await claves(engine, ids)).every(Boolean), true)
})

test('a failed read of the store leaves the documents for the next call', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const ids = await storeTexts(engine.db, blobs, [bill(1), bill(2)])
  const failing = { read: () => Promise.reject(new Error('EIO')) }
  await assert.rejects(readOlderDocuments({ ...deps, blobs: failing }), /EIO/)
  assert.equal((await claves(engine, ids)).some(Boolean), false)
  assert.equal((await readOlderDocuments(deps)).invoices, 2)
})

test('a missing content is counted and changes nothing, and the facts from a mail remain', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const [first = 0, second = 0] = await storeTexts(engine.db, blobs, [bill(1), 'nota'])
  const clave = createClave('FacturaElectronica', 9)
  const row = { document_id: second, company_id: 7, source: 'mail' as const, clave, reader: READER_VERSION }
  await engine.db.insertInto('invoices').values(row).execute()
  const lacking = { read: async () => undefined }
  const counts = await readAllDocuments({ ...deps, blobs: lacking }, { again: true })
  assert.deepEqual(counts, { documents: 2, invoices: 0, faults: 0, unreadable: 2 })
  await readAllDocuments(deps, { again: true })
  await readAllDocuments({ ...deps, blobs: lacking }, { again: true })
  assert.deepEqual(await claves(engine, [first, second]), [createClave('FacturaElectronica', 1), clave])
})

test('a document that is deleted while its content is read gets no facts', async (t) => {
  const { engine, blobs, deps } = await open(t)
  const [first = 0, second = 0] = await storeTexts(engine.db, blobs, [bill(1), bill(2)])
  let isDeleted = false
  const deleting = {
    async read(sha256: string) {
      if (!isDeleted) await engine.db.deleteFrom('documents').where('id', '=', first).execute()
      isDeleted = true
      return blobs.read(sha256)
    },
  }
  await readOlderDocuments({ ...deps, blobs: deleting })
  assert.deepEqual(await claves(engine, [first, second]), [undefined, createClave('FacturaElectronica', 2)])
})

test('the server reads older documents in the background, and logs their number', async (t) => {
  const { engine, blobs } = await open(t)
  const ids = await storeTexts(engine.db, blobs, [bill(1), 'nota'])
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'text', write: (text) => lines.push(text) })
  const task = startOlderDocuments({ ...engine, blobs, log })
  t.after(() => task.close())
  await until(() => lines.length > 0)
  assert.match(lines.join(''), /older documents read documents=2 invoices=1 faults=0 unreadable=0\n$/)
  assert.deepEqual(await claves(engine, ids), [createClave('FacturaElectronica', 1), undefined])
})

test('the server reads the faults of an earlier reader again in the background', async (t) => {
  const { engine, blobs } = await open(t)
  const [id = 0] = await storeTexts(engine.db, blobs, [bill(1)])
  const earlier = READER_VERSION - 1
  const fault = { kind: 'FacturaElectronica', fault: 'Receptor stands twice', reader: earlier }
  const row = { document_id: id, company_id: 7, source: 'content' as const, ...fault }
  await engine.db.insertInto('invoices').values(row).execute()
  await engine.db.updateTable('meta').set({ invoice_reader: earlier, unread_before: 0 }).execute()
  const log = createLog({ level: 'info', format: 'text', write: () => {} })
  const task = startOlderDocuments({ ...engine, blobs, log })
  t.after(() => task.close())
  await until(async () => (await findReaderProgress(engine.reads))?.reader === READER_VERSION)
  const facts = (await selectInvoices(engine.reads, [id])).get(id)
  const expected = [createClave('FacturaElectronica', 1), null, READER_VERSION]
  assert.deepEqual([facts?.clave, facts?.fault, facts?.reader], expected)
})
