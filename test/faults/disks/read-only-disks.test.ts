// A file system that is read-only from the start, or becomes so under a running server, as ext4 does after errors.
// Stored data are served, no upload is acknowledged without being stored, and errors name the remedy.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../../src/demo/bank.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { ask, readDetail, signIn } from '../../api/web/support.ts'
import { startTestApp } from '../../support/app.ts'
import {
  batch,
  CREATE,
  fillDatabase,
  fillDirectory,
  pdf,
  post,
  read,
  TOKENS,
} from '../../support/directory.ts'
import { sendText, UPLOAD_FORM_NAMES } from '../../support/documents/ways.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, mountTemporary } from '../../support/small-disk.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'
import { PROGRAM } from '../scale.ts'

const DISK = 24 * 1024 ** 2
const AUTH = { authorization: `Bearer ${TOKENS.all}` }

function mount(...words: string[]): void {
  const { status, stderr } = spawnSync('mount', words)
  assert.equal(status, 0, String(stderr))
}

/**
 * A file system with a journal, which `break` makes read-only under open files; or the reason for its absence.
 */
function mountBreakable(t: TestContext) {
  const image = join(temporaryDirectory(t), 'image')
  writeFileSync(image, '')
  truncateSync(image, 2 * DISK)
  if (spawnSync('mkfs.ext4', ['-q', '-F', image]).status !== 0) return { reason: 'mkfs.ext4 is missing' }
  const mountArgs = ['-o', 'loop,errors=remount-ro', image]
  const mountPoint = mountTemporary(t, mountArgs)
  if ('reason' in mountPoint) return mountPoint
  const { dir } = mountPoint
  return {
    dir,
    break() {
      const [, device] =
        new RegExp(`^/dev/(\\S+) ${dir} `, 'm').exec(readFileSync('/proc/mounts', 'utf8')) ?? []
      writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'a test')
    },
    repair() {
      assert.equal(spawnSync('umount', [dir]).status, 0)
      mount(...mountArgs, dir)
    },
  }
}

test('a server on a file system that errors made read-only serves reads, and answers writes with 503', async (t) => {
  const disk = mountBreakable(t)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  mkdirSync(dataDir)
  await fillDatabase(dataDir)
  const { out } = await runCommand(['key', 'create', 'test', '--data-dir', dataDir])
  const today = () => currentDay(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const flags = ['--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', addDays(today(), -40)]
  const words = [
    'serve',
    '--data-dir',
    dataDir,
    '--port',
    '0',
    '--min-free',
    '0',
    '--sync-cron',
    '* * * * * *',
  ]
  const start = () => startProgram(t, [...words, ...flags], { CAMBISTA_BCCR_TOKEN: 'test-token' }, PROGRAM)
  const upload = (url: string, text: string) =>
    fetch(url + CREATE, { method: 'POST', headers: AUTH, body: JSON.stringify(batch(pdf(text))) })
  const first = start()
  const [, url = ''] = await first.waitForOutput(/url=(\S+)/)
  assert.equal((await upload(url, 'stored')).status, 200)
  await first.waitForOutput(/sync finished .*status=ok/)
  const browser = await signIn(url, out.trim())

  disk.break()
  const rejection = await upload(url, 'lost')
  assert.equal(rejection.status, 503)
  assert.match(await rejection.text(), /Documents cannot be stored at the moment/)
  await first.waitForOutput(/sync failed .*(disk I\/O error|read-?only)/)
  const headers = { ...AUTH, 'x-api-key': out.trim() }
  for (const path of [
    '/healthz',
    '/readyz',
    '/api/v1/rates/latest',
    '/api/v1/sync/runs',
    '/api/v1/documents',
  ]) {
    assert.equal((await fetch(url + path, { headers })).status, 200, path)
  }
  const answer = await ask(`${url}/session`, { json: { secret: out.trim() } })
  assert.deepEqual(
    [answer.status, readDetail(answer)],
    [503, 'The database cannot be read or written at the moment'],
  )
  assert.equal((await browser.ask('/api/v1/rates/latest')).status, 200)
  const content = '/api/v1/documents/1/content'
  assert.equal(await (await fetch(url + content, { headers })).text(), 'stored')
  first.child.kill('SIGTERM')
  assert.equal(await first.waitForExit(), 0)

  const second = start()
  assert.equal(await second.waitForExit(), 1)
  assert.match(second.printed.err, /^cambista: .*read-only file system.*mount it writable/m)

  disk.repair()
  const third = start()
  const [, thirdUrl = ''] = await third.waitForOutput(/url=(\S+)/)
  assert.equal(await (await fetch(thirdUrl + content, { headers })).text(), 'stored')
  assert.equal((await upload(thirdUrl, 'lost')).status, 200)
  await third.waitForOutput(/sync finished .*status=ok/)
})

test('a folder of documents that is read-only for a while requires no restart', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const app = await startTestApp(t, { dataDir: join(disk.dir, 'data') })
  await fillDirectory(app)
  assert.equal((await post(app, CREATE, batch(pdf('stored')))).status, 200)
  // The kernel rejects a read-only remount of the whole disk while the database is open for writing.
  const blobs = join(app.dataDir, 'blobs')
  mount('--bind', blobs, blobs)
  mount('-o', 'remount,bind,ro', blobs)
  for (const way of UPLOAD_FORM_NAMES) {
    const rejection = await sendText(app, way, 'late')
    assert.equal(rejection.status, 503, way)
    assert.match(await rejection.text(), /Documents cannot be stored at the moment/)
  }
  assert.equal(await (await read(app, '/api/v1/documents/1/content')).text(), 'stored')
  assert.equal((await app.sync()).run.status, 'ok')
  mount('-o', 'remount,bind,rw', blobs)
  for (const way of UPLOAD_FORM_NAMES)
    assert.equal((await sendText(app, way, `late by ${way}`)).status, 200, way)
  spawnSync('umount', ['-l', blobs])
})

test('commands on a read-only file system fail with the remedy', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const command = (words: string) => runCommand([...words.split(' '), '--data-dir', dataDir])
  assert.equal((await command('key create before')).code, 0)
  mount('-o', 'remount,ro', disk.dir)
  const set = join(temporaryDirectory(t), 'set')
  for (const words of ['serve --port 0', 'sync', 'key create new', 'key list', `backup create ${set}`]) {
    const { code, out, err } = await command(words)
    assert.deepEqual([code, out], [1, ''], words)
    assert.match(err, /^cambista: .*read-only file system.*mount it writable/, words)
  }
  mount('-o', 'remount,rw', disk.dir)
  assert.equal((await command('key create new')).code, 0)
})
