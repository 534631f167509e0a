import { createHash } from 'node:crypto'
import { requireAgent, requireCompany } from '../../../domain/directory/directory.ts'
import { retryDocument } from '../../../domain/documents/claims/outcomes.ts'
import { AppError } from '../../../runtime/errors.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import {
  type DocumentRow,
  findDocument,
  selectDocuments,
  updatePriority,
} from '../../../store/documents/documents.ts'
import { findResult } from '../../../store/documents/results.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { command, formatTable, printResult, type Terminal } from '../../command.ts'
import { STORAGE, STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import { cliActor } from '../actor.ts'
import { parseId, resultFile, writeNewFile } from '../positionals.ts'
import { notFound, printRows } from '../rows.ts'

export const documentList = command({
  name: 'document list',
  options: ['company', 'agent', 'state', 'limit', 'after', ...STORAGE, 'json'],
  run({ options, terminal, withDatabase }) {
    const [companyId, agentId] = [options.company, options.agent]
    const { after, limit, state } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (companyId !== undefined) await requireCompany(db, companyId)
      if (agentId !== undefined) await requireAgent(db, agentId)
      const rows = await selectDocuments(db, { companyId, agentId, state, after, limit: limit + 1 })
      const documents = rows.slice(0, limit)
      const isLost = documents.some(({ content }) => content === 'lost')
      const isNoted = documents.some(({ note }) => note !== null)
      printRows({ terminal, options }, documents, {
        ID: 'id',
        COMPANY: 'company_id',
        AGENT: 'agent_id',
        OWNER: 'owner_id',
        BYTES: 'size',
        CREATED: 'created_at',
        STATE: 'state',
        MIMETYPE: 'mimetype',
        NAME: 'name',
        ...(isNoted && { NOTE: 'note' }),
        ...(isLost && { CONTENT: 'content' }),
      })
      if (rows.length > limit) terminal.err(`There are more: go on with --after ${documents.at(-1)?.id}\n`)
    })
  },
})

export const documentShow = command({
  name: 'document show',
  positionals: ['ID'],
  options: [...STORAGE, 'json'],
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const result = await findResult(db, id)
      const document = { ...(await needDocument(db, id)), ...(result !== null && { result }) }
      const rows = Object.entries(document).map(([field, value]) => [field, String(value)])
      printResult(terminal, options, document, formatTable(rows))
    })
  },
})

export const documentExport = command({
  name: 'document export',
  positionals: ['ID'],
  options: ['out', ...STORAGE_WITH_BLOBS, 'json'],
  run({ options, positionals, terminal, storage, withDatabase }) {
    const id = parseId(positionals[0])
    const out = resultFile(options.out)
    if (out === undefined && options.json) {
      throw new AppError('usage', '--json needs --out FILE, because the content goes to stdout')
    }
    if (out === undefined && process.stdout.isTTY) {
      throw new AppError('usage', 'stdout is a terminal: give --out FILE, or redirect it (> FILE)')
    }
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const document = await needDocument(db, id)
      using store = await openBlobStore(storage(), engine)
      const { blobs } = store
      if (document.content === 'lost') {
        throw new AppError(
          'failed',
          `the content of document ${id} was lost: cambista doctor says since when`,
        )
      }
      const blob = await blobs.read(document.sha256)
      if (!blob) throw new AppError('failed', `the content of document ${id} is missing (${document.sha256})`)
      const chunks = verifiedBytes(document, blob.stream(), terminal.stop)
      if (out === undefined) for await (const bytes of chunks) terminal.out(bytes)
      else {
        await writeNewFile(out, chunks)
        const line = `document ${id} (${document.size} bytes) written to ${out}`
        printResult(terminal, options, { ...document, file: out }, [line])
      }
    })
  },
})

export const documentSet = command({
  name: 'document set',
  positionals: ['ID'],
  options: ['priority', ...STORAGE, 'json'],
  required: ['priority'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    const { priority } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (!(await updatePriority(db, id, priority))) throw notFound('document', id)
      printResult(terminal, options, await needDocument(db, id), [`document ${id} has priority ${priority}`])
    })
  },
})

export const documentRetry = command({
  name: 'document retry',
  positionals: ['ID'],
  options: [...STORAGE, 'json'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    const by = cliActor(terminal.env)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      await needDocument(db, id)
      const { was, document } = await retryDocument(db, id, by, clock)
      printResult(terminal, options, document, [`document ${id} is new again, it was ${was}`])
    })
  },
})

/** Finds a document. @throws AppError `not-found` */
export async function needDocument(db: ReadDb, id: number): Promise<DocumentRow> {
  const document = await findDocument(db, id)
  if (!document) throw notFound('document', id)
  return document
}

/** Yields the bytes. @throws AppError `failed` at their end if they differ from the uploaded ones */
async function* verifiedBytes(document: DocumentRow, bytes: AsyncIterable<Buffer>, stop: Terminal['stop']) {
  const hash = createHash('sha256')
  for await (const chunk of bytes) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    hash.update(chunk)
    yield chunk
  }
  const sha256 = hash.digest('hex')
  if (sha256 !== document.sha256) {
    const mismatch = `its SHA-256 is ${sha256}, not ${document.sha256}`
    throw new AppError('failed', `the content of document ${document.id} is damaged: ${mismatch}`)
  }
}
