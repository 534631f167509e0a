// A disk with slow flushes: uploads are slow and correct, other requests are answered at once. Uploads beyond the
// limit get 503 with Retry-After.

import assert from 'node:assert/strict'
import * as nodeFs from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { BlobFs } from '../../../src/store/blobs/folder.ts'
import { startTestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { sendText, UPLOAD_FORM_NAMES } from '../../support/documents/ways.ts'
import { until } from '../../support/terminal.ts'
import { figure, scaled } from '../scale.ts'

const FLUSH_MS = 300
const MAX_UPLOADS = 2
const UPLOADS = scaled({ short: 8, long: 40 })
const PATHS = ['/healthz', '/readyz', '/api/v1/rates?on=2026-02-02', '/api/v1/documents?limit=1']

/** A file system whose flushes take FLUSH_MS, and until the test lets them continue. */
function slowFs(waitForTest: () => Promise<void> | undefined): BlobFs {
  const open = async (...args: Parameters<BlobFs['open']>) => {
    const file = await nodeFs.open(...args)
    const sync = file.sync.bind(file)
    file.sync = async () => {
      await Promise.all([wait(FLUSH_MS), waitForTest()])
      return sync()
    }
    return file
  }
  return { ...nodeFs, open }
}

test('other requests are answered while a slow disk flushes uploads, and no upload is lost', async (t) => {
  let flushes = 0
  let othersAnswered: PromiseWithResolvers<void> | undefined
  const blobFs = slowFs(() => {
    flushes += 1
    return othersAnswered?.promise
  })
  const limits = { maxUploads: MAX_UPLOADS, waitMs: FLUSH_MS }
  const app = await startTestApp(t, { blobFs, limits })
  await fillDirectory(app)
  await app.sync()
  flushes = 0
  othersAnswered = Promise.withResolvers()

  const finishOrder: string[] = []
  const answers = Array.from({ length: UPLOADS }, async (_, at) => {
    const response = await sendText(
      app,
      UPLOAD_FORM_NAMES[at % UPLOAD_FORM_NAMES.length] ?? 'JSON',
      `upload ${at}`,
    )
    finishOrder.push(response.status === 200 ? 'stored' : 'rejected')
    return {
      at,
      status: response.status,
      after: response.headers.get('retry-after'),
      text: await response.text(),
    }
  })
  await until(() => flushes > 0)
  for (const path of PATHS) {
    const response = path.startsWith('/api/v1/documents') ? read(app, path) : app.get(path)
    assert.equal((await response).status, 200, path)
    finishOrder.push(path)
  }
  await until(() => finishOrder.includes('rejected'))
  othersAnswered.resolve()
  const uploads = await Promise.all(answers)
  const storedUploads = uploads.filter(({ status }) => status === 200)
  const rejected = uploads.filter(({ status }) => status !== 200)
  const firstStored = finishOrder.indexOf('stored')
  for (const path of PATHS)
    assert.ok(finishOrder.indexOf(path) < firstStored, `${path} waited: ${finishOrder.join(' ')}`)
  assert.ok(storedUploads.length >= MAX_UPLOADS && rejected.length > 0)
  for (const { status, after, text } of rejected) {
    assert.deepEqual([status, after], [503, '5'])
    assert.match(text, /uploads are under way: try again in a moment/)
  }
  figure(
    t,
    `of ${UPLOADS} uploads on a disk that flushes in ${FLUSH_MS} ms: stored, rejected`,
    `${storedUploads.length}, ${rejected.length}`,
  )

  for (const { at } of rejected.slice(0, 1)) {
    assert.equal((await post(app, CREATE, batch(pdf(`upload ${at}`)))).status, 200)
    storedUploads.push(...uploads.filter((upload) => upload.at === at))
  }
  const { documents } = (await (await read(app, '/api/v1/documents?limit=200')).json()) as {
    documents: { id: number }[]
  }
  const contents = await Promise.all(
    documents.map(async ({ id }) => (await read(app, `/api/v1/documents/${id}/content`)).text()),
  )
  assert.deepEqual(contents.sort(), storedUploads.map(({ at }) => `upload ${at}`).sort())
})
