// The watch over the change counters of a shared database, which are recorded beside its contents.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { watchLineage } from '../../../../src/domain/operations/lineage-watch.ts'
import { folderStoreIds } from '../../../../src/store/blobs/folder.ts'
import { openStoreId } from '../../../../src/store/blobs/store-id.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const ID = '3a1f0f5e-0000-4000-8000-000000000000'

type Polls = { record?: string; first: number[]; later?: number[] }

/** Watches a database whose first poll has one set of counters, and whose later polls have another. */
async function watch(t: TestContext, { record, first, later = first }: Polls) {
  const dir = temporaryDirectory(t)
  const file = join(dir, 'cambista-contents-counters')
  writeFileSync(join(dir, 'cambista-contents'), ID)
  if (record !== undefined) writeFileSync(file, record)
  const db = temporaryDatabase(t, temporaryDirectory(t))
  await db.updateTable('meta').set({ contents_mark: ID }).execute()
  const generations: number[] = []
  let current = { epoch: 'first', generation: 0, counters: first }
  const lineage = {
    current: () => current,
    fault: () => undefined,
    async raiseGeneration(above: number) {
      generations.push(above)
    },
    block() {},
  }
  const poll = async () => {
    current = { ...current, counters: later }
    return { data: '', access: '', documents: '' }
  }
  const store = openStoreId(db, folderStoreIds(dir), lineage)
  const { close } = await watchLineage({ lineage, poll }, { lineage: store })
  t.after(close)
  return { generations, close, read: () => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '') }
}

test('a start and an end record the change counters', async (t) => {
  const { read, close, generations } = await watch(t, { first: [1, 2, 3, 4], later: [1, 2, 5, 6] })
  assert.equal(read(), 'first 1 2 3 4')
  await close()
  assert.equal(read(), 'first 1 2 5 6')
  assert.deepEqual(generations, [])
})

test('a lower counter than the recorded one renews the database, whichever it is', async (t) => {
  for (const lower of [0, 1, 2, 3]) {
    const first = [7, 7, 7, 7].with(lower, 4)
    const { generations } = await watch(t, { record: 'first 5 5 5 5', first })
    assert.deepEqual(generations, [0], `counter ${lower}`)
  }
})

test('a poll that is older than the record of another node renews nothing', async (t) => {
  const { generations, close, read } = await watch(t, {
    ...{ record: 'first 5 5 5 5', first: [5, 5, 5, 4], later: [5, 5, 5, 6] },
  })
  await close()
  assert.deepEqual([generations, read()], [[], 'first 5 5 5 6'])
})

test('counters of another epoch are not compared', async (t) => {
  const { generations, read } = await watch(t, { record: 'zeroth 9 9 9 9', first: [1, 1, 1, 1] })
  assert.deepEqual([generations, read()], [[], 'first 1 1 1 1'])
})
