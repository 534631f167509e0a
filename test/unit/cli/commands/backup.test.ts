// `backup create`, `verify`, `restore` and `doctor`: output and exit codes.

import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBackupSource } from '../../../support/backups.ts'
import { startProgram } from '../../../support/program.ts'
import { runCommand, until } from '../../../support/terminal.ts'

const NOBODY = 65534

test('`backup create`, `verify` and `restore` print their result, with --json as one document', async (t) => {
  const { setDir, dataDir, home } = await openBackupSource(t, 'hola', 'adios')
  const created = await runCommand(['backup', 'create', setDir, '--data-dir', dataDir])
  assert.equal(created.code, 0, created.err)
  assert.match(
    created.out,
    /^backup .*Z: database of \d+ bytes, 2 contents of 9 bytes \(2 of them new in the set\)\n$/,
  )
  const good = await runCommand(['backup', 'verify', setDir], {
    // As after a move to a cluster: `backup verify` reads the set alone.
    CAMBISTA_DATABASE: 'postgres://cambista@db.example.com/cambista',
  })
  assert.deepEqual([good.code, good.err], [0, ''])
  assert.match(good.out, /^backup \S+Z is good: made \S+, data revision 2, 2 contents of 9 bytes\n$/)
  const backupDir = join(setDir, readdirSync(setDir).find((name) => name.startsWith('2')) ?? '')
  const result = JSON.parse((await runCommand(['backup', 'verify', backupDir, '--json'])).out)
  assert.deepEqual([result.ok, result.faults, result.manifest.blobs.count], [true, [], 2])
  const restored = await runCommand([
    'backup',
    'restore',
    backupDir,
    '--data-dir',
    join(home, 'new'),
    '--json',
  ])
  assert.equal(JSON.parse(restored.out).data_dir, join(home, 'new'))
  const listed = await runCommand(['document', 'list', '--data-dir', join(home, 'new'), '--json'])
  assert.equal(JSON.parse(listed.out).length, 2)
})

test('`backup verify` prints a line for each fault, `backup restore` on stderr; both exit with 1', async (t) => {
  const { setDir, dataDir, home } = await openBackupSource(t, 'hola', 'adios')
  await runCommand(['backup', 'create', setDir, '--data-dir', dataDir])
  for (const name of readdirSync(join(setDir, 'blobs')).filter((one) => one !== 'tmp')) {
    rmSync(join(setDir, 'blobs', name), { recursive: true })
  }
  const bad = await runCommand(['backup', 'verify', setDir])
  assert.equal(bad.code, 1)
  assert.match(bad.out, /^(content \w{64} is missing, .*\n){2}$/)
  assert.match(bad.err, /^cambista: backup \S+ has 2 faults\n$/)
  const restored = await runCommand(['backup', 'restore', setDir, '--data-dir', join(home, 'new')])
  assert.deepEqual([restored.code, restored.out], [1, ''])
  assert.match(
    restored.err,
    /^(content \w{64} is missing\n){2}cambista: backup .* 2 faults, nothing was restored: try/,
  )
  assert.equal(existsSync(join(home, 'new')), false)
})

test('`backup create` exits with 1 for a missing blob, after the backup of the others', async (t) => {
  const { setDir, dataDir, blobPath } = await openBackupSource(t, 'hola', 'adios')
  const [first = ''] = readdirSync(join(dataDir, 'blobs')).filter((one) => one !== 'tmp')
  rmSync(join(dataDir, 'blobs', first), { recursive: true })
  assert.ok(blobPath)
  const created = await runCommand(['backup', 'create', setDir, '--data-dir', dataDir])
  assert.equal(created.code, 1)
  assert.match(created.out, / 1 content of/)
  assert.match(
    created.err,
    /^content \w{64} is missing in the data directory\ncambista: 1 content could not be backed up/,
  )
})

test('`backup` and `doctor` report a wrong directory in one line', async (t) => {
  const { setDir, dataDir, home } = await openBackupSource(t)
  const failures: [string[], RegExp][] = [
    [
      ['backup', 'create', setDir, '--data-dir', join(home, 'none')],
      /there is no cambista database in .*none: check --data-dir/,
    ],
    [['backup', 'create', dataDir, '--data-dir', dataDir], /is inside the data directory/],
    [['backup', 'verify', home], /there is no finished backup in/],
    [['backup', 'verify', '/nada'], /^cambista: there is no backup set at \/nada\n$/],
    [
      ['backup', 'restore', join(home, 'x'), '--data-dir', join(home, 'new')],
      /there is no backup set at .*x$/m,
    ],
    [
      ['doctor', '--data-dir', join(home, 'none')],
      /there is no cambista database in .*none: check --data-dir/,
    ],
    [
      ['doctor', '--repair', '--data-dir', join(home, 'none')],
      /there is no cambista database in .*none: check --data-dir/,
    ],
  ]
  for (const [words, expected] of failures) {
    const end = await runCommand(words)
    assert.deepEqual([end.code, end.out], [1, ''], words.join(' '))
    assert.match(end.err, expected)
    assert.equal(end.err.trimEnd().split('\n').length, 1)
  }
  assert.equal(existsSync(join(home, 'none')), false)
  assert.equal((await runCommand(['backup', 'create'])).code, 2)
})

test('`doctor` prints notes and findings, a line each, and exits with 1 only for findings', async (t) => {
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  const { dataDir } = await openBackupSource(t, 'hola')
  await runCommand(['provider', 'disable', 'bccr', '--data-dir', dataDir]) // an enabled one that never synced is a finding
  const healthy = await runCommand(['doctor', '--data-dir', dataDir])
  assert.equal(healthy.code, 0, healthy.out)
  assert.match(healthy.out, /^(note {5}.*\n)+no findings\n$/)
  writeFileSync(join(dataDir, 'blobs/tmp/half'), 'half')
  chmodSync(join(dataDir, 'cambista.db'), 0o644)
  const faulty = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
  assert.equal(faulty.code, 1)
  const { findings, repaired } = JSON.parse(faulty.out)
  const checks = findings.map(({ check }: { check: string }) => check)
  assert.deepEqual(checks, ['permissions', 'temporary'])
  assert.equal(repaired, null)
  chmodSync(join(dataDir, 'cambista.db'), 0o600)
  const repairedRun = await runCommand(['doctor', '--repair', '--data-dir', dataDir])
  assert.equal(repairedRun.code, 0, repairedRun.out)
  assert.match(repairedRun.out, /^repaired: 0 contents and 1 temporary files removed\n/)
})

test('`serve --backup-dir` makes a backup at its start; /scheduler shows the run and the next one', async (t) => {
  const { dataDir, setDir } = await openBackupSource(t, 'hola')
  const { out: key } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--backup-dir', setDir]
  const startMs = Date.now()
  const program = startProgram(t, [...words, '--backup-cron', '0 4 * * *'])
  const [, url] = await program.waitForOutput(/listening url=(\S+)/)
  await program.waitForOutput(/backup made backup=\S+Z database=\d+ contents=1 bytes=4 added=4 removed=0/)
  const tasks = async () => {
    const answer = await fetch(`${url}/api/v1/scheduler`, { headers: { 'x-api-key': key.trim() } })
    return ((await answer.json()) as { tasks: Record<string, string | null>[] }).tasks
  }
  await until(async () => (await tasks())[1]?.last_status === 'ok')
  const [sync, backup] = await tasks()
  assert.deepEqual([sync?.name, backup?.name, backup?.schedule], ['sync', 'backup', '0 4 * * *'])
  assert.match(backup?.next_run ?? '', /^\d{4}-\d\d-\d\dT10:00:00\.000Z$/)
  const lastRun = Date.parse(backup?.last_run ?? '')
  assert.ok(lastRun >= startMs && lastRun <= Date.now())
  assert.equal((await runCommand(['backup', 'verify', setDir])).code, 0)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
})

test('`backup create` as root gives a new set to the owner of the data directory, but not its own set', async (t) => {
  if (process.getuid?.() !== 0) return
  const { dataDir, home } = await openBackupSource(t, 'hola')
  chmodSync(home, 0o755)
  for (const name of ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(dataDir, name), NOBODY, NOBODY)
  }
  const own = join(home, 'own')
  mkdirSync(own, { mode: 0o700 })
  for (const [dir, uid] of [
    [join(home, 'made'), NOBODY],
    [own, 0],
  ] as const) {
    const program = startProgram(t, ['backup', 'create', dir, '--data-dir', dataDir])
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    for (const name of readdirSync(dir)) assert.equal(statSync(join(dir, name)).uid, uid, name)
    assert.equal((await runCommand(['backup', 'verify', dir])).code, 0)
  }
  for (const name of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, name)).uid, NOBODY, name)
})

test('`serve` logs the failure of a backup and continues', async (t) => {
  const { dataDir } = await openBackupSource(t)
  const wrong = await runCommand(['serve', '--backup-keep', '0', '--data-dir', dataDir])
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /--backup-keep must be an integer from 1 to 10000/)
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const program = startProgram(t, [...words, '--backup-dir', join(dataDir, 'backups')])
  await program.waitForOutput(/error backup failed dir=\S+ reason=".*is inside the data directory/)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
})
