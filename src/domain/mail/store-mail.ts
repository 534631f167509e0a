// Stores the documents of a mail as one upload for each of its agents, under the limits of all uploads. Uploads
// and rows of a mail are in one transaction. So each agent gets the mail once, whatever ends the process.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { MailContents, MailPart } from '../../formats/mail/mail.ts'
import { AppError } from '../../runtime/errors.ts'
import { createMemoryBudget, type MemoryBudget } from '../../runtime/memory-budget.ts'
import type { Semaphore } from '../../runtime/semaphore.ts'
import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { type IdRange, rangeIds } from '../../store/documents/idempotency.ts'
import type { NewInvoice } from '../../store/documents/invoices.ts'
import { READER_VERSION } from '../../store/documents/invoices.ts'
import type { Lock } from '../../store/engine.ts'
import { insertDocumentMail } from '../../store/mail/document-mail.ts'
import { insertLeftMail } from '../../store/mail/left-mails.ts'
import { addMailCounts, type MailboxRow } from '../../store/mail/mailboxes.ts'
import { insertMailMessage, selectMailsByKey } from '../../store/mail/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { DocumentWaiters } from '../documents/arrivals.ts'
import { announceUpload } from '../documents/uploads/accept.ts'
import { checkFreeSpace, checkQuotas, selectQuotas, withinQuotas } from '../documents/uploads/quotas.ts'
import { HAS_ANSWER, storeBatches } from '../documents/uploads/store.ts'
import { createUploadedFiles, type InvoiceTally } from '../documents/uploads/uploaded-files.ts'
import { NO_FACTS, recognizeBlob } from '../invoices/recognition.ts'
import { leftMailTexts } from './left-mail-view.ts'
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
  /** Active agents of its tags; none: the mail is for the agent of the mailbox. */
  tagAgents: readonly number[]
  uidvalidity: number
  uid: number
  /** Bytes. */
  size: number
  receivedAt: string
  contents: MailContents
}

/**
 * `isNew` is false if all its agents have the documents already; `isKnown` is true if one of them had. `count`: new
 * documents, beginning with `firstId`.
 */
export type StoredMail = {
  keys: readonly string[]
  isNew: boolean
  isKnown: boolean
  count: number
  firstId?: number | undefined
}

/** Agent of a mail. Each row with one of these keys is proof of its documents. */
type MailRecipient = { agentId: number; keys: readonly string[] }

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
  const recipients = listRecipients(mail, hashes)
  const mainKey = mailKey(mailbox.id, parsed.messageId, hashes)
  const keys = [...new Set([mainKey, ...recipients.flatMap((one) => one.keys)])]
  const rows = await selectMailsByKey(db, keys)
  const uidsByKey = new Map(rows.map(({ key, taken_uid }) => [key, taken_uid]))
  // 1.0.0 recorded no agents, and chose one of them: such a mail is known for all.
  const isOfAll = (uidsByKey.get(mainKey) ?? 0) > 0
  const newRecipients = recipients.filter((one) => !isOfAll && !one.keys.some((key) => uidsByKey.has(key)))
  const repeated = { keys, isNew: false, isKnown: true, count: 0 }
  if (newRecipients.length === 0) return repeated // uses no space
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
    const position = { mailbox_id: mailbox.id, uidvalidity, uid }
    const insertRows = async (trx: WriteDb) => {
      await lock.check(trx)
      await requireSameMailbox(trx, mailbox)
      if (mailbox.by_tag) await insertMailMessage(trx, { key: mainKey, ...position, taken_uid: 0, at })
      for (const key of newRecipients.flatMap((one) => one.keys))
        if (!(await insertMailMessage(trx, { key, ...position, at }))) throw HAS_ANSWER
      await countMail(trx, mail, at)
    }
    const runs = await storeBatches(
      { db, blobs },
      newRecipients.map(({ agentId }, index) => ({
        batch: { companyId, agentId, ownerId: mailbox.owner_id, files, blobs: batch },
        origin: {
          ...{ at, tokenId: null },
          async insertOrigin(trx, runs) {
            if (index === 0) await insertRows(trx)
            await insertOrigins(trx, mail, runs)
          },
        },
        identity: undefined,
      })),
    )
    if (!runs && newRecipients.length > 1) throw new AppError('busy', 'The mail was being stored: try again')
    if (!runs) return repeated
    for (const [index, { agentId }] of newRecipients.entries()) {
      announceUpload(deps, { companyId, agentId }, runs[index] ?? [])
      deps.invoices.addAll(files.invoiceCounts())
    }
    const isKnown = newRecipients.length < recipients.length
    const count = newRecipients.length * files.count()
    return { keys, isNew: true, isKnown, count, firstId: runs[0]?.[0]?.id }
  } finally {
    await batch.discard() // has no effect on committed blobs
  }
}

/** Counts a mail, and lists it if parts were left out. */
async function countMail(
  trx: WriteDb,
  { mailbox, contents, uidvalidity, uid, size }: ReadMail,
  at: string,
): Promise<void> {
  const { length } = contents.left
  await addMailCounts(trx, mailbox.id, { taken: 1, left_out: length })
  const row = { mailbox_id: mailbox.id, uidvalidity, uid, size, at, reason: null }
  if (length > 0) await insertLeftMail(trx, { ...row, ...leftMailTexts(contents) })
}

/** Inserts the mail of documents, which are in the order of its parts. */
async function insertOrigins(
  trx: WriteDb,
  { mailbox, contents, receivedAt }: ReadMail,
  runs: readonly IdRange[],
): Promise<void> {
  const { from_text, subject } = leftMailTexts(contents)
  const rows = [...rangeIds(runs)].map((document_id, index) => ({
    ...{ document_id, mailbox_id: mailbox.id, from_text, subject },
    ...{ received_at: receivedAt, message_id: contents.messageId },
    note: contents.parts[index]?.note ?? null,
  }))
  await insertDocumentMail(trx, rows)
}

/** Returns whom a mail is for, in the order of its tags. */
function listRecipients(
  { mailbox, tagAgents, contents }: ReadMail,
  hashes: readonly string[],
): MailRecipient[] {
  const { id, agent_id: agentId, by_tag } = mailbox
  const agentKey = (agent?: number | 'own') => mailKey(id, contents.messageId, hashes, agent)
  if (!by_tag) return [{ agentId, keys: [agentKey()] }]
  if (tagAgents.length === 0) return [{ agentId, keys: [agentKey('own'), agentKey(agentId)] }]
  return tagAgents.map((agent) => ({ agentId: agent, keys: [agentKey(agent)] }))
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
