// Downloads that fail: the disk fails, the document is deleted, the client reads nothing or disconnects.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import * as nodeFs from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BlobFs } from '../../../src/store/blobs/folder.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { serverEnd } from '../../support/events/server-ends.ts'
import { listOpenFiles } from '../../support/resources.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

const LARGE = randomBytes(30_000_000)

async function open(
  t: TestContext,
  blobFs?: BlobFs,
  listen: TestAppOptions['listen'] = {},
): Promise<{ app: TestApp; path: string }> {
  const app = await startTestApp(t, { ...(blobFs && { blobFs }), listen })
  await fillDirectory(app)
  const response = await post(app, CREATE, batch({ ...pdf(), base64: LARGE.toString('base64') }))
  assert.equal(response.status, 200, await response.clone().text())
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return { app, path: `/api/v1/documents/${created_documents[0]?.id}/content` }
}

/** Error lines about contents. A poll of the database may fail on a machine that stalls. */
const loggedErrors = (app: TestApp) =>
  app.logLines
    .join('')
    .split('\n')
    .filter((line) => line.includes('"level":"error"') && !line.includes('what changed in the database'))

const openBlobs = (app: TestApp) => listOpenFiles(join(app.dataDir, 'blobs'))

/** Resolves to true if the server no longer listens. */
function isClosed({ app: { url } }: TestApp): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    socket.on('error', () => resolve(true))
    socket.on('connect', () => resolve(!socket.destroy()))
  })
}

/** A client that requests the blob and reads nothing of it. */
function stuckClient(t: TestContext, app: TestApp, path: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.app.url).port) })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKENS.all}\r\n\r\n`)
  return socket
}

test('an unreadable disk is a 500 in the usual format, logged once', async (t) => {
  let broken = false
  const { app, path } = await open(t, {
    ...nodeFs,
    async open(name, flags, mode) {
      if (broken && flags === 'r') throw Object.assign(new Error('EIO: injected'), { code: 'EIO' })
      return nodeFs.open(name, flags, mode)
    },
  })
  broken = true
  const response = await read(app, path)
  assert.equal(response.status, 500)
  assert.deepEqual(await response.json(), { status: 'error', message: 'Internal server error' })
  assert.match(response.headers.get('x-request-id') ?? '', /./)
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(response.headers.get('etag'), null)
  assert.equal(loggedErrors(app).length, 1)
  broken = false
  assert.equal((await (await read(app, path)).arrayBuffer()).byteLength, LARGE.length)
})

test('a disk error in the middle cuts the download, and is logged', async (t) => {
  const { app, path } = await open(t, {
    ...nodeFs,
    async open(name, flags, mode) {
      const file = await nodeFs.open(name, flags, mode)
      const read = async (block: Buffer, from: number, length: number, at: number) => {
        if (at > 0) throw Object.assign(new Error('EIO: injected'), { code: 'EIO' })
        return file.read(block, from, length, at)
      }
      const close = () => file.close()
      const isBlob = flags === 'r' && /[0-9a-f]{64}$/.test(String(name))
      return isBlob ? ({ read, close } as unknown as nodeFs.FileHandle) : file
    },
  })
  const response = await read(app, path)
  await assert.rejects(response.arrayBuffer())
  await until(() => loggedErrors(app).length === 1)
  assert.match(loggedErrors(app)[0] ?? '', /download broke off.*EIO/)
})

test('a document that is deleted during the look-up is a 404', async (t) => {
  let remove: (() => Promise<unknown>) | undefined
  const { app, path } = await open(t, {
    ...nodeFs,
    stat: (async (name: string) => {
      await remove?.()
      if (remove) await nodeFs.unlink(name)
      return nodeFs.stat(name)
    }) as typeof nodeFs.stat,
  })
  remove = () =>
    asOtherProcess(app, async (db) => {
      await db.deleteFrom('documents').execute()
      await db.deleteFrom('attachments').execute()
    })
  const response = await read(app, path)
  assert.equal(response.status, 404)
  const body = { status: 'not found', message: 'Document not found', reason: 'no_document' }
  assert.deepEqual(await response.json(), body)
  assert.deepEqual(loggedErrors(app), [])
})

test('a blob that is missing or has another size is never sent', async (t) => {
  const { app, path } = await open(t)
  const sha256 = createHash('sha256').update(LARGE).digest('hex')
  const blob = join(app.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  await nodeFs.truncate(blob, LARGE.length - 1)
  for (const headers of [undefined, { range: 'bytes=0-9' }])
    assert.equal((await read(app, path, headers)).status, 500)
  await nodeFs.unlink(blob)
  assert.equal((await read(app, path)).status, 500)
  await until(() => loggedErrors(app).length === 3) // lines are written in batches
})

test('clients that disconnect in the middle leave no file open and no error', async (t) => {
  const { app, path } = await open(t)
  for (let client = 0; client < 20; client += 1) {
    const socket = stuckClient(t, app, path)
    await until(() => openBlobs(app).length > 0)
    if (client % 2 === 0) socket.destroy()
    else socket.resetAndDestroy()
    await until(() => openBlobs(app).length === 0)
  }
  assert.deepEqual(loggedErrors(app), [])
})

test('clients that do not read delay close() only briefly', async (t) => {
  const { app, path } = await open(t, undefined, { connections: { connections: 100, unreadMs: 0 } })
  for (let client = 0; client < 40; client += 1) stuckClient(t, app, path)
  await until(() => openBlobs(app).length === 40)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isAppClosed = false
  app.app.close().then(() => {
    isAppClosed = true
  })
  await until(() => isClosed(app))
  t.mock.timers.tick(10_000)
  await until(() => isAppClosed)
  await until(() => openBlobs(app).length === 0)
  assert.deepEqual(loggedErrors(app), [])
})

test('a client that pauses and reads on gets every byte', async (t) => {
  const { app, path } = await open(t)
  const socket = stuckClient(t, app, path)
  const end = await serverEnd(socket)
  await until(() => end.writableNeedDrain)
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.resume()
  socket.end()
  await once(socket, 'close')
  const all = Buffer.concat(pieces)
  assert.ok(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(LARGE))
})
