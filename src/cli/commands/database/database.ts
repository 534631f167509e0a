// Commands for the administrator of a database that several nodes share.

import { refuseNodes, renewDatabase } from '../../../domain/operations/move/restored.ts'
import { planUpgrade, upgrade } from '../../../domain/operations/move/upgrade.ts'
import { AppError } from '../../../runtime/errors.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import { countOrphans, deleteLosses } from '../../../store/documents/orphans.ts'
import { atomically } from '../../../store/engine.ts'
import type { StorageConfig } from '../../../store/storage-config.ts'
import { countNoun } from '../../../values/sizes.ts'
import { command, printResult } from '../../command.ts'
import { flag } from '../../options/names.ts'
import { STORAGE, STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import { createProgress } from '../../progress-line.ts'

const DONE_IN_PART = 3

export const databaseUpgrade = command({
  name: 'database upgrade',
  options: ['dry-run', ...STORAGE, 'json'],
  overrides: { 'dry-run': flag },
  async run({ options, terminal, storage }) {
    const url = requireDatabase(storage())
    const dryRun = options['dry-run']
    const { location: name, from, to, statements } = await (dryRun ? planUpgrade : upgrade)(url)
    const document = { database: name, from: from ?? null, to, dry_run: dryRun, statements }
    const line =
      statements.length === 0
        ? `the database ${name} has schema ${to}, as it should be`
        : `the database ${name} had ${from === undefined ? 'no tables' : `schema ${from}`} and has schema ${to} now`
    printResult(terminal, options, document, dryRun && statements.length > 0 ? statements : [line])
  },
})

export const databaseRestored = command({
  name: 'database restored',
  options: ['copy', ...STORAGE_WITH_BLOBS, 'json'],
  changesData: true,
  async run({ options, terminal, storage, withDatabase }) {
    const config = storage()
    await refuseNodes(requireDatabase(config))
    const isCopy = options.copy
    return withDatabase({ mustExist: true, anyServer: true }, async (db, { kind, clock }) => {
      using store = await openBlobStore(config, { kind, db, clock }) // without the lineage, which is earlier
      await store.check() // else a folder that is not mounted would count every blob as lost
      const { blobs } = store
      const progressLine = createProgress(terminal)
      const progress = (done: number) => progressLine.show(`${done} contents`)
      const { epoch, ids, gap, blobCount, lost } = await renewDatabase({
        ...{ db, blobs, lineage: store.lineage, isCopy, clock, progress },
      }).finally(progressLine.clear)
      const [from, to] = gap ? [gap.from, gap.to].map((ms) => new Date(ms).toISOString()) : []
      const document = { epoch, last_ids: ids, unknown: gap ? { from, to } : null, contents: blobCount, lost }
      printResult(terminal, options, document, [
        `the database is another one now: the next document is ${(ids.documents ?? 0) + 1}`,
        gap
          ? `what was answered from ${from} to ${to} is not known (as_of)`
          : 'it had answered nothing before',
        `${blobCount} contents, ${lost} of them missing${lost > 0 ? ': cambista doctor names their documents' : ''}`,
        'keys and tokens that were revoked since are valid again: revoke them once more',
        ...(isCopy
          ? [
              'it is a copy: it removes no contents, and its hooks notify the same receivers: delete them with cambista hook delete',
            ]
          : []),
      ])
      return lost > 0 ? DONE_IN_PART : 0
    })
  },
})

export const databaseAcceptLoss = command({
  name: 'database accept-loss',
  options: [...STORAGE, 'json'],
  changesData: true,
  async run({ options, terminal, storage, withDatabase }) {
    requireDatabase(storage())
    return withDatabase({ mustExist: true }, async (db) => {
      const { count, bytes } = await countOrphans(db)
      await atomically(db, deleteLosses)
      const line =
        count === 0
          ? 'no contents were lost'
          : `${countNoun(count, 'content is', 'contents are')} lost for good (${bytes} bytes): the nodes remove such contents in time`
      printResult(terminal, options, { contents: count, bytes }, [line])
    })
  },
})

/** Returns the address of the database. @throws AppError `usage` for a data directory */
export function requireDatabase({ database }: StorageConfig): string {
  if (database !== undefined) return database
  throw new AppError('usage', 'this is about a database that nodes share: give --database or --database-file')
}
