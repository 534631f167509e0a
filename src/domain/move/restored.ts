// After the administrator of a database put it back to an earlier moment: what it lost is written down, and its contents are
// looked for, which were not put back with it.

import type { Clock } from '../../dates.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { insertLostContents, type LostContent } from '../../store/lost-contents.ts'
import { pagesOf } from '../../store/portions.ts'
import {
  type NamedContent,
  selectContentsWithoutRow,
  selectNamedContents,
} from '../../store/postgres/maintenance/content-names.ts'
import { type Renewed, renewRestored } from '../../store/postgres/maintenance/restored.ts'
import type { Db } from '../../store/tables.ts'
import { counted, differences } from './compare.ts'

const AT_ONCE = 500

export type RestoredDatabase = Renewed & {
  /** Contents that documents need and that are not there: of these and no others it is written down. */
  lost: number
  contents: number
}

export type RestoredRequest = {
  db: Db
  blobs: Pick<Blobs, 'list' | 'writtenAt'>
  clock: Clock
  /** Told after each content how many were looked for. */
  progress?: (done: number) => void
}

/** @throws AppError `failed` while a node runs */
export function renewDatabase({ db, blobs, clock, progress }: RestoredRequest): Promise<RestoredDatabase> {
  return renewRestored(db, async (renewed, lock) => {
    const found = { contents: 0, lost: 0 }
    const since = clock().toISOString()
    const note = async (contents: readonly { sha256: string }[]) => {
      const lost = contents.map(({ sha256 }): LostContent => ({ sha256, fault: 'is missing', since }))
      await noteLost(db, lost, lock)
      found.lost += lost.length
    }
    const rows = counted(selectNamedContents(db), () => {
      found.contents += 1
      progress?.(found.contents)
    })
    for await (const page of pagesOf(differences(rows, blobs.list()), AT_ONCE)) {
      const suspects = page.flatMap((one) => (one.only === 'row' ? [one.row] : []))
      await note(await missingAmong(suspects, blobs))
    }
    await note(await selectContentsWithoutRow(db))
    return { ...renewed, ...found }
  })
}

/** They are looked for once more, each by its name: a listing may be old. */
async function missingAmong(
  rows: readonly NamedContent[],
  blobs: Pick<Blobs, 'writtenAt'>,
): Promise<NamedContent[]> {
  const missing: NamedContent[] = []
  for (const row of rows) if (!(await blobs.writtenAt(row.name))) missing.push(row)
  return missing
}

async function noteLost(db: Db, lost: readonly LostContent[], lock: Lock): Promise<void> {
  if (lost.length > 0) await atomically(db, (trx) => insertLostContents(trx, lost), lock)
}
