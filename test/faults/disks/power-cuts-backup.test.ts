// Backups and restores that are killed with SIGKILL at random moments. Their results are whole, and the next one
// succeeds.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { selectDocuments } from '../../../src/store/documents/documents.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { type BackupSource, openBackupSource } from '../../support/backups.ts'
import { openTestBlobs, storeTexts } from '../../support/company.ts'
import { startProgram } from '../../support/program.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'

const DOCUMENTS = 150
const RESTORE_MS = 600 // a restore of them takes less
const KILLS = scaled({ short: 2, long: 60 })
const DAMAGED_KILLS = scaled({ short: 3, long: 500 })

async function openFilledSource(t: TestContext): Promise<BackupSource> {
  figure(t, 'seed', SEED)
  return openBackupSource(t, ...Array.from({ length: DOCUMENTS }, (_, i) => `document ${i}`))
}

/** Runs a command, and kills it `ms` after `hasBegun`. False if it ended by itself. */
async function killCommand(
  t: TestContext,
  args: string[],
  hasBegun: () => boolean,
  ms: number,
): Promise<boolean> {
  const program = startProgram(t, args, {}, PROGRAM)
  for (
    const end = performance.now() + 60_000;
    !hasBegun() && program.child.exitCode === null;
    await wait(1)
  ) {
    assert.ok(performance.now() < end, 'it did not begin')
  }
  await wait(ms)
  program.child.kill('SIGKILL')
  return (await program.waitForExit()) === 'SIGKILL'
}

test('a backup that is killed is whole or absent, and the next one is whole', async (t) => {
  const random = createRandom(SEED)
  const source = await openFilledSource(t)
  await source.db.destroy()
  const args = ['backup', 'create', source.setDir, '--data-dir', source.dataDir]
  let interrupted = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (random.chance(0.5)) rmSync(source.setDir, { recursive: true, force: true })
    const before = finishedBackups(source).length
    const hasBegun = () => existsSync(source.setDir) // at once, if the set exists
    if (await killCommand(t, args, hasBegun, random.int(0, before === 0 ? 120 : 700))) interrupted += 1
    const verified = await runCommand(['backup', 'verify', source.setDir])
    if (verified.code !== 0) {
      assert.equal(before, 0, 'the one that was there before is gone')
      assert.match(verified.err, /there is no finished backup|cannot read .*set: ENOENT/)
    }
    const next = await runCommand(args)
    assert.equal(next.code, 0, next.err)
    assert.equal((await runCommand(['backup', 'verify', source.setDir])).code, 0)
    assert.deepEqual(hiddenFiles(source), [])
  }
  figure(t, 'backups cut off', interrupted)
  assert.ok(interrupted > 0 || !LONG, 'no kill met a backup')
})

test('a restore that is killed is whole or absent, and the next one is whole', async (t) => {
  const random = createRandom(SEED)
  const source = await openFilledSource(t)
  await source.db.destroy()
  await source.backUp()
  let interrupted = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const parentDir = join(source.home, `home-${kill}`)
    const dataDir = join(parentDir, 'data')
    const dirExists = random.chance(0.5)
    mkdirSync(dirExists ? dataDir : parentDir, { recursive: true })
    const args = ['backup', 'restore', source.setDir, '--data-dir', dataDir]
    const hasBegun = () => readdirSync(dirExists ? dataDir : parentDir).length > 0
    if (await killCommand(t, args, hasBegun, random.int(0, 60))) interrupted += 1
    if (!existsSync(join(dataDir, 'cambista.db'))) {
      const next = await runCommand(args)
      assert.equal(next.code, 0, next.err)
    }
    const doctor = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
    const { findings, notes } = JSON.parse(doctor.out) as { findings: { message: string }[]; notes: string[] }
    const others = findings.filter(({ message }) => !message.startsWith('never synced'))
    assert.deepEqual(others, []) // the doctor reads every byte
    assert.ok(
      notes.some((note) => note.startsWith(`${DOCUMENTS} contents `)),
      doctor.out,
    )
    if (!dirExists) assert.deepEqual(readdirSync(parentDir), ['data'])
  }
  figure(t, 'restores cut off', interrupted)
  assert.ok(interrupted > 0 || !LONG, 'no kill met a restore')
})

test('a killed restore without damaged contents has its data directory and its list, or neither', async (t) => {
  const random = createRandom(SEED)
  const source = await openFilledSource(t)
  await source.db.destroy()
  await source.backUp()
  const damagedDocuments = [3, 40, 77, 110, 149]
  const contentHash = (document: number) => hash('sha256', `document ${document}`)
  for (const [at, document] of damagedDocuments.entries()) {
    const path = source.blobPath(contentHash(document), source.setDir)
    rmSync(path) // removed first, because it is a link to the file of the data directory
    if (at < 3) writeFileSync(path, `DOCUMENT ${document}`)
  }
  let [interrupted, withListOnly, completed] = [0, 0, 0]
  for (let kill = 0; interrupted < DAMAGED_KILLS; kill += 1) {
    assert.ok(kill < 20 * DAMAGED_KILLS, 'too many restores ended before they were killed')
    const parentDir = join(source.home, `home-${kill}`)
    const dataDir = join(parentDir, 'data')
    const dirExists = random.chance(0.5)
    mkdirSync(dirExists ? dataDir : parentDir, { recursive: true })
    const args = ['backup', 'restore', source.setDir, '--without-damaged', '--data-dir', dataDir]
    const list = `${dataDir}.damaged.json`
    // Half of them are killed at any moment, half during the last steps, which take a few milliseconds.
    const isLate = random.chance(0.5)
    const hasBegun = () =>
      isLate ? existsSync(list) : readdirSync(dirExists ? dataDir : parentDir).length > 0
    const wasKilled = await killCommand(t, args, hasBegun, random.int(0, isLate ? 20 : RESTORE_MS))
    if (wasKilled) interrupted += 1
    if (existsSync(join(dataDir, 'cambista.db'))) {
      if (wasKilled) completed += 1
      assert.ok(existsSync(list), 'it is complete without its list')
    } else {
      if (existsSync(list)) withListOnly += 1
      const next = await runCommand(args)
      assert.equal(next.code, 3, next.err)
    }
    const doctor = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
    const { findings, notes } = JSON.parse(doctor.out) as { findings: { message: string }[]; notes: string[] }
    const others = findings.filter(({ message }) => !message.startsWith('never synced'))
    assert.deepEqual(others, []) // the doctor reads every byte
    const knownLost = notes.flatMap((note) => /^content (\w+) is known lost since /.exec(note)?.[1] ?? [])
    assert.deepEqual(knownLost.sort(), damagedDocuments.map(contentHash).sort())
    assert.ok(notes.some((note) => note.startsWith(`${DOCUMENTS - damagedDocuments.length} contents `)))
    const { documents } = JSON.parse(readFileSync(list, 'utf8')) as { documents: { id: number }[] }
    assert.deepEqual(
      documents.map(({ id }) => id),
      damagedDocuments.map((document) => document + 1),
    )
    assert.deepEqual(readdirSync(parentDir).sort(), ['data', 'data.damaged', 'data.damaged.json'])
    for (const document of damagedDocuments.slice(0, 3)) {
      assert.equal(
        readFileSync(join(`${dataDir}.damaged`, contentHash(document)), 'utf8'),
        `DOCUMENT ${document}`,
      )
    }
    const db = openDatabase(dataDir)
    const rows = await selectDocuments(db, { limit: DOCUMENTS + 1 })
    const [next = 0] = await storeTexts(db, await openTestBlobs(dataDir), ['one more'])
    await db.destroy()
    assert.deepEqual(
      rows.map(({ content }) => content === 'lost'),
      Array.from({ length: DOCUMENTS }, (_, document) => damagedDocuments.includes(document)),
    )
    assert.ok(next > DOCUMENTS + 1_000_000)
    rmSync(parentDir, { recursive: true })
  }
  figure(t, 'restores cut off', interrupted)
  figure(t, 'of them with a list, but without the data directory', withListOnly)
  figure(t, 'of them with both', completed)
})

function finishedBackups({ setDir }: BackupSource): string[] {
  return existsSync(setDir) ? readdirSync(setDir).filter((name) => /^\d{4}-/.test(name)) : []
}

function hiddenFiles({ setDir }: BackupSource): string[] {
  return readdirSync(setDir).filter((name) => name.startsWith('.'))
}
