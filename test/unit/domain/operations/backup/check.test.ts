import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkBackup, fileModes, openBackupSource } from '../../../../support/backups.ts'

const HOLA = hash('sha256', 'hola')

const damages: [string, (dir: string, set: string) => void, RegExp][] = [
  [
    'a missing content',
    (_, set) => rmSync(join(set, 'blobs', HOLA.slice(0, 2)), { recursive: true }),
    /^content \w{64} is missing, and the next backup takes it again if it can$/,
  ],
  [
    'an altered content',
    (_, set) => writeFileSync(join(set, 'blobs', HOLA.slice(0, 2), HOLA.slice(2, 4), HOLA), 'halo'),
    /^content \w{64} is altered .*: remove .*, and the next backup takes it again if it can$/,
  ],
  ['a missing database', (dir) => rmSync(join(dir, 'cambista.db')), /^cambista\.db is missing$/],
  [
    'one changed byte of the database',
    (dir) => flip(join(dir, 'cambista.db'), 70_000),
    /^cambista\.db is altered/,
  ],
  [
    'a database that is none',
    (dir) => writeFileSync(join(dir, 'cambista.db'), 'letters'),
    /^cambista\.db is altered: it has 7 bytes instead of \d+$/,
  ],
  ['a missing list', (dir) => rmSync(join(dir, 'blobs.sha256')), /^blobs\.sha256 is missing$/],
  ['a shorter list', (dir) => writeFileSync(join(dir, 'blobs.sha256'), ''), /^blobs\.sha256 is altered$/],
  [
    'a manifest of other numbers',
    (dir) => edit(join(dir, 'manifest.json'), '"count": 2', '"count": 3'),
    /^the database names 2 contents of 9 bytes, the manifest 3 of 9$/,
  ],
]
for (const [what, damage, expected] of damages) {
  test(`a check finds ${what}`, async (t) => {
    const source = await openBackupSource(t, 'hola', 'adios')
    const { path } = await source.backUp()
    const copy = join(source.home, 'copy') // hard links would carry the damage into the data directory
    cpSync(source.setDir, copy, { recursive: true })
    damage(join(copy, path.replace(source.setDir, '')), copy)
    const { faults, lines } = await checkBackup(copy)
    assert.ok(faults > 0)
    assert.equal(lines.length, faults)
    assert.match(lines[0] ?? '', expected)
  })
}

test('a check reports a set without a readable manifest, or of a newer program', async (t) => {
  const source = await openBackupSource(t)
  const { path } = await source.backUp()
  edit(join(path, 'manifest.json'), '"format": 1', '"format": 2')
  await assert.rejects(checkBackup(source.setDir), /manifest\.json has format 2: use a newer cambista/)
  writeFileSync(join(path, 'manifest.json'), '{"format": 1}')
  await assert.rejects(checkBackup(source.setDir), /manifest\.json cannot be read: /)
  await assert.rejects(checkBackup(join(source.home, 'none')), /there is no backup set at .*none$/)
})

test('a check changes nothing, and needs no write permission', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const { path } = await source.backUp()
  const before = fileModes(source.setDir)
  chmodSync(path, 0o500)
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
  chmodSync(path, 0o700)
  assert.deepEqual(fileModes(source.setDir), before)
})

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  assert.ok(text.includes(from))
  writeFileSync(path, text.replace(from, to))
}
