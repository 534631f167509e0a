// A data directory on a full disk: no new sign-in, and open sessions remain.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'
import { ask, readDetail, signIn } from './support.ts'

const HOUR = 3_600_000
const NOT_STORED = '"event":"the last use of sessions is not stored"'

test('a full disk rejects new sessions with a message, and open ones read on', async (t) => {
  const disk = mountSmallDisk(t, 24 * 1024 ** 2)
  if ('reason' in disk) return t.skip(disk.reason)
  const app = await startTestApp(t, { dataDir: join(disk.dir, 'data') })
  const { url } = app.app
  const browser = await signIn(url, app.key)
  const later = () => {
    app.clock.now = new Date(app.clock.now.getTime() + 11 * HOUR)
  }
  disk.leaveFree(0)
  let refused = await ask(`${url}/session`, { json: { secret: app.key } })
  for (let tries = 0; refused.status === 200 && tries < 1000; tries += 1) {
    refused = await ask(`${url}/session`, { json: { secret: app.key } })
  }
  assert.equal(refused.status, 507)
  assert.match(readDetail(refused), /^Not enough disk space/)
  for (let uses = 0; uses < 3; uses += 1) {
    later()
    assert.equal((await browser.ask('/api/v1/rates')).status, 200)
  }
  await until(() => app.logLines.some((line) => line.includes(NOT_STORED)))
  assert.equal(app.logLines.filter((line) => line.includes(NOT_STORED)).length, 1)
  disk.makeRoom()
  later()
  assert.equal((await browser.ask('/api/v1/rates')).status, 200)
  const selectUse = () =>
    asOtherProcess(app, (db) =>
      db
        .selectFrom('page_sessions')
        .select('id')
        .where('used_at', '=', app.clock.now.toISOString())
        .execute(),
    )
  await until(async () => (await selectUse()).length === 1)
  await signIn(url, app.key)
})
