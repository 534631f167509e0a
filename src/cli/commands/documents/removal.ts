// Deletes documents. A log line on stderr for each names the user.

import { requireCompany } from '../../../domain/directory/directory.ts'
import {
  logKept,
  oldDocuments,
  purgeDocuments,
  type RemovalResult,
  removeDocuments,
} from '../../../domain/documents/removal.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { LogFields, LogFormat } from '../../../runtime/log.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import type { DocumentRow } from '../../../store/documents/documents.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import { terminalLog } from '../../terminal-log.ts'
import { actorName, currentUser } from '../actor.ts'
import { parseId } from '../positionals.ts'
import { needDocument } from './document.ts'

const DAY_MS = 86_400_000
const GC_OPTION = 'serve --keep-removed'

export const documentDelete = command({
  name: 'document delete',
  positionals: ['ID'],
  options: [...STORAGE_WITH_BLOBS, 'log-format', 'json'],
  changesData: true,
  run({ options, positionals, terminal, storage, withDatabase }) {
    const id = parseId(positionals[0])
    const log = openLog(options['log-format'], terminal)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const { clock } = engine
      const document = await needDocument(db, id)
      using store = await openBlobStore(storage(), engine)
      const { blobs } = store
      const result = await removeDocuments(db, blobs, [document], { ...log.by, clock }, log.deleted)
        .then(log.result)
        .finally(log.flush)
      const remains =
        document.content === 'lost'
          ? 'was lost already'
          : result.kept
            ? 'stays until a server can remove it'
            : 'stays: another document has the same'
      const removal = blobs.keepsRemoved ? `its content goes later (${GC_OPTION})` : 'its content too'
      const fate = result.blobs > 0 ? removal : `its content ${remains}`
      printResult(terminal, options, { ...result, id }, [`document ${id} is deleted, ${fate}`])
    })
  },
})

export const documentPurge = command({
  name: 'document purge',
  options: ['older-than', 'company', 'dry-run', ...STORAGE_WITH_BLOBS, 'log-format', 'json'],
  required: ['older-than'],
  changesData: true,
  run({ options, terminal, storage, withDatabase }) {
    const age = options['older-than'] * DAY_MS
    const companyId = options.company
    const log = openLog(options['log-format'], terminal)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const { clock } = engine
      const cutoff = new Date(clock().getTime() - age).toISOString()
      if (companyId !== undefined) await requireCompany(db, companyId)
      if (options['dry-run']) {
        const sum = { documents: 0, bytes: 0 }
        for await (const batch of oldDocuments(db, { createdUpTo: cutoff, companyId })) {
          for (const document of batch) log.spared(document)
          sum.documents += batch.length
          sum.bytes += batch.reduce((bytes, { size }) => bytes + size, 0)
        }
        log.flush()
        const line = `would delete ${sum.documents} documents of ${sum.bytes} bytes, uploaded up to ${cutoff}`
        printResult(terminal, options, { ...sum, created_up_to: cutoff, dry_run: true }, [line])
        return
      }
      using store = await openBlobStore(storage(), engine)
      const { blobs } = store
      const purge = {
        createdUpTo: cutoff,
        companyId,
        by: { ...log.by, clock },
        signal: terminal.stop,
        onRemoved: log.deleted,
      }
      const sum = await purgeDocuments(db, blobs, purge).then(log.result).finally(log.flush)
      const space = blobs.keepsRemoved ? `go later (${GC_OPTION})` : 'are free'
      const line = `deleted ${sum.documents} documents, uploaded up to ${cutoff}; ${sum.bytes} bytes ${space}`
      printResult(terminal, options, { ...sum, created_up_to: cutoff, dry_run: false }, [line])
      if (terminal.stop.aborted)
        throw new AppError('failed', 'stopped before the end: run it again for the rest')
    })
  },
})

/** Opens the log. Call it before `becomeOwner`, so that the log names the first user. */
function openLog(format: LogFormat, terminal: Terminal) {
  const log = terminalLog(terminal, { level: 'info', format })
  const user = currentUser(terminal.env)
  return {
    by: { via: 'cli', actor: actorName(user) } as const,
    deleted: (document: DocumentRow) =>
      log.info('document deleted', { ...documentFields(document), ...user }),
    spared: (document: DocumentRow) => log.info('document would be deleted', documentFields(document)),
    result(result: RemovalResult) {
      logKept(result, log)
      return result
    },
    flush: () => log.flush(),
  }
}

function documentFields(document: DocumentRow): LogFields {
  const { id, name, size, sha256, company_id, agent_id, owner_id, created_at } = document
  return { id, name, size, sha256, company_id, agent_id, owner_id, created_at }
}
