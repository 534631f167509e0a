// What an administrator of a database does that several nodes share.

import { AppError } from '../../../errors.ts'
import { openContents } from '../../../store/blobs/open.ts'
import type { Place } from '../../../store/place.ts'
import { flag } from '../../call-options.ts'
import { command, printResult } from '../../command.ts'
import { PLACE, WHOLE_PLACE } from '../../place/options.ts'
import { progressOf } from '../../progress.ts'

const DONE_IN_PART = 3

export const databaseMigrate = command({
  name: 'database migrate',
  positionals: [],
  summary: 'make the tables of a database that nodes share, or bring them to this version',
  about: `A start of the server does the same, unless it has --no-migrate. Nodes of the version before may go on meanwhile. What was
cut off is gone on with when it is called again.`,
  options: ['dry-run', ...PLACE, 'json'],
  own: { 'dry-run': flag('only print the SQL') },
  changesData: false,
  example: 'cambista database migrate --database-file /etc/cambista/database --dry-run',
  async run({ options, terminal, place }) {
    const url = databaseOf(place())
    const { plannedUpgrade, upgrade } = await import('../../../store/postgres/maintenance/upgrade.ts')
    const dryRun = options['dry-run']
    const { place: name, from, to, statements } = await (dryRun ? plannedUpgrade : upgrade)(url)
    const document = { database: name, from: from ?? null, to, dry_run: dryRun, statements }
    const words =
      statements.length === 0
        ? `the database ${name} has schema ${to}, as it should be`
        : `the database ${name} had ${from === undefined ? 'no tables' : `schema ${from}`} and has schema ${to} now`
    printResult(terminal, options, document, dryRun && statements.length > 0 ? statements : [words])
    return 0
  },
})

export const databaseRestored = command({
  name: 'database restored',
  positionals: [],
  summary: 'make a database ready that was restored to an earlier moment, before any node starts',
  about: `New ids begin 1,000,000 higher, so that none means two things; no client takes what it kept for fresh; of what was
answered since that moment as_of says that it is not known; and all contents are looked for: one that is missing is
answered with 410, and an upload of the same bytes brings it back. What was revoked after that moment is valid again:
revoke it once more.`,
  options: [...WHOLE_PLACE, 'json'],
  changesData: true,
  example:
    'cambista database restored --database-file /etc/cambista/database --blobs s3://cambista/documents',
  async run({ options, terminal, place: placeOf, withDatabase }) {
    const place = placeOf()
    databaseOf(place)
    const { renewDatabase } = await import('../../../domain/move/restored.ts')
    return withDatabase({ mustExist: true }, async (db, engine) => {
      using store = await openContents(place, engine)
      await store.check() // of a folder that is not mounted all would be said to be lost
      const { blobs } = store
      const line = progressOf(terminal)
      const progress = (done: number) => line.show(`${done} contents`)
      const { epoch, ids, gap, contents, lost } = await renewDatabase({
        ...{ db, blobs, clock: engine.clock, progress },
      }).finally(line.clear)
      const [from, to] = gap ? [instantText(gap.from), instantText(gap.to)] : []
      const document = { epoch, last_ids: ids, unknown: gap ? { from, to } : null, contents, lost }
      printResult(terminal, options, document, [
        `the database is another one now: the next document is ${(ids.documents ?? 0) + 1}`,
        gap
          ? `what was answered from ${from} to ${to} is not known (as_of)`
          : 'it had answered nothing before',
        `${contents} contents, ${lost} of them missing${lost > 0 ? ': cambista doctor names their documents' : ''}`,
        'keys and tokens that were revoked since are valid again: revoke them once more',
      ])
      return lost > 0 ? DONE_IN_PART : 0
    })
  },
})

function instantText(ms: number): string {
  return new Date(ms).toISOString()
}

/** @throws AppError `usage` where the data are in a data directory */
export function databaseOf({ database }: Place): string {
  if (database !== undefined) return database
  throw new AppError('usage', 'this is about a database that nodes share: give --database or --database-file')
}
