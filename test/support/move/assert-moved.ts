// What must be so after a move, whatever happened on the way.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { openContents } from '../../../src/store/blobs/open.ts'
import { MOVED_TABLES } from '../../../src/store/move/all-rows.ts'
import type { BlobsPlace } from '../../../src/store/place.ts'
import { selectSequences } from '../../../src/store/postgres/maintenance/sequences.ts'
import { DATABASE_FILE } from '../../../src/store/sqlite/database.ts'
import { openNode } from '../postgres/database.ts'
import { ask } from '../postgres/server.ts'
import type { Filled } from './filled-directory.ts'

type Moved = { dataDir: string; folder: string; url: string; blobs?: BlobsPlace; filled: Filled }

/** Row by row, column by column; contents; ids that are given next; and that nodes may start. */
export async function assertMoved(
  t: TestContext,
  { dataDir, folder, url, filled, blobs = { folder } }: Moved,
) {
  const source = new Sqlite(join(dataDir, DATABASE_FILE), { readonly: true })
  t.after(() => source.close())
  const lost = new Set([filled.altered, filled.missing])
  for (const table of MOVED_TABLES) {
    const there = source.prepare(`select * from ${table}`).all() as Record<string, unknown>[]
    assert.ok(there.length > 0, table)
    const columns = Object.keys(there[0] ?? {})
    const here = (await ask(url, `select ${columns.join(', ')} from ${table}`)).filter(
      ({ sha256 }) => table !== 'lost_contents' || !lost.has(String(sha256)),
    )
    assert.deepEqual(textsOf(here, columns), textsOf(there, columns), table)
  }
  const node = await openNode(t, url)
  assert.equal(await node.isReady(), true)
  const [meta] = await ask(url, 'select * from meta')
  const before = source.prepare('select * from meta').get() as Record<string, unknown>
  assert.notEqual(meta?.epoch, before.epoch)
  for (const name of ['data_revision', 'record_from', 'coverage_from']) {
    assert.equal(Number(meta?.[name]), before[name], name)
  }
  const given = new Map((await selectSequences(node.db)).map(({ table, given }) => [table, given]))
  assert.equal(given.get('companies'), 900, 'an id that was deleted is not given again')
  for (const [table, last] of given) {
    const { highest } = source.prepare(`select coalesce(max(id), 0) as highest from ${table}`).get() as {
      highest: number
    }
    assert.ok(last >= highest, table)
  }
  const leases = await ask(
    url,
    `select id from documents where lease_ends > clock_timestamp() + interval '5 minutes'`,
  )
  assert.deepEqual(leases, [{ id: '1' }], 'a claim has its whole lease again')
  assert.deepEqual(
    (await ask(url, 'select sha256 from contents order by 1')).map(({ sha256 }) => sha256),
    filled.contents,
  )
  assert.equal((await ask(url, 'select 1 from lost_contents')).length, 3)
  using contents = await openContents({ dataDir, blobs }, node)
  for (const sha256 of filled.contents) {
    const hash = createHash('sha256')
    for await (const chunk of (await contents.blobs.read(sha256))?.chunks() ?? []) hash.update(chunk)
    assert.equal(hash.digest('hex'), sha256)
  }
}

function textsOf(rows: readonly Record<string, unknown>[], columns: readonly string[]): string[] {
  const text = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value))
  return rows.map((row) => columns.map((name) => text(row[name])).join('|')).sort()
}
