// What the log says of each upload (decisions 3.9): what became of its documents, in one line, and at debug a line for
// each of them.

import { setImmediate } from 'node:timers/promises'
import type { Accepted } from '../../../domain/documents/accept.ts'
import { isDocuments, type Upload } from '../../../domain/documents/upload.ts'
import { AppError } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { documentsOf } from './answer.ts'

/** The request's id, and the name of its token. */
type About = { id: string; token: string }

const INDICES = 20
const LINES_AT_ONCE = 500

export async function logAccepted(
  log: Log,
  about: About,
  { batch, isRepeated, runs }: Accepted,
): Promise<void> {
  const { agentId: agent, companyId: company, files, contents } = batch
  const [begin, end] = [runs[0], runs.at(-1)]
  log.info(isRepeated ? 'upload repeated' : 'documents created', {
    id: about.id,
    first: begin?.id,
    last: end && end.id + end.count - 1,
    count: files.count(),
    agent,
    company,
    token: about.token,
  })
  if (isRepeated) return
  let lines = 0
  for (const { id, name, mimetype, content } of documentsOf(batch, runs)) {
    const { size, sha256 } = contents.at(content)
    log.debug('document created', { id: about.id, document: id, name, mimetype, size, sha256 })
    if (++lines % LINES_AT_ONCE === 0) await setImmediate()
  }
}

/** `upload` is what was read of it; undefined: nothing. A defect of ours has a line of its own. */
export function logRefused(log: Log, about: About, error: unknown, upload: Upload | undefined): void {
  if (!(error instanceof AppError)) return
  const documents = upload?.documents
  const { total, faults, faulty } = isDocuments(documents) ? documents : { total: 0, faults: [], faulty: 0 }
  log.warn('upload refused', {
    id: about.id,
    reason: error.message,
    count: total,
    bad: faulty > 0 ? faulty : undefined,
    indices:
      faulty > 0
        ? faults
            .slice(0, INDICES)
            .map(({ index }) => index)
            .join(',')
        : undefined,
    token: about.token,
  })
  for (const { index, field, message } of faults) {
    log.debug('document refused', { id: about.id, index, field, reason: message })
  }
}
