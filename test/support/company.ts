// A company with an owner and an agent, and documents of theirs with real contents.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent, createCompany, createOwner } from '../../src/domain/directory/directory.ts'
import type { Deleter } from '../../src/domain/documents/removal.ts'
import { type BlobFolder, openBlobFolder } from '../../src/store/blobs/folder.ts'
import { addUsed } from '../../src/store/documents/usage.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { type DocumentsToInsert, insertFiles } from './documents/insert.ts'
import { TEST_PROVIDERS } from './providers.ts'
import { openTestDatabase } from './temporary.ts'
import { runCommand } from './terminal.ts'

export const COMPANY = 7
export const OWNER = 31
export const AGENT = 12

/** The actor of a deletion on the command line. */
export const ANA: Deleter = { via: 'cli', actor: 'ana', clock: () => new Date('2026-03-24T12:00:00.000Z') }

/** Runs a command on a data directory; what it printed as JSON. @throws if it fails */
export async function runJson<T>(dataDir: string, ...words: string[]): Promise<T> {
  const end = await runCommand([...words, '--data-dir', dataDir, '--json'])
  if (end.code !== 0) throw new Error(`${words.join(' ')}: ${end.err}`)
  return JSON.parse(end.out) as T
}

/** Creates company, owner and agent, without the connections that a command opens: most files of tests call this. */
export async function makeDirectory(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true })
  const db = openTestDatabase(dataDir)
  await ensureCatalogue(db, TEST_PROVIDERS, () => new Date())
  const at = '2026-03-24T12:00:00.000Z'
  const ofCompany = { company_id: COMPANY }
  await createCompany(db, { id: COMPANY, name: 'Café Britt', code: 'BRITT' }, at)
  await createOwner(db, { id: OWNER, name: 'Ana Mora', ...ofCompany }, at)
  await createAgent(db, { id: AGENT, name: 'Facturas', description: '', active: true, ...ofCompany }, at)
  await db.destroy()
}

export function openTestBlobs(dataDir: string): Promise<BlobFolder> {
  return openBlobFolder(join(dataDir, 'blobs'))
}

/** Stores a document for each text, as an upload does, and returns their ids. */
export async function storeTexts(
  db: WriteDb,
  blobs: BlobFolder,
  texts: readonly string[],
  options: { createdAt?: string; createdBy?: number; name?: string } = {},
): Promise<number[]> {
  const files: DocumentsToInsert['files'][number][] = []
  for (const text of texts) {
    const writer = await blobs.beginBlob()
    await writer.write(Buffer.from(text))
    const staged = await writer.finish()
    await blobs.commit([staged])
    const { sha256, size } = staged
    files.push({ name: options.name ?? 'nota.txt', mimetype: 'text/plain', size, sha256 })
  }
  const party = { companyId: COMPANY, agentId: AGENT, ownerId: OWNER, createdBy: options.createdBy ?? null }
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const rows = await db.transaction().execute(async (trx) => {
    await addUsed(trx, [{ companyId: COMPANY, tokenId: party.createdBy, bytes }])
    return insertFiles(trx, { ...party, createdAt: options.createdAt ?? '2026-03-24T12:00:00.000Z', files })
  })
  return rows.map(({ id }) => id)
}

export async function blobHashes(blobs: BlobFolder): Promise<string[]> {
  return Array.fromAsync(blobs.list())
}
