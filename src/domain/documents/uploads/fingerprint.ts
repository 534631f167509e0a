// The fingerprint of an upload, by which a repeated request is known (decisions#idempotency).

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FileFields, OptionFields, PartyFields } from '../../../store/documents/documents.ts'
import type { Batch } from './checks.ts'

/** Files of an upload that are processed before other requests have their turn: 1 to 2 ms. */
export const FILES_AT_ONCE = 200

/**
 * Computes a fingerprint of all fields and blobs: equal exactly for equal requests. The priority 0
 * and stored duplicates are left out, as in earlier fingerprints.
 */
export async function computeFingerprint(batch: Batch): Promise<string> {
  const { companyId, agentId, ownerId, priority = 0, duplicates, files, blobs } = batch
  const ids = { companyId, agentId, ownerId } satisfies PartyFields
  const options = { priority: priority > 0 && `,${priority}` } satisfies Record<keyof OptionFields, unknown>
  const hash = createHash('sha256').update(`[${Object.values(ids)},[`)
  let index = 0
  for (const file of files) {
    if (index > 0) hash.update(',')
    const { name, mimetype } = file.sent ?? file
    const fields = { name, mimetype } satisfies FileFields
    hash.update(JSON.stringify([...Object.values(fields), blobs.at(file.blob).sha256]))
    if (++index % FILES_AT_ONCE === 0) await setImmediate()
  }
  const end = [...Object.values(options), duplicates && ',"refuse"'].filter(Boolean).join('')
  return hash.update(`]${end}]`).digest('hex')
}
