// What an administrator reads who restores after a disaster: every line names what is there and what to type.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
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
import { NOW, openVault, type Vault } from '../../support/backups.ts'
import { runCommand } from '../../support/terminal.ts'

const [HOLA, ADIOS] = [hash('sha256', 'hola'), hash('sha256', 'adios')]
const FIRST = '2026-03-24T09-30-00Z'
const SECOND = '2026-03-25T09-30-00Z'

async function openSet(
  t: TestContext,
): Promise<Vault & { restore: (...words: string[]) => ReturnType<typeof runCommand> }> {
  const vault = await openVault(t, 'hola', 'adios')
  await vault.backUp()
  await vault.backUp(new Date(NOW.getTime() + 86_400_000))
  const dataDir = join(vault.home, 'new')
  const restore = (dir = vault.setDir, ...words: string[]) =>
    runCommand(['backup', 'restore', dir, '--data-dir', dataDir, ...words])
  return { ...vault, restore }
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)

test('contents that are damaged lead to --without-damaged, and not to a backup that shares them', async (t) => {
  const { setDir, place, restore } = await openSet(t)
  rmSync(place(HOLA, setDir))
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

test('a damaged database leads to the backup before it, by a path that is there', async (t) => {
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

test('--without-damaged ends with 3, says what is left out and where it is listed, and --json says it too', async (t) => {
  const { setDir, home, place, restore } = await openSet(t)
  rmSync(place(HOLA, setDir))
  rmSync(place(ADIOS, setDir))
  writeFileSync(place(ADIOS, setDir), 'ADIOS')
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
  const told = JSON.parse(json.out)
  assert.deepEqual(told.keys, [])
  assert.equal(told.next_id, 2_000_003, 'again above what the first restore began with')
  assert.equal(told.left_out.list, `${dataDir}.damaged.json`)
  assert.deepEqual(
    told.left_out.documents.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  assert.deepEqual(told.left_out.documents, JSON.parse(readFileSync(told.left_out.list, 'utf8')).documents)
})

test('with nothing damaged it ends with 0, whatever was lost before, and later backups are good', async (t) => {
  const { setDir, home, place, restore } = await openSet(t)
  rmSync(place(HOLA, setDir))
  assert.equal((await restore(setDir, '--without-damaged')).code, 3)
  const dataDir = join(home, 'new')
  const other = join(home, 'other')
  const made = await runCommand(['backup', 'create', other, '--data-dir', dataDir])
  assert.equal(made.code, 0)
  assert.equal(made.err, '1 content less: known to be lost (cambista doctor says since when)\n')
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

test('root gives list and files to the owner of the data directory', async (t) => {
  if (process.getuid?.() !== 0) return
  const { setDir, home, place, restore } = await openSet(t)
  rmSync(place(ADIOS, setDir))
  writeFileSync(place(ADIOS, setDir), 'ADIOS')
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

test('a set that cannot be written to is restored from, and what that means is told', async (t) => {
  const { setDir, restore } = await openSet(t)
  mkdirSync(join(setDir, 'restored.json'))
  const { code, err } = await restore()
  assert.equal(code, 0)
  assert.match(
    err,
    /^This restore could not be noted in the set \(.*\): another restore from it would give /m,
  )
})
