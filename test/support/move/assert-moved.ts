// Asserts the state after a move, including one that was interrupted.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { createWaiters } from '../../../src/domain/documents/arrivals.ts'
import { openLeases } from '../../../src/domain/documents/claims/leases.ts'
import { openBlobStore } from '../../../src/store/blobs/open-blobs.ts'
import { MOVED_TABLES } from '../../../src/store/cluster/all-rows.ts'
import { selectSequences } from '../../../src/store/postgres/maintenance/sequences.ts'
import { DATABASE_FILE } from '../../../src/store/sqlite/database.ts'
import type { BlobStoreConfig } from '../../../src/store/storage-config.ts'
import { openNode } from '../postgres/database.ts'
import { queryOnce } from '../postgres/server.ts'
import type { FilledDirectory } from './filled-directory.ts'

type MoveResult = {
  dataDir: string
  folder: string
  url: string
  blobs?: BlobStoreConfig
  filled: FilledDirectory
}

/** Compares rows, columns and blobs, checks the next ids, and that nodes may start. */
export async function assertMoved(
  t: TestContext,
  { dataDir, folder, url, filled, blobs = { folder } }: MoveResult,
) {
  const source = new Sqlite(join(dataDir, DATABASE_FILE), { readonly: true })
  t.after(() => source.close())
  const lostBlobs = new Set([filled.altered, filled.missing])
  for (const table of MOVED_TABLES) {
    const sourceRows = source.prepare(`select * from ${table}`).all() as Record<string, unknown>[]
    assert.ok(sourceRows.length > 0, table)
    const columns = Object.keys(sourceRows[0] ?? {}).filter((name) => name !== 'lease_ends')
    const targetRows = (await queryOnce(url, `select ${columns.join(', ')} from ${table}`)).filter(
      ({ sha256 }) => table !== 'lost_contents' || !lostBlobs.has(String(sha256)),
    )
    assert.deepEqual(rowTexts(targetRows, columns), rowTexts(sourceRows, columns), table)
  }
  for (const table of ['page_sessions', 'page_tickets', 'upload_links'])
    assert.deepEqual(await queryOnce(url, `select * from ${table}`), [])
  const node = await openNode(t, url)
  assert.equal(await node.isReady(), true)
  const [meta] = await queryOnce(url, 'select * from meta')
  const before = source.prepare('select * from meta').get() as Record<string, unknown>
  assert.notEqual(meta?.epoch, before.epoch)
  const names = Object.keys(before).filter((name) => !/^(id|epoch|contents_\w+|schema_hash)$/.test(name))
  for (const name of names) {
    assert.notEqual(before[name] ?? 0, 0, name)
    assert.equal(Number(meta?.[name]), before[name], name)
  }
  const lastIds = new Map((await selectSequences(node.db)).map(({ table, lastId: given }) => [table, given]))
  assert.equal(lastIds.get('companies'), 900, 'an id that was deleted is not given again')
  for (const [table, last] of lastIds) {
    const { highest } = source.prepare(`select coalesce(max(id), 0) as highest from ${table}`).get() as {
      highest: number
    }
    assert.ok(last >= highest, table)
  }
  const time = { clock: node.clock, ticks: () => 0 }
  await (await openLeases(node.db, createWaiters(), time)).close()
  const leases = await queryOnce(
    url,
    `select id from documents where lease_ends > clock_timestamp() + interval '5 minutes'`,
  )
  assert.deepEqual(leases, [{ id: '1' }], 'a claim has its whole lease again')
  assert.deepEqual(
    (await queryOnce(url, 'select sha256 from contents order by 1')).map(({ sha256 }) => sha256),
    filled.contents,
  )
  assert.equal((await queryOnce(url, 'select 1 from lost_contents')).length, 3)
  using contents = await openBlobStore({ dataDir, blobs }, node)
  for (const sha256 of filled.contents) {
    const hash = createHash('sha256')
    for await (const chunk of (await contents.blobs.read(sha256))?.chunks() ?? []) hash.update(chunk)
    assert.equal(hash.digest('hex'), sha256)
  }
}

function rowTexts(rows: readonly Record<string, unknown>[], columns: readonly string[]): string[] {
  const text = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value))
  return rows.map((row) => columns.map((name) => text(row[name])).join('|')).sort()
}
