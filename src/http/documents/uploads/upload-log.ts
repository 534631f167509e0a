// Logs each upload (decisions#body): one line, and at debug one line for each document.

import { setImmediate } from 'node:timers/promises'
import type { AcceptedUpload } from '../../../domain/documents/uploads/accept.ts'
import { isDocuments, type Upload } from '../../../domain/documents/uploads/upload.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Log } from '../../../runtime/log.ts'
import { createdDocuments } from './answer.ts'

/** The request's id, and the name of its token. */
type LogContext = { id: string; token: string }

const MAX_INDICES = 20
const LINES_PER_TURN = 500
const CLAVE = /\d{50}/g // no log has that of an invoice

export async function logAccepted(
  log: Log,
  context: LogContext,
  { batch, isRepeated, runs }: AcceptedUpload,
): Promise<void> {
  const { agentId: agent, companyId: company, files, blobs } = batch
  const [begin, end] = [runs[0], runs.at(-1)]
  const invoices = files.invoiceCounts().reduce((sum, { count }) => sum + count, 0)
  log.info(isRepeated ? 'upload repeated' : 'documents created', {
    id: context.id,
    first: begin?.id,
    last: end && end.id + end.count - 1,
    count: files.count(),
    invoices: invoices || undefined,
    agent,
    company,
    token: context.token,
  })
  if (isRepeated) return
  let lines = 0
  for (const { id, name, mimetype, blob } of createdDocuments(batch, runs)) {
    const { size, sha256 } = blobs.at(blob)
    const loggedName = name.replaceAll(CLAVE, '(clave)')
    log.debug('document created', { id: context.id, document: id, name: loggedName, mimetype, size, sha256 })
    if (++lines % LINES_PER_TURN === 0) await setImmediate()
  }
}

/** `upload` is what was read of it; undefined: nothing. A defect of ours has a line of its own. */
export function logRefused(log: Log, context: LogContext, error: unknown, upload: Upload | undefined): void {
  if (!(error instanceof AppError)) return
  const documents = upload?.documents
  const { total, faults, faulty } = isDocuments(documents) ? documents : { total: 0, faults: [], faulty: 0 }
  log.warn('upload refused', {
    id: context.id,
    reason: error.message,
    count: total,
    bad: faulty > 0 ? faulty : undefined,
    indices:
      faulty > 0
        ? faults
            .slice(0, MAX_INDICES)
            .map(({ index }) => index)
            .join(',')
        : undefined,
    token: context.token,
  })
  for (const { index, field, message } of faults) {
    log.debug('document refused', { id: context.id, index, field, reason: message })
  }
}
