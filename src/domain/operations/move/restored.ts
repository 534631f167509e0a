// Repairs a database after its administrator restored it to an earlier moment. Blobs were not restored with it:
// missing ones are recorded as lost.

import { readPages } from '../../../store/batches.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { StoreId } from '../../../store/blobs/store-id.ts'
import {
  type NamedBlob,
  selectBlobsWithoutRow,
  selectNamedBlobs,
} from '../../../store/documents/blob-rows.ts'
import { insertLostBlobs, type LostBlob } from '../../../store/documents/lost-blobs.ts'
import { atomically } from '../../../store/engine.ts'
import { refuseOpenConnections } from '../../../store/postgres/maintenance/open-connections.ts'
import { type RenewedDatabase, renewRestored } from '../../../store/postgres/maintenance/restored.ts'
import type { WriteDb } from '../../../store/tables.ts'
import type { Clock } from '../../../values/dates.ts'
import { counted, differences } from './compare.ts'

const PAGE = 500

export type RestoredDatabase = RenewedDatabase & {
  /** Blobs that documents need and that do not exist: exactly these are recorded as lost. */
  lost: number
  blobCount: number
}

export type RestoredRequest = {
  db: WriteDb
  blobs: Pick<Blobs, 'list' | 'findModifiedTime'>
  /** The record of the lineage in the blob store. */
  lineage: Pick<StoreId, 'findGeneration' | 'writeLineage' | 'becomeCopy'> | undefined
  /** True: a copy beside the original, with the same blobs. */
  isCopy?: boolean
  clock: Clock
  /** Called after each blob with the number of blobs checked. */
  progress?: (done: number) => void
}

/** Checks that no node runs, before this process opens the database. @throws AppError like `refuseOpenConnections` */
export const refuseNodes = refuseOpenConnections

/** Renews a restored database, which no node uses (`refuseNodes`). @throws AppError like `renewRestored` */
export async function renewDatabase(request: RestoredRequest): Promise<RestoredDatabase> {
  const { db, blobs, lineage, isCopy = false, clock, progress } = request
  const generation = isCopy ? 0 : ((await lineage?.findGeneration()) ?? 0)
  return renewRestored(db, generation, async (renewed, lock) => {
    await (isCopy ? lineage?.becomeCopy(renewed) : lineage?.writeLineage(renewed))
    const counts = { blobCount: 0, lost: 0 }
    const since = clock().toISOString()
    const noteMissing = async (missing: readonly { sha256: string }[]) => {
      const losses = missing.map(({ sha256 }): LostBlob => ({ sha256, fault: 'is missing', since }))
      if (losses.length > 0) await atomically(db, (trx) => insertLostBlobs(trx, losses), lock)
      counts.lost += losses.length
    }
    const rows = counted(selectNamedBlobs(db), () => {
      counts.blobCount += 1
      progress?.(counts.blobCount)
    })
    for await (const page of readPages(differences(rows, blobs.list()), PAGE)) {
      const suspects = page.flatMap((one) => (one.only === 'row' ? [one.row] : []))
      await noteMissing(await filterMissing(suspects, blobs))
    }
    await noteMissing(await selectBlobsWithoutRow(db))
    return { ...renewed, ...counts }
  })
}

/** Checks each suspect by its name, because a listing may be outdated. */
async function filterMissing(
  rows: readonly NamedBlob[],
  blobs: Pick<Blobs, 'findModifiedTime'>,
): Promise<NamedBlob[]> {
  const missing: NamedBlob[] = []
  for (const row of rows) if (!(await blobs.findModifiedTime(row.name))) missing.push(row)
  return missing
}
