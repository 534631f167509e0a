// Stores the documents of a mail as one upload of its mailbox, under the limits of all uploads. The entry of the mail is
// in the same transaction. So the same mail becomes documents once, whatever ends the process.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { MailContents, MailPart } from '../../formats/mail/mail.ts'
import { createMemoryBudget, type MemoryBudget } from '../../runtime/memory-budget.ts'
import type { Semaphore } from '../../runtime/semaphore.ts'
import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { type IdRange, rangeIds } from '../../store/documents/idempotency.ts'
import type { NewInvoice } from '../../store/documents/invoices.ts'
import { READER_VERSION } from '../../store/documents/invoices.ts'
import type { Lock } from '../../store/engine.ts'
import { insertDocumentMail } from '../../store/mail/document-mail.ts'
import { addMailCounts, type MailboxRow } from '../../store/mail/mailboxes.ts'
import { findMailMessage, insertMailMessage } from '../../store/mail/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { DocumentWaiters } from '../documents/arrivals.ts'
import { announceUpload } from '../documents/uploads/accept.ts'
import { checkFreeSpace, checkQuotas, selectQuotas, withinQuotas } from '../documents/uploads/quotas.ts'
import { HAS_ANSWER, storeBatch } from '../documents/uploads/store.ts'
import { createUploadedFiles, type InvoiceTally } from '../documents/uploads/uploaded-files.ts'
import { NO_FACTS, recognizeBlob } from '../invoices/recognition.ts'
import { mailKey } from './mail-key.ts'
import { requireSameMailbox } from './mailbox-changes.ts'

export type MailStorage = {
  db: WriteDb
  blobs: Blobs
  clock: Clock
  waiters: DocumentWaiters
  wakeHooks: () => void
  /** Turns of all uploads. */
  turns: Pick<Semaphore, 'acquire'>
  /** Bytes of the disk that stay free. */
  minFree: number
  invoices: Pick<InvoiceTally, 'addAll'>
}

/** A mail and its place. */
export type ReadMail = {
  mailbox: MailboxRow
  agentId: number
  uidvalidity: number
  uid: number
  receivedAt: string
  contents: MailContents
}

/** `isNew` is false for a mail whose parts are documents already. */
export type StoredMail = { key: string; isNew: boolean; runs: readonly IdRange[]; count: number }

const SLICE = 256 * 1024 // a few milliseconds
const MEMORY = { each: 64 * 1024 ** 2, all: 64 * 1024 ** 2 } // beside the parts

/** Creates a function that stores the parts of a mail and frees their bytes. Throws AppError like an upload. */
export function createMailStore(deps: MailStorage): (mail: ReadMail, lock: Lock) => Promise<StoredMail> {
  const memory = createMemoryBudget(MEMORY)
  return async (mail, lock) => {
    using _turn = await deps.turns.acquire()
    try {
      return await storeParts(deps, memory, mail, lock)
    } finally {
      for (const { bytes } of mail.contents.parts) bytes.buffer.transfer(0) // at once, not at the next collection
    }
  }
}

async function storeParts(
  deps: MailStorage,
  memory: MemoryBudget,
  mail: ReadMail,
  lock: Lock,
): Promise<StoredMail> {
  const { db, blobs, clock } = deps
  const { mailbox, contents: parsed, uid, uidvalidity } = mail
  const companyId = mailbox.company_id
  const hashes: string[] = []
  for (const part of parsed.parts) hashes.push(await hashPart(part))
  const key = mailKey(mailbox.id, parsed.messageId, hashes)
  const repeated = { key, isNew: false, runs: [], count: 0 }
  if (await findMailMessage(db, key)) return repeated // uses no space
  const quotas = await selectQuotas(db, { tokenId: null, companyId })
  checkQuotas(quotas, 1)
  const bytes = parsed.parts.reduce((sum, part) => sum + part.bytes.length, 0)
  await checkFreeSpace(blobs, deps.minFree + bytes)
  using share = memory.open()
  const batch = withinQuotas(quotas, blobs.beginBatch)(share)
  try {
    const files = createUploadedFiles(share)
    const parts: { part: MailPart; blob: number; invoice: NewInvoice | undefined }[] = []
    for (const part of parsed.parts) parts.push({ part, ...(await writePart(batch, part)) })
    const clave = findOnlyClave(parts.map(({ invoice }) => invoice))
    for (const { part, blob, invoice } of parts) {
      const { name, type: mimetype } = part
      files.add({ name, mimetype, blob, invoice: invoice ?? clave })
    }
    const at = clock().toISOString()
    const insertOrigin = async (trx: WriteDb, runs: readonly IdRange[]) => {
      await lock.check(trx)
      await requireSameMailbox(trx, mailbox)
      if (!(await insertMailMessage(trx, { key, mailbox_id: mailbox.id, uidvalidity, uid, at })))
        throw HAS_ANSWER
      await addMailCounts(trx, mailbox.id, { taken: 1 })
      await insertDocumentMail(trx, [...rangeIds(runs)], {
        ...{ mailbox_id: mailbox.id, from_text: parsed.fromText || null, subject: parsed.subject || null },
        ...{ received_at: mail.receivedAt, message_id: parsed.messageId },
      })
    }
    const party = { companyId, agentId: mail.agentId, ownerId: mailbox.owner_id }
    const runs = await storeBatch(
      { db, blobs },
      { ...party, files, blobs: batch },
      { at, tokenId: null, insertOrigin },
      undefined,
    )
    if (!runs) return repeated
    announceUpload(deps, party, runs)
    deps.invoices.addAll(files.invoiceCounts())
    return { key, isNew: true, runs, count: files.count() }
  } finally {
    await batch.discard() // has no effect on committed blobs
  }
}

async function hashPart({ bytes }: MailPart): Promise<string> {
  const hash = createHash('sha256')
  for await (const slice of sliceBytes(bytes)) hash.update(slice)
  return hash.digest('hex')
}

async function writePart(
  batch: BlobBatch,
  { name, bytes }: MailPart,
): Promise<{ blob: number; invoice: NewInvoice | undefined }> {
  const recognition = recognizeBlob()
  const writer = batch.begin()
  for await (const slice of sliceBytes(bytes)) {
    recognition.write(slice)
    await writer.write(slice)
  }
  return { invoice: recognition.end(name), blob: await writer.keep() }
}

/** Yields slices of a part. Requests have their turn between those of a large one. */
async function* sliceBytes(bytes: MailPart['bytes']): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += SLICE) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(SLICE, bytes.length - start))
    if (bytes.length > SLICE) await setImmediate()
  }
}

/** Facts of the other files of a mail with the claves of one invoice. Undefined: none, several, or one with a fault. */
function findOnlyClave(invoices: readonly (NewInvoice | undefined)[]): NewInvoice | undefined {
  if (invoices.some((invoice) => invoice && invoice.fault !== null)) return undefined
  const claves = new Set(invoices.flatMap((invoice) => invoice?.clave ?? []))
  const [clave] = claves
  return claves.size === 1 && clave !== undefined
    ? { ...NO_FACTS, source: 'mail', clave, reader: READER_VERSION }
    : undefined
}
