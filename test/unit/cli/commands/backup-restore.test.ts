// `backup restore` of a damaged set: each message names the remaining data and the next command.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type BackupSource, NOW, openBackupSource } from '../../../support/backups.ts'
import { runCommand } from '../../../support/terminal.ts'

const [HOLA, ADIOS] = [hash('sha256', 'hola'), hash('sha256', 'adios')]
const FIRST = '2026-03-24T09-30-00Z'
const SECOND = '2026-03-25T09-30-00Z'

async function openSet(
  t: TestContext,
): Promise<BackupSource & { restore: (...words: string[]) => ReturnType<typeof runCommand> }> {
  const source = await openBackupSource(t, 'hola', 'adios')
  await source.backUp()
  await source.backUp(new Date(NOW.getTime() + 86_400_000))
  const dataDir = join(source.home, 'new')
  const restore = (dir = source.setDir, ...words: string[]) =>
    runCommand(['backup', 'restore', dir, '--data-dir', dataDir, ...words])
  return { ...source, restore }
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)

test('a backup of copied files restores with ids a million higher, also without a content', async (t) => {
  const { dataDir, home, setDir, blobPath } = await openBackupSource(t, 'hola', 'adios')
  const copy = join(home, 'copy')
  cpSync(join(dataDir, 'blobs'), join(copy, 'blobs'), { recursive: true })
  for (const name of readdirSync(dataDir).filter((one) => /^cambista\.db(-wal)?$/.test(one)))
    cpSync(join(dataDir, name), join(copy, name))
  rmSync(blobPath(ADIOS, copy))
  assert.equal((await runCommand(['backup', 'create', setDir, '--data-dir', copy])).code, 1)
  const restore = ['backup', 'restore', setDir, '--data-dir', join(home, 'new'), '--json']
  const { code, out } = await runCommand(restore)
  const { next_id, lost } = JSON.parse(out) as { next_id: number; lost: { sha256: string }[] }
  assert.deepEqual([code, next_id, lost[0]?.sha256], [0, 1_000_003, ADIOS])
})

test('damaged blobs: the error suggests --without-damaged, not a backup that shares the blobs', async (t) => {
  const { setDir, blobPath, restore } = await openSet(t)
  rmSync(blobPath(HOLA, setDir))
  for (const dir of [setDir, join(setDir, FIRST), `${join(setDir, SECOND)}/`]) {
    const { code, out, err } = await restore(dir)
    assert.deepEqual([code, out], [1, ''])
    assert.equal(
      lastLine(err),
      `cambista: backup ${dir.includes(FIRST) ? FIRST : SECOND} has 1 fault, nothing was restored: try ` +
        `--without-damaged, which restores all else, or a backup of another set: all backups in ${setDir} share these contents`,
    )
  }
})

test('a damaged database: the error suggests the path of the earlier backup', async (t) => {
  const { setDir, restore } = await openSet(t)
  writeFileSync(join(setDir, SECOND, 'blobs.sha256'), '')
  for (const dir of [setDir, join(setDir, SECOND)]) {
    for (const flags of [[], ['--without-damaged']]) {
      const { code, err } = await restore(dir, ...flags)
      assert.equal(code, 1)
      const [, path = ''] = /nothing was restored: try (\S+)\n$/.exec(err) ?? []
      assert.equal(path, join(setDir, FIRST), err)
      assert.ok(existsSync(path))
    }
  }
  rmSync(join(setDir, FIRST), { recursive: true })
  const { err } = await restore(setDir)
  assert.equal(
    lastLine(err),
    `cambista: backup ${SECOND} has 1 fault, nothing was restored: there is no other backup in ${setDir}`,
  )
})

test('--without-damaged exits with 3 and prints the omitted blobs and their list, also with --json', async (t) => {
  const { setDir, home, blobPath, restore } = await openSet(t)
  rmSync(blobPath(HOLA, setDir))
  rmSync(blobPath(ADIOS, setDir))
  writeFileSync(blobPath(ADIOS, setDir), 'ADIOS')
  const dataDir = join(home, 'new')
  const { code, out, err } = await restore(setDir, '--without-damaged')
  assert.equal(code, 3)
  assert.match(err, new RegExp(`^content ${HOLA} is missing: left out$`, 'm'))
  assert.match(
    err,
    new RegExp(`^content ${ADIOS} is altered \\(5 bytes whose SHA-256 is \\w+\\): left out$`, 'm'),
  )
  assert.deepEqual(out.split('\n'), [
    `backup ${SECOND} is restored to ${dataDir}: made 2026-03-25T09:30:00.000Z, data revision 2, 0 contents of 0 bytes`,
    'active again: no key, no token',
    'if one was revoked after 2026-03-25T09:30:00.000Z, revoke it again (cambista key revoke, token revoke)',
    'new ids begin above those of the backup: the next document is 1000003',
    `left out: 2 contents of 2 documents, listed in ${dataDir}.damaged.json, the altered files are in ${dataDir}.damaged`,
    '',
  ])
  for (const path of [`${dataDir}.damaged.json`, `${dataDir}.damaged`]) assert.ok(existsSync(path))

  rmSync(dataDir, { recursive: true })
  for (const path of [`${dataDir}.damaged.json`, `${dataDir}.damaged`]) rmSync(path, { recursive: true })
  const json = await restore(setDir, '--without-damaged', '--json')
  assert.equal(json.code, 3)
  const result = JSON.parse(json.out)
  assert.deepEqual(result.keys, [])
  assert.equal(result.next_id, 2_000_003, 'the ids are above those of the first restore')
  assert.equal(result.left_out.list, `${dataDir}.damaged.json`)
  assert.deepEqual(
    result.left_out.documents.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  assert.deepEqual(
    result.left_out.documents,
    JSON.parse(readFileSync(result.left_out.list, 'utf8')).documents,
  )
})

test('--without-damaged exits with 0 for blobs that were lost before the backup', async (t) => {
  const { setDir, home, blobPath, restore } = await openSet(t)
  rmSync(blobPath(HOLA, setDir))
  assert.equal((await restore(setDir, '--without-damaged')).code, 3)
  const dataDir = join(home, 'new')
  const other = join(home, 'other')
  const created = await runCommand(['backup', 'create', other, '--data-dir', dataDir])
  assert.equal(created.code, 0)
  assert.equal(created.err, '1 content less: known to be lost (cambista doctor says since when)\n')
  const good = await runCommand(['backup', 'verify', other])
  assert.match(good.out, /^backup \S+ is good: .*, 1 content of 5 bytes, without 1 lost content\n$/)
  assert.equal(good.code, 0)
  const again = await runCommand([
    'backup',
    'restore',
    other,
    '--without-damaged',
    '--data-dir',
    join(home, 'again'),
  ])
  assert.equal(again.code, 0, again.err)
  assert.match(
    again.err,
    new RegExp(`^content ${HOLA} is missing: it was lost already when the backup was made$`, 'm'),
  )
  assert.equal(existsSync(join(home, 'again.damaged.json')), false)
})

test('--without-damaged as root gives list and files to the owner of the data directory', async (t) => {
  if (process.getuid?.() !== 0) return
  const { setDir, home, blobPath, restore } = await openSet(t)
  rmSync(blobPath(ADIOS, setDir))
  writeFileSync(blobPath(ADIOS, setDir), 'ADIOS')
  chmodSync(home, 0o755)
  mkdirSync(join(home, 'new'))
  chownSync(join(home, 'new'), 65534, 65534)
  assert.equal((await restore(setDir, '--without-damaged')).code, 3)
  for (const name of ['new', 'new.damaged', 'new.damaged.json']) {
    assert.equal(statSync(join(home, name)).uid, 65534, name)
  }
  assert.deepEqual(
    readdirSync(join(home, 'new.damaged')).map((name) => statSync(join(home, 'new.damaged', name)).uid),
    [65534],
  )
})

test('`backup restore` from a set that cannot be written warns of repeated ids', async (t) => {
  const { setDir, restore } = await openSet(t)
  mkdirSync(join(setDir, 'restored.json'))
  const { code, err } = await restore()
  assert.equal(code, 0)
  assert.match(
    err,
    /^This restore could not be noted in the set \(.*\): another restore from it would give /m,
  )
})
