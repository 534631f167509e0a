// A restore as clients see it: known ids are never given to other documents, and lost blobs are reported.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../../support/app.ts'
import { blobHashes, openTestBlobs } from '../../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { runCommand, until } from '../../support/terminal.ts'

type Row = { id: number; name: string; content?: string }

type Ground = {
  app: TestApp
  dataDir: string
  set: string
  upload(...texts: string[]): Promise<number[]>
  rowsAfter(id: number): Promise<Row[]>
  backUp(): Promise<void>
  /** Stops the server, moves its data directory away, restores and starts it again. */
  restore(...flags: string[]): Promise<{ code: number; out: string; err: string }>
}

async function ground(t: TestContext): Promise<Ground> {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  const set = join(home, 'set')
  let restoreCount = 0
  const here: Ground = {
    app: await startTestApp(t, { dataDir }),
    dataDir,
    set,
    async upload(...texts) {
      const response = await post(here.app, CREATE, batch(...texts.map((text) => pdf(text, `${text}.pdf`))))
      assert.equal(response.status, 200)
      const { created_documents } = (await response.json()) as { created_documents: Row[] }
      return created_documents.map(({ id }) => id)
    },
    async rowsAfter(id) {
      const response = await read(here.app, `/api/v1/documents?limit=200&after=${id}`)
      return ((await response.json()) as { documents: Row[] }).documents
    },
    async backUp() {
      const backup = await runCommand(['backup', 'create', set, '--data-dir', dataDir])
      assert.equal(backup.code, 0, backup.err)
    },
    async restore(...flags) {
      await here.app.app.close()
      renameSync(dataDir, `${dataDir}.${++restoreCount}`)
      const end = await runCommand(['backup', 'restore', set, '--data-dir', dataDir, ...flags])
      here.app = await startTestApp(t, { dataDir })
      return end
    },
  }
  await fillDirectory(here.app)
  return here
}

test('a client with a cursor beyond the backup skips nothing, and finds no other document under an id', async (t) => {
  const here = await ground(t)
  await here.upload('one')
  await here.backUp()
  assert.deepEqual(await here.upload('two', 'three'), [2, 3])
  let cursor = 3
  const documents = new Map([1, 2, 3].map((id, at) => [id, ['one', 'two', 'three'][at]]))
  for (let restore = 1; restore <= 3; restore++) {
    // The second restore uses the same backup: uploads after the first restore are gone as well.
    assert.equal((await here.restore()).code, 0)
    const lostIds = [...documents.keys()].filter((id) => id > 1)
    for (const id of lostIds) assert.equal((await read(here.app, `/api/v1/documents/${id}`)).status, 404)
    assert.deepEqual(await here.rowsAfter(cursor), [])
    const ids = await here.upload(`new ${restore}`, `newer ${restore}`)
    const rows = await here.rowsAfter(cursor)
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids,
    )
    for (const { id, name } of rows) {
      assert.equal(documents.has(id), false, `${id} was another document`)
      documents.set(id, name)
    }
    cursor = Math.max(...ids)
    assert.equal(ids[0], restore * 1_000_000 + 2)
  }
  await here.backUp()
  assert.equal((await here.restore()).code, 0)
  assert.deepEqual(await here.upload('after another backup'), [cursor + 1_000_001])
})

test('`restore` names keys and tokens that are active again, and they work', async (t) => {
  const here = await ground(t)
  await here.backUp()
  const { app } = here
  const { key } = app
  const listed = JSON.parse((await runCommand(['key', 'list', '--json', '--data-dir', here.dataDir])).out)
  const [{ id, name }] = listed as [{ id: number; name: string }]
  await runCommand(['key', 'revoke', String(id), '--data-dir', here.dataDir])
  const end = await here.restore()
  const line = /^active again: 1 key \((.*)\), (\d+) tokens \((.*)\)$/m.exec(end.out)
  assert.equal(line?.[1], name)
  assert.ok(line?.[3]?.split(', ').includes('test-all'), end.out)
  for (const name of ['test-revoked', 'test-expired']) assert.ok(!line?.[3]?.includes(name), name)
  assert.match(
    end.out,
    /^if one was revoked after 20\S+Z, revoke it again \(cambista key revoke, token revoke\)$/m,
  )
  const response = await fetch(`${here.app.app.url}/api/v1/series`, { headers: { 'x-api-key': key } })
  assert.equal(response.status, 200)
})

test('a lost blob is a 410 and marked in its row; an upload of the same bytes restores it', async (t) => {
  const here = await ground(t)
  const [kept = 0, altered = 0, missing = 0] = await here.upload('kept', 'altered', 'missing')
  const [twin = 0] = await here.upload('missing')
  await here.backUp()
  const inSet = (text: string) => blobPath(join(here.set, 'blobs'), hash('sha256', text))
  rmSync(inSet('missing'))
  rmSync(inSet('altered')) // a hard link: the data directory's file would be altered too
  writeFileSync(inSet('altered'), 'ALTERED')
  const end = await here.restore('--without-damaged')
  assert.equal(end.code, 3, end.err)

  const rows = async () => Object.fromEntries((await here.rowsAfter(0)).map((row) => [row.id, row.content]))
  assert.deepEqual(await rows(), { [kept]: undefined, [altered]: 'lost', [missing]: 'lost', [twin]: 'lost' })
  assert.ok(!('content' in ((await (await read(here.app, `/api/v1/documents/${kept}`)).json()) as Row)))
  const row = (await (await read(here.app, `/api/v1/documents/${missing}`)).json()) as Row
  assert.equal(row.content, 'lost')
  const etag = `"${hash('sha256', 'missing')}"`
  const REQUEST_HEADERS: Record<string, string>[] = [
    {},
    { range: 'bytes=0-1' },
    { range: 'bytes=99-' },
    { 'if-none-match': etag },
  ]
  for (const headers of REQUEST_HEADERS) {
    const response = await read(here.app, `/api/v1/documents/${missing}/content`, headers)
    assert.equal(response.status, 410)
    assert.deepEqual(await response.json(), { status: 'error', message: 'The content was lost' })
    assert.equal(response.headers.get('etag'), null)
    assert.equal(response.headers.get('cache-control'), 'no-store')
  }
  assert.equal((await read(here.app, `/api/v1/documents/${kept}/content`)).status, 200)
  const errors = here.app.logLines.filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(errors, [])
  await until(() =>
    here.app.logLines.some((line) => /contents of documents are lost.*"contents":2/.test(line)),
  )

  const refused = { ...batch(pdf('missing')), agent_id: 2 } // an agent that is not active
  assert.equal((await post(here.app, CREATE, refused)).status, 404)
  assert.equal((await rows())[missing], 'lost')
  await here.upload('missing')
  const healed = await rows()
  assert.deepEqual([healed[missing], healed[twin], healed[altered]], [undefined, undefined, 'lost'])
  for (const id of [missing, twin]) {
    assert.equal(await (await read(here.app, `/api/v1/documents/${id}/content`)).text(), 'missing')
  }
})

test('a replayed upload restores a lost blob too', async (t) => {
  const here = await ground(t)
  const headers = { 'idempotency-key': 'k1' }
  const send = () => post(here.app, CREATE, batch(pdf('once')), headers)
  const first = await (await send()).text()
  await here.backUp()
  rmSync(blobPath(join(here.set, 'blobs'), hash('sha256', 'once')))
  assert.equal((await here.restore('--without-damaged')).code, 3)
  assert.equal((await read(here.app, '/api/v1/documents/1/content')).status, 410)
  assert.equal(await (await send()).text(), first)
  assert.equal(await (await read(here.app, '/api/v1/documents/1/content')).text(), 'once')
  assert.equal((await here.rowsAfter(0)).length, 1)
})

test('a replayed upload stores nothing of documents deleted since', async (t) => {
  const here = await ground(t)
  const headers = { 'idempotency-key': 'k1' }
  const send = () => post(here.app, CREATE, batch(pdf('lost'), pdf('deleted')), headers)
  const first = (await (await send()).json()) as object
  await here.backUp()
  rmSync(blobPath(join(here.set, 'blobs'), hash('sha256', 'lost')))
  assert.equal((await here.restore('--without-damaged')).code, 3)
  const { code, err } = await runCommand(['document', 'delete', '2', '--data-dir', here.dataDir])
  assert.equal(code, 0, err)
  assert.deepEqual(await (await send()).json(), { ...first, deleted: [2] })
  assert.equal(await (await read(here.app, '/api/v1/documents/1/content')).text(), 'lost')
  const blobs = await openTestBlobs(here.dataDir)
  assert.deepEqual(await blobHashes(blobs), [hash('sha256', 'lost')])
})

test('a lost blob that an administrator puts back is found at the next start', async (t) => {
  const here = await ground(t)
  await here.upload('found', 'wrong')
  await here.backUp()
  const places = ['found', 'wrong'].map((text) => hash('sha256', text))
  for (const sha256 of places) rmSync(blobPath(join(here.set, 'blobs'), sha256))
  assert.equal((await here.restore('--without-damaged')).code, 3)
  await here.app.app.close()
  const [found = '', wrong = ''] = places.map((sha256) => blobPath(join(here.dataDir, 'blobs'), sha256))
  for (const path of [found, wrong]) {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, 'found')
  }
  here.app = await startTestApp(t, { dataDir: here.dataDir })
  const isFound = async () => (await read(here.app, '/api/v1/documents/1/content')).status === 200
  await until(isFound)
  assert.equal(await (await read(here.app, '/api/v1/documents/1/content')).text(), 'found')
  assert.equal((await read(here.app, '/api/v1/documents/2/content')).status, 410)
  assert.ok(existsSync(wrong) && readFileSync(wrong, 'utf8') === 'found', 'nothing of it is removed')
})

test('a document with a lost blob can be deleted, and its content uploaded again', async (t) => {
  const here = await ground(t)
  await here.upload('gone')
  await here.backUp()
  rmSync(blobPath(join(here.set, 'blobs'), hash('sha256', 'gone')))
  await here.restore('--without-damaged')
  const command = (...words: string[]) => runCommand([...words, '--data-dir', here.dataDir])
  assert.match((await command('document', 'show', '1')).out, /^content +lost$/m)
  assert.match((await command('document', 'list')).out, /CONTENT\n1 .* lost\n$/)
  const exported = await command('document', 'export', '1', '--out', join(here.dataDir, '../out'))
  assert.equal(exported.code, 1)
  assert.match(exported.err, /the content of document 1 was lost: cambista doctor says since when/)
  const deletion = await command('document', 'delete', '1')
  assert.equal(deletion.out, 'document 1 is deleted, its content was lost already\n')
  const [id = 0] = await here.upload('gone')
  assert.equal((await here.rowsAfter(0))[0]?.content, undefined)
  assert.equal(await (await read(here.app, `/api/v1/documents/${id}/content`)).text(), 'gone')
})
