// Invoices of a test. The main one has a rate that is not the venta, a PDF, an answer of Hacienda and a copy.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { atomically } from '../../../src/store/engine.ts'
import { insertDocumentMail } from '../../../src/store/mail/document-mail.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'
import { createDocuments, type NewDocument, type PageApp } from '../support.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/invoices')
/** Clave of the invoice in dollars. */
export const CLAVE = '50624032600310112345600100001010000000043112345678'
/** Markup and a direction character, as a stranger may write them. */
export const HOSTILE_NAME = '<img src=x onerror="window.taken=1"> \u202egnp.S.A'

export type InvoiceIds = {
  usd: number
  pdf: number
  answer: number
  copy: number
  hostile: number
  fault: number
}

/** Creates the documents, oldest first. @param rate of the invoice in dollars */
export async function createInvoices(app: PageApp, token: string, rate: string): Promise<InvoiceIds> {
  const create = async (name: string, content: string) => {
    const document: NewDocument = {
      name,
      mimetype: name.endsWith('.pdf') ? 'application/pdf' : 'application/xml',
      content,
    }
    return (await createDocuments(app, [document], token))[0] ?? 0
  }
  const usd = readExample('v44-factura-usd').replace('509.25000', rate)
  const ids = {
    usd: await create(`${CLAVE}.xml`, usd),
    pdf: await create(`${CLAVE}.pdf`, '%PDF-1.4\n%%EOF\n'),
    answer: await create(`${CLAVE}_respuesta.xml`, createAnswer('v44-mensaje-hacienda-rechazado')),
    copy: await create('factura reenviada.xml', `${usd}\n`),
    hostile: await create(
      'nota.xml',
      readExample('v44-nota-credito').replace(
        /(?<=<Emisor><Nombre>)[^<]*/,
        HOSTILE_NAME.replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
      ),
    ),
    fault: await create('cortada.xml', readFixture('deviations/clave-twice')),
  }
  await addMail(app, ids.usd)
  return ids
}

/** An example of an answer, to the invoice in dollars. */
export function createAnswer(name: string): string {
  return readExample(name)
    .replace(/(?<=<Clave>)\d+/, CLAVE)
    .replace('>113000.00000<', '>1130.00000<')
    .replace('>13000.00000<', '>130.00000<')
}

/** Records that a document came by mail. */
async function addMail({ dataDir }: PageApp, id: number): Promise<void> {
  const db = openDatabase(dataDir)
  try {
    const mail = {
      mailbox_id: await insertTestMailbox(db),
      from_text: 'Ferretería El Roble <facturas@ejemplo.invalid>',
      subject: '<b>Factura 43</b>',
      received_at: '2026-11-20T17:58:00.000Z',
      ...{ message_id: null, note: null },
    }
    await db.updateTable('documents').set({ created_by: null }).where('id', '=', id).execute() // no token
    await atomically(db, (trx) => insertDocumentMail(trx, [{ document_id: id, ...mail }]))
  } finally {
    await db.destroy()
  }
}

export function readExample(name: string): string {
  return readFixture(`examples/${name}`)
}

export function readFixture(path: string): string {
  return readFileSync(join(FOLDER, `${path}.xml`), 'utf8')
}
