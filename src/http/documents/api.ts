// The documents API: a bearer token, for one part of it and one method or for more (decisions 3.7).

import type { Claiming } from '../../domain/documents/claims/claims.ts'
import type { Log } from '../../log.ts'
import type { Semaphore } from '../../semaphore.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/tables.ts'
import type { Api } from '../api/api.ts'
import { type Keyring, type SessionOf, tokenCredentials } from '../api/auth.ts'
import { agentsEndpoints } from './agents.ts'
import { claimEndpoints } from './claims.ts'
import { deletionEndpoint } from './deletion.ts'
import { createDepartures } from './departures.ts'
import { directoryEndpoints } from './directory.ts'
import { documentsEndpoints } from './documents.ts'
import { DOCUMENTS_ERRORS } from './errors.ts'
import { uploadEndpoints } from './uploads/endpoints.ts'
import type { UploadDeps } from './uploads/receive.ts'

export type DocumentsDeps = UploadDeps & {
  /** The same database, for what only reads. */
  reads: Db
  keyring: Keyring
  sessionOf?: SessionOf
  blobs: Blobs
  claiming: Claiming
  log: Log
}

/** The API, and the semaphore of its uploads, to be looked at. */
export function documentsApi(deps: DocumentsDeps): { api: Api; uploads: Pick<Semaphore, 'status'> } {
  const reading = { ...deps, db: deps.reads }
  const { endpoints: uploads, semaphore } = uploadEndpoints(deps)
  const departures = createDepartures()
  const { claiming } = deps
  const api: Api = {
    prefixes: ['/api/v1/documents', '/api/v1/agent', '/api/v1/companies'],
    errors: DOCUMENTS_ERRORS,
    tag: 'Documents',
    credentials: tokenCredentials(deps.keyring, deps.sessionOf),
    endpoints: [
      ...uploads,
      ...documentsEndpoints({ ...reading, departures }),
      ...claimEndpoints({ claiming, departures }),
      deletionEndpoint({ ...deps, leases: claiming.leases }),
      ...agentsEndpoints(reading),
      ...directoryEndpoints(reading),
    ],
  }
  return { api, uploads: semaphore }
}
