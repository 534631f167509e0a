// Queries that the document tools call. They are arguments, so the tools know no database (decisions#mcp).

import type { Access } from '../../../domain/documents/access.ts'
import type { ClaimedDocument, ClaimRequest, Worker } from '../../../domain/documents/claims/claiming.ts'
import type { ClaimRef, Completion } from '../../../domain/documents/claims/outcomes.ts'
import type { DocumentsRequest } from '../../../domain/documents/page-request.ts'
import {
  addPartyNames,
  type DocumentsPage,
  listDocuments,
  type NamedDocument,
  requireDocument,
  type WaitOptions,
} from '../../../domain/documents/queries.ts'
import type { Summaries } from '../../../domain/documents/summary.ts'
import type { LinkedDocument, UploadLinks } from '../../../domain/documents/uploads/links.ts'
import {
  addInvoiceSummaries,
  findInvoice,
  type InvoiceSummary,
  type InvoiceView,
} from '../../../domain/invoices/invoice-view.ts'
import type { InvoiceRates } from '../../../domain/invoices/rate-check.ts'
import { findMail, type MailView } from '../../../domain/mail/mail-view.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { DocumentRow } from '../../../store/documents/documents.ts'
import { findResult } from '../../../store/documents/results.ts'
import type { ReadDb } from '../../../store/tables.ts'
import type { Client } from '../../access/auth.ts'

/** A document in a list of an agent. */
export type ListedDocument = NamedDocument & { invoice?: InvoiceSummary }

/** Queries that read and never wait. */
export type DocumentQueries = {
  page(access: Access, request: DocumentsRequest): Promise<DocumentsPage>
  find(access: Access, id: number): Promise<DocumentRow>
  /** Result of a document, to the letter; null: none. */
  findResult(id: number): Promise<string | null>
  addNames(documents: readonly DocumentRow[]): Promise<NamedDocument[]>
  /** Adds the main facts of invoices. */
  addInvoiceSummaries(documents: readonly NamedDocument[]): Promise<ListedDocument[]>
  /** Returns the facts of the invoice of a document; undefined: it is none. */
  findInvoice(access: Access, document: DocumentRow): Promise<InvoiceView | undefined>
  /** Returns the mail that brought a document; undefined: it was uploaded. */
  findMail(document: DocumentRow): Promise<MailView | undefined>
  /** Undefined without a server, which alone knows whether a lease is over. */
  summarize: Summaries['total'] | undefined
  blobs: Pick<Blobs, 'read'>
}

export function documentQueries(
  db: ReadDb,
  blobs: DocumentQueries['blobs'],
  rates: InvoiceRates,
  summarize: DocumentQueries['summarize'],
): DocumentQueries {
  return {
    page: (access, request) => listDocuments(db, access, request),
    find: (access, id) => requireDocument(db, access, id),
    findResult: (id) => findResult(db, id),
    addNames: (documents) => addPartyNames(db, documents),
    addInvoiceSummaries: (documents) => addInvoiceSummaries(db, documents),
    findInvoice: (access, document) => findInvoice({ db, rates }, access, document),
    findMail: (document) => findMail(db, document),
    ...{ summarize, blobs },
  }
}

/** Work that needs the server that receives the documents. */
export type DocumentWork = {
  pageOnceThere(access: Access, request: DocumentsRequest, options: WaitOptions): Promise<DocumentsPage>
  claim(worker: Worker, request: ClaimRequest, options?: WaitOptions): Promise<ClaimedDocument[]>
  finish(worker: Worker, claim: ClaimRef, completion: Completion): Promise<DocumentRow>
  extend(
    worker: Worker,
    claim: ClaimRef,
    leaseSeconds: number,
  ): Promise<DocumentRow & { lease_until: string }>
  release(worker: Worker, claim: ClaimRef): Promise<DocumentRow>
}

/** Uploads, under the limits of all. */
export type DocumentUploads = {
  /** Stores a document and returns its id. */
  uploadText(client: Client, document: LinkedDocument, bytes: Buffer): Promise<number>
  makeLink: UploadLinks['make']
}
