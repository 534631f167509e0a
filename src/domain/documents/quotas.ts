// How many bytes of documents a token and a company may have. What counts is the size of each document, not what it takes
// on the disk: that its content was there already must not show (decisions 3.12).

import { AppError } from '../../errors.ts'
import type { MemoryShare } from '../../memory-budget.ts'
import { quotaText, sizeText } from '../../sizes.ts'
import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { Db } from '../../store/tables.ts'
import type { UploadLook } from '../../store/uploads/look.ts'
import { findCompanyUsage, findTokenUsage } from '../../store/usage.ts'

/** A quota that is set. */
export type Quota = { whose: string; bytes: number; used: number }

/** The quotas that an upload must keep; null: the company, or the token, is not known. */
export async function quotasOf(
  db: Db,
  { tokenId, companyId }: { tokenId: number | null; companyId: number | null },
): Promise<Quota[]> {
  const quotas: Quota[] = []
  const token = tokenId === null ? undefined : await findTokenUsage(db, tokenId)
  if (token && token.quota !== null) {
    quotas.push({ whose: `token ${token.name}`, bytes: token.quota, used: token.used })
  }
  const company = companyId === null ? undefined : await findCompanyUsage(db, companyId)
  if (company && company.quota !== null) {
    quotas.push({ whose: `company ${companyId}`, bytes: company.quota, used: company.used })
  }
  return quotas
}

/** Those that are set of what an upload counts in. */
export function quotasIn({ company, token }: UploadLook, companyId: number): Quota[] {
  const quotas: Quota[] = []
  if (token && token.quota !== null) {
    quotas.push({ whose: `token ${token.name}`, bytes: token.quota, used: token.used })
  }
  if (company.quota !== null) {
    quotas.push({ whose: `company ${companyId}`, bytes: company.quota, used: company.used })
  }
  return quotas
}

/** @throws AppError `over-quota` that names the first that so many bytes more would exceed */
export function checkQuotas(quotas: readonly Quota[], more: number): void {
  for (const { whose, bytes, used } of quotas) {
    if (used + more <= bytes) continue
    const left = bytes - used
    const what =
      left > 0 ? `the documents of this request do not fit in the ${sizeText(left)} left` : 'nothing is left'
    throw new AppError(
      'over-quota',
      `The quota of ${quotaText(bytes)} of ${whose} is used up: ${what}, none was kept`,
    )
  }
}

type BeginBatch = (memory: MemoryShare) => BlobBatch

/** Begins batches as `begin` does, and ends the reading of an upload when what it holds together exceeds a quota. */
export function withinQuotas(quotas: readonly Quota[], begin: BeginBatch): BeginBatch {
  if (quotas.length === 0) return begin
  let bytes = 0 // of all batches: of a repeated field the last value counts, and the others are discarded
  return (memory) => {
    const batch = begin(memory)
    let inBatch = 0
    const count = (more: number) => {
      inBatch += more
      bytes += more
    }
    return {
      ...batch,
      begin() {
        const writer = batch.begin()
        let own = 0
        return {
          ...writer,
          write(chunk) {
            own += chunk.length
            count(chunk.length)
            checkQuotas(quotas, bytes)
            return writer.write(chunk)
          },
          discard() {
            count(-Math.min(own, inBatch))
            own = 0
            return writer.discard()
          },
        }
      },
      discard() {
        count(-inBatch)
        return batch.discard()
      },
    }
  }
}
