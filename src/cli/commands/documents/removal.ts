// Deleting documents. Each deletion is a log line on stderr that says who did it.

import { needCompany } from '../../../domain/directory/directory.ts'
import { oldDocuments, purgeDocuments, removeDocuments } from '../../../domain/documents/removal.ts'
import { AppError } from '../../../errors.ts'
import type { LogFields, LogFormat } from '../../../log.ts'
import { openContents } from '../../../store/blobs/open.ts'
import type { DocumentRow } from '../../../store/documents.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { WHOLE_PLACE } from '../../place/options.ts'
import { terminalLog } from '../../terminal-log.ts'
import { actorOf, whoRuns } from '../actor.ts'
import { parseId } from '../positionals.ts'
import { needDocument } from './document.ts'

const DAY_MS = 86_400_000
const LATER = 'serve --keep-removed'

export const documentDelete = command({
  name: 'document delete',
  positionals: ['ID'],
  summary: 'delete one document for good, and its content unless another document has the same',
  options: [...WHOLE_PLACE, 'log-format', 'json'],
  changesData: true,
  example: 'cambista document delete 41',
  run({ options, positionals, terminal, place, withDatabase }) {
    const id = parseId(positionals[0])
    const log = openLog(options['log-format'], terminal)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const { clock } = engine
      const document = await needDocument(db, id)
      using contents = await openContents(place(), engine)
      const { blobs } = contents
      const removed = await removeDocuments(db, blobs, [document], { ...log.by, clock }, log.deleted).finally(
        log.flush,
      )
      const stays = document.content === 'lost' ? 'was lost already' : 'stays: another document has the same'
      const went = blobs.removesLater ? `its content goes later (${LATER})` : 'its content too'
      const content = removed.blobs > 0 ? went : `its content ${stays}`
      printResult(terminal, options, { ...removed, id }, [`document ${id} is deleted, ${content}`])
      return 0
    })
  },
})

export const documentPurge = command({
  name: 'document purge',
  positionals: [],
  summary: 'delete all documents that are old enough for good, of all companies or of one',
  options: ['older-than', 'company', 'dry-run', ...WHOLE_PLACE, 'log-format', 'json'],
  required: ['older-than'],
  changesData: true,
  example: 'cambista document purge --older-than 365 --company 7 --dry-run',
  run({ options, terminal, place, withDatabase }) {
    const age = options['older-than'] * DAY_MS
    const companyId = options.company
    const log = openLog(options['log-format'], terminal)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const { clock } = engine
      const createdUpTo = new Date(clock().getTime() - age).toISOString()
      if (companyId !== undefined) await needCompany(db, companyId)
      if (options['dry-run']) {
        const sum = { documents: 0, bytes: 0 }
        for await (const batch of oldDocuments(db, { createdUpTo, companyId })) {
          for (const document of batch) log.spared(document)
          sum.documents += batch.length
          sum.bytes += batch.reduce((bytes, { size }) => bytes + size, 0)
        }
        log.flush()
        const line = `would delete ${sum.documents} documents of ${sum.bytes} bytes, uploaded up to ${createdUpTo}`
        printResult(terminal, options, { ...sum, created_up_to: createdUpTo, dry_run: true }, [line])
        return 0
      }
      using contents = await openContents(place(), engine)
      const { blobs } = contents
      const purge = {
        createdUpTo,
        companyId,
        by: { ...log.by, clock },
        signal: terminal.stop,
        removed: log.deleted,
      }
      const sum = await purgeDocuments(db, blobs, purge).finally(log.flush)
      const freed = blobs.removesLater ? `go later (${LATER})` : 'are free'
      const line = `deleted ${sum.documents} documents, uploaded up to ${createdUpTo}; ${sum.bytes} bytes ${freed}`
      printResult(terminal, options, { ...sum, created_up_to: createdUpTo, dry_run: false }, [line])
      if (terminal.stop.aborted)
        throw new AppError('failed', 'stopped before the end: run it again for the rest')
      return 0
    })
  },
})

/** To be opened before another user's data directory makes this process that user. */
function openLog(format: LogFormat, terminal: Terminal) {
  const log = terminalLog(terminal, { level: 'info', format })
  const who = whoRuns(terminal.env)
  return {
    by: { via: 'cli', actor: actorOf(who) } as const,
    deleted: (document: DocumentRow) => log.info('document deleted', { ...fieldsOf(document), ...who }),
    spared: (document: DocumentRow) => log.info('document would be deleted', fieldsOf(document)),
    flush: () => log.flush(),
  }
}

function fieldsOf({
  id,
  name,
  size,
  sha256,
  company_id,
  agent_id,
  owner_id,
  created_at,
}: DocumentRow): LogFields {
  return { id, name, size, sha256, company_id, agent_id, owner_id, created_at }
}
