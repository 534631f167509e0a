import { createHash } from 'node:crypto'
import { needCompany } from '../../../domain/directory/directory.ts'
import { AppError } from '../../../errors.ts'
import { openContents } from '../../../store/blobs/open.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import { type DocumentRow, findDocument, selectDocuments } from '../../../store/documents.ts'
import type { Db } from '../../../store/tables.ts'
import { command, printResult, type Terminal, table } from '../../command.ts'
import { PLACE, WHOLE_PLACE } from '../../place/options.ts'
import { parseId, writeNew } from '../positionals.ts'

export const documentList = command({
  name: 'document list',
  positionals: [],
  summary: 'list documents by id, of all companies or of one, of one agent, in one state; a page at a time',
  options: ['company', 'agent', 'state', 'limit', 'after', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista document list --company 7 --limit 200 --after 1000',
  run({ options, terminal, withDatabase }) {
    const [companyId, agentId] = [options.company, options.agent]
    const { after, limit, state } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (companyId !== undefined) await needCompany(db, companyId)
      if (agentId !== undefined && !(await findAgent(db, agentId))) {
        throw new AppError('not-found', `there is no agent ${agentId}: see cambista agent list`)
      }
      const found = await selectDocuments(db, { companyId, agentId, state, after, limit: limit + 1 })
      const documents = found.slice(0, limit)
      const isLost = documents.some(({ content }) => content === 'lost')
      const isNoted = documents.some(({ note }) => note !== null)
      const rows = documents.map((one) => [
        ...[one.id, one.company_id, one.agent_id, one.owner_id, one.size].map(String),
        one.created_at,
        one.state,
        one.mimetype,
        one.name,
        ...(isNoted ? [one.note ?? ''] : []),
        ...(isLost ? [one.content ?? ''] : []),
      ])
      const head = ['ID', 'COMPANY', 'AGENT', 'OWNER', 'BYTES', 'CREATED', 'STATE', 'MIMETYPE', 'NAME']
      if (isNoted) head.push('NOTE')
      if (isLost) head.push('CONTENT')
      printResult(terminal, options, documents, table([head, ...rows]))
      if (found.length > limit) terminal.err(`There are more: go on with --after ${documents.at(-1)?.id}\n`)
      return 0
    })
  },
})

export const documentShow = command({
  name: 'document show',
  positionals: ['ID'],
  summary: 'show one document, without its content',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista document show 41',
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const document = await needDocument(db, id)
      const rows = Object.entries(document).map(([field, value]) => [field, String(value)])
      printResult(terminal, options, document, table(rows))
      return 0
    })
  },
})

export const documentExport = command({
  name: 'document export',
  positionals: ['ID'],
  summary: "write a document's content to stdout or, with --out, to a new file; its SHA-256 is checked",
  options: ['out', ...WHOLE_PLACE, 'json'],
  changesData: false,
  example: 'cambista document export 41 --out factura.pdf',
  run({ options, positionals, terminal, place, withDatabase }) {
    const id = parseId(positionals[0])
    const { out } = options
    if (out === undefined && options.json) {
      throw new AppError('usage', '--json needs --out FILE, because the content goes to stdout')
    }
    if (out === undefined && process.stdout.isTTY) {
      throw new AppError('usage', 'stdout is a terminal: give --out FILE, or redirect it (> FILE)')
    }
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const document = await needDocument(db, id)
      using contents = await openContents(place(), engine)
      const { blobs } = contents
      if (document.content === 'lost') {
        throw new AppError(
          'failed',
          `the content of document ${id} was lost: cambista doctor says since when`,
        )
      }
      const found = await blobs.read(document.sha256)
      if (!found)
        throw new AppError('failed', `the content of document ${id} is missing (${document.sha256})`)
      const content = checked(document, found.stream(), terminal.stop)
      if (out === undefined) for await (const bytes of content) terminal.out(bytes)
      else {
        await writeNew(out, content)
        const line = `document ${id} (${document.size} bytes) written to ${out}`
        printResult(terminal, options, { ...document, file: out }, [line])
      }
      return 0
    })
  },
})

/** @throws AppError `not-found` */
export async function needDocument(db: Db, id: number): Promise<DocumentRow> {
  const document = await findDocument(db, id)
  if (!document) throw new AppError('not-found', `there is no document ${id}: see cambista document list`)
  return document
}

/** The bytes as they come. @throws AppError `failed` at their end if they are not the ones that were uploaded */
async function* checked(document: DocumentRow, bytes: AsyncIterable<Buffer>, stop: Terminal['stop']) {
  const hash = createHash('sha256')
  for await (const chunk of bytes) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    hash.update(chunk)
    yield chunk
  }
  const sha256 = hash.digest('hex')
  if (sha256 !== document.sha256) {
    const was = `its SHA-256 is ${sha256}, not ${document.sha256}`
    throw new AppError('failed', `the content of document ${document.id} is damaged: ${was}`)
  }
}
