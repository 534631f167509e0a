// The watch over the change counters of a shared database, which are recorded beside its contents.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { watchLineage } from '../../../../src/domain/operations/lineage-watch.ts'
import { folderStoreIds } from '../../../../src/store/blobs/folder.ts'
import { openStoreId } from '../../../../src/store/blobs/store-id.ts'
import { createFaultyFs } from '../../../support/faulty-fs.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const ID = '3a1f0f5e-0000-4000-8000-000000000000'

type Polls = { record?: string; first: number[]; later?: number[]; isFull?: boolean }

/** Watches a database whose first poll has one set of counters, and whose later polls have another. */
async function watch(t: TestContext, { record, first, later = first, isFull = false }: Polls) {
  const dir = temporaryDirectory(t)
  const faulty = createFaultyFs(dir)
  if (isFull) faulty.faults = (call) => (call.startsWith('sync ') ? 'ENOSPC' : undefined)
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
  const store = openStoreId(db, folderStoreIds(dir, faulty.fs), lineage)
  const { close } = await watchLineage({ lineage, poll }, { lineage: store })
  t.after(close)
  return {
    generations,
    close,
    files: () => readdirSync(dir).sort(),
    read: () => (existsSync(file) ? readFileSync(file, 'utf8').trim() : ''),
  }
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

test('over a full store a node starts, and the former record is the only file of its kind', async (t) => {
  const { generations, close, read, files } = await watch(t, {
    ...{ record: 'first 5 5 5 5', first: [6, 6, 6, 6], isFull: true },
  })
  await close()
  assert.deepEqual([generations, read()], [[], 'first 5 5 5 5'])
  assert.deepEqual(files(), ['cambista-contents', 'cambista-contents-counters'])
})

test('over a full store a database that went back is renewed all the same', async (t) => {
  const { generations } = await watch(t, { record: 'first 5 5 5 5', first: [4, 5, 5, 5], isFull: true })
  assert.deepEqual(generations, [0])
})
