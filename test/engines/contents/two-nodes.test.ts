// Objects of blobs over two nodes: uploads and deletions of equal blobs, and garbage collection.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  type PathLike,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import * as fs from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { collectGarbage, type GcResult } from '../../../src/domain/documents/gc.ts'
import { watchLineage } from '../../../src/domain/operations/lineage-watch.ts'
import { AppError } from '../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../src/runtime/memory-budget.ts'
import { isDatabaseError, storageError } from '../../../src/runtime/storage-error.ts'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import type { BlobFs } from '../../../src/store/blobs/folder.ts'
import { type BlobStore, openBlobStore } from '../../../src/store/blobs/open-blobs.ts'
import { STORE_ID_NAME } from '../../../src/store/blobs/store-id.ts'
import { deleteLosses, insertLoss, selectOrphans } from '../../../src/store/documents/orphans.ts'
import { atomically, type Engine, type Lock } from '../../../src/store/engine.ts'
import type { BlobStoreConfig } from '../../../src/store/storage-config.ts'
import { type FakeBucket, startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { dropBlob } from '../../support/documents/drop.ts'
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const YEARS_AGO = new Date('2001-01-01T00:00:00Z')
const NEVER = new AbortController().signal
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

type Node = { engine: Engine; shared: BlobStore }
/** The answer to a client that is to send it again. */
const unavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable'

type Store = {
  url: string
  nodes: [Node, Node]
  /** The names of all that is there. */
  names(): string[]
  /** Makes something look as if it were written long ago. */
  age(name: string): void
  /** Another node's contents. */
  open(): Promise<BlobStore>
  /** Content of the store id file. */
  marks: { get(): string[]; set(mark: string | undefined): void }
  /** Takes something away, as an accident does. */
  lose(name: string): void
  /** From now on it cannot be removed; what is returned lets it go. */
  hold(name: string): () => void
  /** The clock of a collection for which all objects are old enough. */
  late?: Date
}

const STORES = { 'a shared folder': overFolder, 'a bucket': overBucket }
for (const [name, open] of Object.entries(STORES)) {
  const testStore = (title: string, run: (store: Store) => Promise<void>) =>
    test(`${name}: ${title}`, async (t) => run(await open(t)))

  testStore('a content that both nodes upload at once is one content', async (store) => {
    const [one, other] = store.nodes
    for (let at = 0; at < 10; at++) {
      const contents = Array.from({ length: 20 }, () => randomBytes(100))
      await Promise.all([upload(one, contents), upload(other, contents.toReversed())])
      for (const bytes of contents) assert.ok(await isReadable(other, bytes))
    }
    const [{ rows } = {}] = await queryOnce(store.url, 'select count(*)::int as rows from contents')
    assert.equal(rows, 200)
  })

  testStore('what no document needs any more goes when it was kept long enough', async (store) => {
    const [one, other] = store.nodes
    const [gone, stays] = [randomBytes(100), randomBytes(100)]
    const first = await upload(one, [gone, stays])
    await upload(other, [stays])
    for (const id of first) await remove(other, id)
    assert.equal(await isReadable(one, stays), true)
    for (const each of store.names()) store.age(each)
    assert.equal((await sweep(one, { days: 8 })).removed, 0)
    await queryOnce(store.url, `update removed_objects set removed_at = '2026-01-01T00:00:00.000Z'`)
    const gcResult = await sweep(other, { days: 8 })
    assert.equal(gcResult.removed, name === 'a bucket' ? 2 : 1, 'and the object of the second upload')
    assert.equal(await isReadable(one, stays), true)
    assert.equal(store.names().length, 1)
    assert.equal((await sweep(other, { days: 8 })).removed, 0)
  })

  testStore('a database that is put back to an earlier moment finds every content', async (store) => {
    const [one, other] = store.nodes
    const contents = Array.from({ length: 30 }, () => randomBytes(100))
    const ids = await upload(one, contents)
    const tables = ['attachments', 'contents', 'removed_objects']
    for (const table of tables)
      await queryOnce(store.url, `create table ${table}_then as select * from ${table}`)
    for (const [at, id] of ids.entries()) {
      await remove(at % 2 ? one : other, id)
      if (at % 3 === 0) await upload(one, [contents[at] as Buffer]) // under another name, of objects
    }
    for (const each of store.names()) store.age(each)
    await sweep(one, { days: 8, again: true })
    for (const table of tables.toReversed()) {
      await queryOnce(
        store.url,
        `delete from ${table}; insert into ${table} overriding system value select * from ${table}_then`,
      )
    }
    for (const bytes of contents) assert.ok(await isReadable(other, bytes))
    await sweep(one, { days: 8, again: true })
    for (const bytes of contents) assert.ok(await isReadable(other, bytes))
  })

  testStore('orphans go when they are old, after the same time, and nothing else does', async (store) => {
    const [one, other] = store.nodes
    const kept = randomBytes(100)
    await upload(one, [kept])
    const [named] = store.names()
    await upload(other, [randomBytes(100), randomBytes(100)], { fails: true })
    const [old, young] = store.names().filter((each) => each !== named)
    assert.ok(old && young && named)
    store.age(old)
    store.age(named)
    assert.deepEqual(await sweep(one, { days: 8, again: true }), {
      removed: 0,
      kept: 0,
      unnamed: 1,
      unfinished: 0,
    })
    assert.deepEqual(await sweep(other, { days: 8, again: true }), {
      removed: 0,
      kept: 0,
      unnamed: 0,
      unfinished: 0,
    })
    assert.equal((await sweep(other, { days: 0 })).removed, 1)
    assert.deepEqual(store.names().sort(), [young, named].sort())
  })

  testStore('what the store does not give up stays, and all else goes', async (store) => {
    const { nodes } = store
    const ids = await upload(nodes[0], [randomBytes(100), randomBytes(100), randomBytes(100)])
    for (const id of ids) await remove(nodes[0], id)
    for (const each of store.names()) store.age(each)
    await queryOnce(store.url, `update removed_objects set removed_at = '2026-01-01T00:00:00.000Z'`)
    const [kept = ''] = store.names()
    const letGo = store.hold(kept)
    const gcResult = await sweep(nodes[0], { days: 8 })
    assert.match(String(gcResult.because), /EPERM|AccessDenied|refuse/)
    assert.deepEqual([gcResult.removed, gcResult.kept], [2, 1])
    assert.deepEqual(store.names(), [kept])
    letGo()
    assert.equal((await sweep(nodes[1], { days: 8 })).removed, 1)
    assert.deepEqual(store.names(), [])
  })

  testStore('a store without the mark of the database, or with another one, is not used', async (store) => {
    const { nodes, marks, open } = store
    await Promise.all(Array.from({ length: 5 }, async () => (await open()).check()))
    const [mark = assert.fail('there is no mark')] = marks.get()
    await upload(nodes[0], [randomBytes(100)])
    marks.set(undefined)
    await assert.rejects(
      (await open()).check(),
      new RegExp(`not here, .+Is it mounted.+ write ${mark} there`),
    )
    assert.equal(await nodes[0].shared.lineage?.settleLineage(), undefined, 'rates are still served')
    await assert.rejects(upload(nodes[0], [randomBytes(100)]), unavailable)
    marks.set('other')
    await assert.rejects(upload(nodes[0], [randomBytes(100)]), unavailable)
    marks.set(mark)
    await (await open()).check()
    await upload(nodes[0], [randomBytes(100)])
    await queryOnce(store.url, 'update meta set contents_mark = null') // as a new database has it
    await assert.rejects((await open()).check(), new RegExp(`another database are here: .+ says ${mark}`))
    assert.deepEqual(marks.get(), [mark])
    marks.set(undefined)
    await (await open()).check()
    assert.notDeepEqual(marks.get(), [mark])
  })

  testStore(
    'a former primary and a copy may not use the store, and a renewal is recorded there',
    async (store) => {
      const { nodes, marks } = store
      const [{ engine, shared }] = nodes
      await Promise.all(nodes.map((node) => node.shared.check()))
      const [id = ''] = marks.get()
      assert.equal(await shared.lineage?.settleLineage(), undefined)
      assert.deepEqual(marks.get(), [id], 'a database that was never renewed')
      await queryOnce(store.url, 'update meta set timeline = 0')
      for (const node of nodes) await node.engine.poll()
      assert.equal(await shared.lineage?.settleLineage(), undefined)
      const epoch = engine.lineage?.current()?.epoch
      assert.deepEqual(marks.get(), [`${id} ${epoch} 1 1`])
      await upload(nodes[1], [randomBytes(100)])
      const faults = {
        [`${id} later 2 2`]: /former primary \(timeline 1 after 2\)/,
        [`${id} later 1 1`]: /a copy/,
      }
      for (const [mark, fault] of Object.entries(faults)) {
        marks.set(mark)
        assert.match(String(await shared.lineage?.settleLineage()), fault)
        await assert.rejects((await store.open()).check(), unavailable)
        await nodes[1].shared.lineage?.settleLineage()
        await assert.rejects(upload(nodes[1], [randomBytes(100)]), unavailable)
        assert.deepEqual(marks.get(), [mark], 'it stays')
      }
      marks.set(`${id} lost 1 0`)
      assert.equal(await shared.lineage?.settleLineage(), undefined, 'a renewal that a later failover lost')
      const laterEpoch = engine.lineage?.current()?.epoch
      assert.notEqual(laterEpoch, epoch, 'ids are raised again')
      assert.deepEqual(marks.get(), [`${id} ${laterEpoch} 2 1`])
    },
  )

  testStore('a node that has not polled a renewal of another node is no copy', async ({ nodes, url }) => {
    const [{ engine, shared }, late] = nodes
    await Promise.all(nodes.map((node) => node.shared.check()))
    await queryOnce(url, 'update meta set timeline = 0')
    await engine.poll()
    assert.equal(await shared.lineage?.settleLineage(), undefined)
    assert.match(String(await late.shared.lineage?.settleLineage()), /a copy/, 'as of its last poll')
    await (await watchLineage(late.engine, late.shared)).close()
    assert.equal(await late.shared.lineage?.settleLineage(), undefined)
  })

  testStore('contents of lost documents are retained until the operator accepts the loss', async (store) => {
    const [one, other] = store.nodes
    const { db } = one.engine
    const [kept, lost, healed] = [randomBytes(100), randomBytes(200), randomBytes(300)]
    await upload(one, [kept, lost, healed])
    const hashes = [lost, healed].map(sha256Hex)
    const list = hashes.map((hash) => `'${hash}'`).join()
    await queryOnce(
      store.url,
      `delete from attachments where sha256 in (${list}); delete from contents where sha256 in (${list})`,
    )
    const now = Date.now()
    await insertLoss(db, { from: now - 10_000, to: now })
    assert.equal((await sweep(one, { days: 0, again: true })).unnamed, 0)
    assert.deepEqual(
      (await selectOrphans(db, 9)).map(({ sha256, size }) => [sha256, size]).sort(),
      [
        [hashes[0], 200],
        [hashes[1], 300],
      ].sort(),
    )
    await sweep(other, { days: 0, at: store.late, again: true })
    assert.equal(store.names().length, 3, 'however old they are')
    await upload(other, [healed])
    assert.ok(await isReadable(one, healed))
    assert.deepEqual(
      (await selectOrphans(db, 9)).map(({ sha256 }) => sha256),
      [hashes[0]],
    )
    await atomically(db, deleteLosses)
    for (const object of store.names()) store.age(object)
    await sweep(one, { days: 0, at: store.late, again: true })
    assert.equal(await isReadable(one, lost), false)
    assert.ok((await isReadable(one, kept)) && (await isReadable(one, healed)))
    assert.equal(store.names().length, 2)
  })

  testStore(
    'a lost content is retained after another document of the same bytes is deleted',
    async (store) => {
      const [one, other] = store.nodes
      const { db } = one.engine
      const bytes = randomBytes(200)
      const hash = sha256Hex(bytes)
      const orphans = async () => (await selectOrphans(db, 9)).map(({ sha256 }) => sha256)
      const [earlier = 0] = await upload(one, [bytes])
      await remove(other, earlier) // its note of a removal is older than the lost upload
      await wait(20) // a file's time is that of the last tick of the kernel
      await upload(one, [bytes])
      await queryOnce(
        store.url,
        `delete from attachments where sha256 = '${hash}'; delete from contents where sha256 = '${hash}'`,
      )
      const now = Date.now()
      await insertLoss(db, { from: now - 10_000, to: now })
      await sweep(one, { days: 8, again: true })
      assert.deepEqual(await orphans(), [hash])
      const [id = 0] = await upload(other, [bytes])
      await sweep(one, { days: 8, again: true })
      assert.deepEqual(await orphans(), [], 'an upload of the same bytes heals')
      await remove(other, id)
      assert.deepEqual(await orphans(), [hash])
      for (const object of store.names()) store.age(object)
      await sweep(other, { days: 0, at: store.late, again: true })
      assert.equal(store.names().length, 1)
      assert.deepEqual(await orphans(), [hash])
    },
  )

  testStore('a copy of the database reads and stores contents, and removes none', async (store) => {
    const { nodes, marks } = store
    const [one] = nodes
    await one.shared.check()
    const [id] = marks.get()
    const [bytes, orphan] = [randomBytes(100), randomBytes(100)]
    await upload(one, [bytes])
    await upload(one, [orphan], { fails: true })
    const count = store.names().length
    await one.shared.lineage?.becomeCopy(one.engine.lineage?.current() ?? assert.fail())
    assert.deepEqual(marks.get(), [id], 'that of the original stays')
    const copy = { engine: one.engine, shared: await store.open() }
    await copy.shared.check()
    await upload(copy, [randomBytes(100)])
    assert.ok(await isReadable(copy, bytes))
    for (const name of store.names()) store.age(name)
    const result = await sweep(copy, { days: 0, at: store.late, again: true })
    assert.deepEqual(result, { removed: 0, kept: 0, unnamed: 0, unfinished: 0 })
    assert.equal(store.names().length, count + 1)
  })

  testStore('what an upload left that never ended goes when it is old', async ({ nodes: [one, other] }) => {
    const batch = one.shared.blobs.beginBatch(memory())
    const writer = batch.begin()
    for (let at = 0; at < 8; at++) await writer.write(randomBytes(1024 * 1024))
    assert.equal((await sweep(other, { days: 8 })).unfinished, 0)
    assert.equal((await sweep(other, { days: 8, at: new Date(Date.now() + 25 * 3_600_000) })).unfinished, 1)
    await batch.discard()
  })

  testStore('the store is listed once a day, by whichever node', async ({ nodes: [one, other] }) => {
    let lists = 0
    const counting = (node: Node): Node => {
      const { blobs } = node.shared
      const list = () => {
        lists += 1
        return blobs.list()
      }
      return { ...node, shared: { ...node.shared, blobs: { ...blobs, list } } }
    }
    for (const node of [one, other, one]) await sweep(counting(node), { days: 8 })
    assert.equal(lists, 1)
  })

  testStore('a content that is known to be lost is healed by an upload of the same bytes', async (store) => {
    const [one, other] = store.nodes
    const bytes = randomBytes(100)
    await upload(one, [bytes])
    for (const each of store.names()) store.lose(each)
    assert.equal(await isReadable(other, bytes), false)
    const since = '2026-01-01T00:00:00.000Z'
    await one.engine.db
      .insertInto('lost_contents')
      .values({ sha256: sha256Hex(bytes), fault: 'is missing', since })
      .execute()
    await upload(other, [bytes])
    assert.equal(await isReadable(one, bytes), true)
    await sweep(other, { days: 0, again: true })
    assert.deepEqual(await one.engine.db.selectFrom('lost_contents').selectAll().execute(), [])
    assert.equal(await isReadable(one, bytes), true)
  })

  testStore('missing contents are there again after both nodes upload them at once', async (store) => {
    const [one, other] = store.nodes
    const contents = Array.from({ length: 250 }, () => randomBytes(100)) // more than a statement takes
    await upload(one, contents)
    for (const name of store.names()) store.lose(name)
    const half = contents.slice(100)
    await Promise.all([upload(one, [...contents, randomBytes(100)]), upload(other, half), upload(one, half)])
    for (const bytes of contents) assert.ok(await isReadable(other, bytes))
  })

  const DELETIONS = process.env.CAMBISTA_TORTURE === 'long' ? 2000 : 120
  testStore(`${DELETIONS} deletions beside uploads of the same contents take none away`, async (store) => {
    const { nodes, late, url } = store
    const contents = Array.from({ length: 8 }, () => randomBytes(100))
    const ids: number[] = []
    let [deleted, removed, isOver] = [0, 0, false]
    // Deletions go on until a collection has removed a blob, which a slow machine delays.
    const isDone = () => isOver || (deleted >= DELETIONS && removed > 0)
    const worker = async (at: number) => {
      for (let turn = at; !isDone(); turn++) {
        const node = nodes[turn % 2] as Node
        const bytes = contents[turn % contents.length] as Buffer
        const id = ids.length > 1 ? ids.shift() : undefined
        if (id !== undefined) {
          await remove(node, id)
          deleted += 1
          continue
        }
        const [mine = 0] = await repeatWhenBusy(() => upload(node, [bytes]))
        await wait(turn % 20) // as long as nobody deletes it
        const isStored = await repeatWhenBusy(() => isReadable(nodes[at % 2] as Node, bytes))
        assert.ok(isStored, 'a row without its object')
        ids.push(mine)
      }
    }
    const janitor = async () => {
      while (!isDone()) {
        const options = { days: 0, again: true, at: late }
        removed += (await repeatWhenBusy(() => sweep(nodes[deleted % 2] as Node, options))).removed
      }
    }
    const work = [...Array.from({ length: 12 }, (_, at) => worker(at)), janitor()]
    await Promise.all(work).finally(() => {
      isOver = true
    })
    const [{ rowless } = {}] = await queryOnce(
      url,
      'select count(*)::int as rowless from attachments where sha256 not in (select sha256 from contents)',
    )
    assert.equal(rowless, 0)
  })
}

test('a database whose contents are in a bucket is not served with a folder, nor the other way round', async (t) => {
  const dir = temporaryDirectory(t)
  for (const [open, place] of [
    [overFolder, { bucket: 'fakeBucket', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'x' }],
    [overBucket, { folder: dir }],
  ] as const) {
    const { nodes } = await open(t)
    await upload(nodes[0], [randomBytes(10)])
    await assert.rejects(
      openBlobStore({ dataDir: dir, blobs: place }, nodes[0].engine),
      /the contents of this database are in a (folder|bucket), and not in the/,
    )
  }
})

test('an upload that began more than 12 hours ago is refused', async (t) => {
  let now = new Date()
  const { nodes } = await overBucket(t, () => now)
  const batch = nodes[0].shared.blobs.beginBatch(memory())
  const writer = batch.begin()
  await writer.write(Buffer.from('slow'))
  await writer.keep()
  await batch.commit()
  now = new Date(now.getTime() + 12 * 3_600_000 + 1)
  const { db } = nodes[0].engine
  await assert.rejects(
    atomically(db, (trx) => nodes[0].shared.blobs.addReferences(trx, [batch.at(0)])),
    (error) => error instanceof AppError && error.code === 'unavailable',
  )
})

async function overFolder(t: TestContext): Promise<Store> {
  const dir = temporaryDirectory(t)
  const markPath = join(dir, STORE_ID_NAME)
  const lockedNames = new Set<string>()
  const unlink = async (path: PathLike) => {
    if (lockedNames.has(basename(String(path))))
      throw Object.assign(new Error('EPERM: not permitted'), { code: 'EPERM' })
    await fs.unlink(path)
  }
  const nodes = await openNodes(t, { folder: dir }, { fs: { ...fs, unlink } })
  return {
    ...nodes,
    names: () =>
      (readdirSync(dir, { recursive: true }) as string[])
        .map((path) => path.split('/').at(-1) ?? '')
        .filter((name) => name.length === 64),
    age: (name) => utimesSync(blobPath(dir, name), YEARS_AGO, YEARS_AGO),
    lose: (name) => rmSync(blobPath(dir, name)),
    marks: {
      get: () => (existsSync(markPath) ? [readFileSync(markPath, 'utf8').trim()] : []),
      set: (mark) => (mark === undefined ? rmSync(markPath) : writeFileSync(markPath, mark)),
    },
    hold(name) {
      lockedNames.add(name)
      return () => lockedNames.delete(name)
    },
    late: new Date('2999-01-01T00:00:00Z'),
  }
}

async function overBucket(t: TestContext, clock?: () => Date): Promise<Store> {
  const fakeBucket: FakeBucket = await startFakeBucket(t)
  const { bucket, endpoint, region, credentials } = fakeBucket
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey
  const nodes = await openNodes(t, { bucket, endpoint, region, prefix: 'of/cambista' }, { clock })
  const markKey = `of/cambista/${STORE_ID_NAME}`
  const object = (name: string) => {
    const found = fakeBucket.objects.get(name)
    assert.ok(found)
    return found
  }
  return {
    ...nodes,
    names: () => [...fakeBucket.objects.keys()].filter((key) => !key.startsWith(markKey)),
    marks: {
      get: () =>
        [...fakeBucket.objects].flatMap(([key, { bytes }]) =>
          key === markKey ? [String(bytes).trim()] : [],
        ),
      set(mark) {
        if (mark === undefined) fakeBucket.objects.delete(markKey)
        else fakeBucket.objects.set(markKey, { bytes: Buffer.from(mark), modified: new Date() })
      },
    },
    age: (name) => Object.assign(object(name), { modified: YEARS_AGO }),
    lose: (name) => fakeBucket.objects.delete(name),
    hold(name) {
      fakeBucket.faults = (call) => (call.name === 'DeleteObject' && call.key === name ? 'refuse' : undefined)
      return () => {
        fakeBucket.faults = () => undefined
      }
    },
  }
}

type Odd = { clock?: (() => Date) | undefined; fs?: BlobFs }

async function openNodes(t: TestContext, blobs: BlobStoreConfig, { clock, fs }: Odd = {}) {
  const url = await createPostgresSchema()
  const openStore = async (engine: Engine) => {
    const { db, kind, lineage } = engine
    const contents = await openBlobStore(
      { dataDir: '', blobs },
      { kind, db, lineage, clock: clock ?? engine.clock },
      fs,
    )
    t.after(() => contents[Symbol.dispose]())
    return contents
  }
  const openStoreNode = async (): Promise<Node> => {
    const engine = await openNode(t, url)
    return { engine, shared: await openStore(engine) }
  }
  const nodes: [Node, Node] = [await openStoreNode(), await openStoreNode()]
  return { url, nodes, open: () => openStore(nodes[0].engine) }
}

/** Stores blobs and attachments as an upload does; returns the ids. `fails`: stops after the blobs. */
async function upload(
  { engine, shared: { blobs } }: Node,
  contents: readonly Buffer[],
  { fails = false } = {},
): Promise<number[]> {
  const batch = blobs.beginBatch(memory())
  for (const bytes of contents) {
    const writer = batch.begin()
    await writer.write(bytes)
    await writer.keep()
  }
  await batch.commit()
  if (fails) {
    await batch.discard() // has no effect on committed blobs
    return []
  }
  const kept = Array.from({ length: batch.count() }, (_, at) => batch.at(at))
  const storing = atomically(engine.db, async (trx) => {
    if (!(await blobs.addReferences(trx, kept))) throw new AppError('unavailable', 'it was being deleted')
    await trx
      .deleteFrom('lost_contents')
      .where(
        'sha256',
        'in',
        kept.map(({ sha256 }) => sha256),
      )
      .execute()
    const rows = kept.map(({ sha256, size }) => ({
      ...{ name: 'n', mimetype: 'a/b', sha256, size, created_at: '2026-01-01T00:00:00.000Z' },
    }))
    const made = await trx.insertInto('attachments').values(rows).returning('id').execute()
    return made.map(({ id }) => id)
  })
  return storing.finally(() => batch.discard())
}

/** Repeats work as a client does, after a conflict or a time-out of the database. */
async function repeatWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work()
    } catch (error) {
      const failure = isDatabaseError(error) ? storageError(error) : error
      if (!(failure instanceof AppError) || !['unavailable', 'busy'].includes(failure.code)) throw error
    }
  }
}

async function remove({ engine: { db }, shared: { blobs } }: Node, id: number): Promise<void> {
  const deletion = db.deleteFrom('attachments').where('id', '=', id).returning('sha256')
  const [row] = await repeatWhenBusy(() => deletion.execute())
  if (row) await repeatWhenBusy(() => dropBlob(db, blobs, row.sha256))
}

/** `again`: lists the store though it was listed today. */
async function sweep(
  { engine, shared: { blobs } }: Node,
  { days, at, again = false }: { days: number; at?: Date | undefined; again?: boolean },
): Promise<GcResult> {
  const { db, clock } = engine
  let lock: Lock | undefined
  await until(async () => {
    lock = await engine.takeLock('janitor') // a lock whose release had no answer expires
    return lock !== undefined
  })
  assert.ok(lock)
  try {
    if (again)
      await atomically(db, (trx) => trx.updateTable('meta').set({ contents_listed_at: null }).execute())
    const sweepClock = at ? () => at : clock
    return await collectGarbage({ db, clock: sweepClock, blobs, keepRemovedDays: days }, lock, NEVER)
  } finally {
    await lock.release()
  }
}

async function isReadable({ shared: { blobs } }: Node, bytes: Buffer): Promise<boolean> {
  const blob = await blobs.read(sha256Hex(bytes))
  if (!blob) return false
  const chunks: Buffer[] = []
  for await (const chunk of blob.chunks()) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).equals(bytes)
}
