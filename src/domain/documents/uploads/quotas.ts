// Quotas: bytes of documents that a token and a company may have. Each document counts with its size, not with its
// use of disk. Otherwise a client would learn which blobs exist already (decisions#equal-contents).

import { AppError } from '../../../runtime/errors.ts'
import type { MemoryShare } from '../../../runtime/memory-budget.ts'
import type { BlobBatch } from '../../../store/blobs/batch.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { UploadContext } from '../../../store/documents/context.ts'
import { findCompanyUsage, findTokenUsage } from '../../../store/documents/usage.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { quotaText, sizeText } from '../../../values/sizes.ts'

/** Least bytes that uploads leave: claims and deletions need room too, 4 MiB of it for the log of SQLite. */
export const LEAST_FREE = 16 * 1024 ** 2

/** A configured quota. */
export type Quota = { whose: string; bytes: number; used: number }

/** Selects the quotas of an upload; null: the company or the token is unknown. */
export async function selectQuotas(
  db: ReadDb,
  { tokenId, companyId }: { tokenId: number | null; companyId: number | null },
): Promise<Quota[]> {
  const token = tokenId === null ? undefined : await findTokenUsage(db, tokenId)
  const company = companyId === null ? undefined : await findCompanyUsage(db, companyId)
  return uploadQuotas({ token, company }, companyId)
}

/** Configured quotas of an upload's company and token. */
export function uploadQuotas(
  { company, token }: Pick<UploadContext, 'token'> & { company: UploadContext['company'] | undefined },
  companyId: number | null,
): Quota[] {
  const quotas: Quota[] = []
  if (token && token.quota !== null) {
    quotas.push({ whose: `token ${token.name}`, bytes: token.quota, used: token.used })
  }
  if (company && company.quota !== null) {
    quotas.push({ whose: `company ${companyId}`, bytes: company.quota, used: company.used })
  }
  return quotas
}

const DOCUMENTS = { overflow: 'the documents of this request do not fit', consequence: 'none was kept' }

/**
 * Checks that `more` bytes fit.
 * @param kind words of the error, by default those of documents
 * @throws AppError `over-quota` that names the first exceeded quota
 */
export function checkQuotas(quotas: readonly Quota[], more: number, kind = DOCUMENTS): void {
  for (const { whose, bytes, used } of quotas) {
    if (used + more <= bytes) continue
    const rest = bytes - used
    const reason = rest > 0 ? `${kind.overflow} in the ${sizeText(rest)} left` : 'nothing is left'
    throw new AppError(
      'over-quota',
      `The quota of ${quotaText(bytes)} of ${whose} is used up: ${reason}, ${kind.consequence}`,
    )
  }
}

/** Checks the free bytes of the store, where they are known. @throws AppError `disk-full` */
export async function checkFreeSpace(blobs: Pick<Blobs, 'freeBytes'>, needed: number): Promise<void> {
  const free = await blobs.freeBytes?.()
  if (free !== undefined && free < needed) throw new AppError('disk-full', 'Not enough free disk space')
}

type BeginBatch = (memory: MemoryShare) => BlobBatch

/** Wraps `begin`: batches abort the reading of an upload when its total exceeds a quota. */
export function withinQuotas(quotas: readonly Quota[], begin: BeginBatch): BeginBatch {
  if (quotas.length === 0) return begin
  let bytes = 0 // in every batch: a repeated field discards the batch of its former value
  return (memory) => {
    const batch = begin(memory)
    let batchBytes = 0
    const count = (more: number) => {
      batchBytes += more
      bytes += more
    }
    return {
      count: () => batch.count(),
      at: (index) => batch.at(index),
      commit: (chosen) => batch.commit(chosen),
      begin() {
        const writer = batch.begin()
        let fileBytes = 0
        return {
          ...writer,
          write(chunk) {
            fileBytes += chunk.length
            count(chunk.length)
            checkQuotas(quotas, bytes)
            return writer.write(chunk)
          },
          discard() {
            count(-Math.min(fileBytes, batchBytes))
            fileBytes = 0
            return writer.discard()
          },
        }
      },
      discard() {
        count(-batchBytes)
        return batch.discard()
      },
    }
  }
}
