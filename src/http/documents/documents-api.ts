// The documents API: a bearer token, for one part of it and one method or for more (decisions#tokens).

import type { ClaimDeps } from '../../domain/documents/claims/claiming.ts'
import type { Summaries } from '../../domain/documents/summary.ts'
import type { InvoiceRates } from '../../domain/invoices/rate-check.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type FindSession, type Keyring, tokenCredentials } from '../access/auth.ts'
import type { Api } from '../endpoint/api.ts'
import { createDisconnects } from '../listings/disconnects.ts'
import { agentsEndpoints } from './agents.ts'
import { claimEndpoints } from './claim-endpoints.ts'
import { deletionEndpoint } from './deletion.ts'
import { directoryEndpoints } from './directory.ts'
import { documentsEndpoints } from './documents.ts'
import { DOCUMENTS_ERRORS } from './documents-errors.ts'
import { leftMailsEndpoint } from './left-mails-endpoint.ts'
import { summaryEndpoints } from './summary-endpoint.ts'
import { documentTables } from './table.ts'
import { uploadEndpoints } from './uploads/endpoints.ts'
import { createUploadReceiver, type UploadDeps, type UploadReceiver } from './uploads/receive.ts'

type DocumentsDeps = Omit<UploadDeps, 'waiters' | 'clock'> & {
  /** The same database, for what only reads. */
  reads: ReadDb
  keyring: Keyring
  findSession: FindSession
  claiming: ClaimDeps
  summaries: Summaries
  invoiceRates: InvoiceRates
}

/** Creates the API, and the receiver of its uploads. */
export function documentsApi(deps: DocumentsDeps): { api: Api; uploads: UploadReceiver } {
  const { db, reads, blobs, limits, turns, invoices, wakeHooks, claiming, summaries, invoiceRates, log } =
    deps
  const { waiters, leases, clock } = claiming
  const uploads = createUploadReceiver({
    ...{ db, blobs, limits, turns, invoices, wakeHooks, waiters, clock, log },
  })
  const disconnects = createDisconnects()
  const api: Api = {
    prefixes: [
      '/api/v1/documents',
      '/api/v1/documents.csv',
      '/api/v1/documents.ndjson',
      '/api/v1/agent',
      '/api/v1/companies',
      '/api/v1/mailboxes',
    ],
    errors: DOCUMENTS_ERRORS,
    tag: 'Documents',
    credentials: tokenCredentials(deps.keyring, deps.findSession),
    endpoints: [
      ...uploadEndpoints(uploads),
      ...documentsEndpoints({
        db: reads,
        waiters,
        leases: leases.sql,
        blobs,
        disconnects,
        invoiceRates,
        log,
      }),
      ...documentTables({ db: reads, rates: invoiceRates, log }),
      ...summaryEndpoints(reads, claiming, summaries),
      ...claimEndpoints({ claiming, db: reads, disconnects, invoiceRates }),
      deletionEndpoint(db, blobs, clock, log),
      ...agentsEndpoints(reads),
      ...directoryEndpoints(reads),
      leftMailsEndpoint(reads),
    ],
  }
  return { api, uploads }
}
