// A disk on which every flush takes its time: uploads are slow and right, who asks for something else is answered
// meanwhile, and those beyond the turns are told to come again.

import assert from 'node:assert/strict'
import * as nodeFs from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { BlobFs } from '../../../src/store/blobs/folder.ts'
import { startTestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { sendText, WAY_NAMES } from '../../support/documents/ways.ts'
import { until } from '../../support/terminal.ts'
import { figure, scaled } from '../scale.ts'

const FLUSH_MS = 300
const TURNS = 2
const UPLOADS = scaled({ short: 8, long: 40 })
const PATHS = ['/healthz', '/readyz', '/api/v1/rates?on=2026-02-02', '/api/v1/documents?limit=1']

/** The file system with a disk that takes so long for a flush, and until it may go on. */
function slow(flushed: () => Promise<void> | undefined): BlobFs {
  const open = async (...args: Parameters<BlobFs['open']>) => {
    const file = await nodeFs.open(...args)
    const sync = file.sync.bind(file)
    file.sync = async () => {
      await Promise.all([wait(FLUSH_MS), flushed()])
      return sync()
    }
    return file
  }
  return { ...nodeFs, open }
}

test('while a slow disk flushes uploads everything else is answered, and nothing is lost', async (t) => {
  let flushes = 0
  let looked: PromiseWithResolvers<void> | undefined
  const blobFs = slow(() => {
    flushes += 1
    return looked?.promise
  })
  const limits = { maxUploads: TURNS, waitMs: FLUSH_MS }
  const app = await startTestApp(t, { blobFs, limits })
  await fillDirectory(app)
  await app.sync()
  flushes = 0
  looked = Promise.withResolvers()

  const ended: string[] = []
  const answers = Array.from({ length: UPLOADS }, async (_, at) => {
    const response = await sendText(app, WAY_NAMES[at % WAY_NAMES.length] ?? 'JSON', `upload ${at}`)
    ended.push(response.status === 200 ? 'kept' : 'refused')
    return {
      at,
      status: response.status,
      after: response.headers.get('retry-after'),
      text: await response.text(),
    }
  })
  await until(() => flushes > 0)
  for (const path of PATHS) {
    const headers = path.startsWith('/api/v1/documents') ? read(app, path) : app.get(path)
    assert.equal((await headers).status, 200, path)
    ended.push(path)
  }
  await until(() => ended.includes('refused'))
  looked.resolve()
  const uploads = await Promise.all(answers)
  const kept = uploads.filter(({ status }) => status === 200)
  const refused = uploads.filter(({ status }) => status !== 200)
  const firstKept = ended.indexOf('kept')
  for (const path of PATHS) assert.ok(ended.indexOf(path) < firstKept, `${path} waited: ${ended.join(' ')}`)
  assert.ok(kept.length >= TURNS && refused.length > 0)
  for (const { status, after, text } of refused) {
    assert.deepEqual([status, after], [503, '5'])
    assert.match(text, /uploads are under way: try again in a moment/)
  }
  figure(
    t,
    `of ${UPLOADS} uploads on a disk that flushes in ${FLUSH_MS} ms: kept, refused`,
    `${kept.length}, ${refused.length}`,
  )

  for (const { at } of refused.slice(0, 1)) {
    assert.equal((await post(app, CREATE, batch(pdf(`upload ${at}`)))).status, 200)
    kept.push(...uploads.filter((one) => one.at === at))
  }
  const { documents } = (await (await read(app, '/api/v1/documents?limit=200')).json()) as {
    documents: { id: number }[]
  }
  const contents = await Promise.all(
    documents.map(async ({ id }) => (await read(app, `/api/v1/documents/${id}/content`)).text()),
  )
  assert.deepEqual(contents.sort(), kept.map(({ at }) => `upload ${at}`).sort())
})
