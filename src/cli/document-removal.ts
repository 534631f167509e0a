// Deleting documents. Each deletion is a log line on stderr that says who did it.

import { userInfo } from 'node:os'
import { join } from 'node:path'
import { needCompany } from '../domain/directory.ts'
import { oldDocuments, purgeDocuments, removeDocuments } from '../domain/removal.ts'
import { AppError } from '../errors.ts'
import { createLog, type LogFields, type LogFormat } from '../log.ts'
import { openBlobs } from '../store/blobs.ts'
import type { DocumentRow } from '../store/documents.ts'
import type { Environment, Values } from './args.ts'
import { type Command, printResult, type Terminal } from './command.ts'
import { withDatabase } from './data-dir.ts'
import { needDocument } from './document.ts'
import { idOf } from './words.ts'

const DAY_MS = 86_400_000

export const documentDelete: Command = {
  name: 'document delete',
  takes: ['ID'],
  summary: 'delete one document for good, and its content unless another document has the same',
  options: ['data-dir', 'log-format', 'json'],
  example: 'cambista document delete 41',
  run({ values, words, terminal }) {
    const id = idOf(words[0])
    const log = openLog(values, terminal)
    return withDatabase(values, { mustExist: true }, async (db) => {
      const document = await needDocument(db, id)
      const blobs = await openBlobs(join(values.text('data-dir'), 'blobs'))
      const removed = await removeDocuments(db, blobs, [document], log.deleted).finally(log.flush)
      const content =
        removed.blobs > 0 ? 'its content too' : 'its content stays: another document has the same'
      printResult(terminal, values, { ...removed, id }, [`document ${id} is deleted, ${content}`])
      return 0
    })
  },
}

export const documentPurge: Command = {
  name: 'document purge',
  takes: [],
  summary: 'delete all documents that are old enough for good, of all companies or of one',
  options: ['older-than', 'company', 'dry-run', 'data-dir', 'log-format', 'json'],
  needs: ['older-than'],
  example: 'cambista document purge --older-than 365 --company 7 --dry-run',
  run({ values, terminal }) {
    const age = Number(values.needed('older-than')) * DAY_MS
    const createdUpTo = new Date(Date.now() - age).toISOString()
    const companyId = values.givenNumber('company')
    const log = openLog(values, terminal)
    return withDatabase(values, { mustExist: true }, async (db) => {
      if (companyId !== undefined) await needCompany(db, companyId)
      if (values.on('dry-run')) {
        const sum = { documents: 0, bytes: 0 }
        for await (const batch of oldDocuments(db, { createdUpTo, companyId })) {
          for (const document of batch) log.spared(document)
          sum.documents += batch.length
          sum.bytes += batch.reduce((bytes, { size }) => bytes + size, 0)
        }
        log.flush()
        const line = `would delete ${sum.documents} documents of ${sum.bytes} bytes, uploaded up to ${createdUpTo}`
        printResult(terminal, values, { ...sum, created_up_to: createdUpTo, dry_run: true }, [line])
        return 0
      }
      const blobs = await openBlobs(join(values.text('data-dir'), 'blobs'))
      const purge = { createdUpTo, companyId, signal: terminal.stop, removed: log.deleted }
      const sum = await purgeDocuments(db, blobs, purge).finally(log.flush)
      const line = `deleted ${sum.documents} documents, uploaded up to ${createdUpTo}; ${sum.bytes} bytes are free`
      printResult(terminal, values, { ...sum, created_up_to: createdUpTo, dry_run: false }, [line])
      if (terminal.stop.aborted)
        throw new AppError('failed', 'stopped before the end: run it again for the rest')
      return 0
    })
  },
}

/** To be opened before another user's data directory makes this process that user. */
function openLog(values: Values, terminal: Terminal) {
  const log = createLog({
    level: 'info',
    format: values.text('log-format') as LogFormat,
    write: (text) => terminal.err(text),
  })
  const by = whoRuns(terminal.env)
  return {
    deleted: (document: DocumentRow) => log.info('document deleted', { ...fieldsOf(document), ...by }),
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

function whoRuns(env: Environment): LogFields {
  return { by: userName(), uid: process.getuid?.(), sudo_user: env.SUDO_USER }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // a user id without a name, as containers have it
  }
}
