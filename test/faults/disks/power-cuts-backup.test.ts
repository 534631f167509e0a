// Backups and restores that are killed with SIGKILL at random moments: what is there afterwards is whole, and the
// next one does its work.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { selectDocuments } from '../../../src/store/documents.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { openVault, type Vault } from '../../support/backups.ts'
import { keepTexts, openTestBlobs } from '../../support/company.ts'
import { startProgram } from '../../support/program.ts'
import { randomOf } from '../../support/rates/random-bank.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, SEED, scaled } from '../scale.ts'

const DOCUMENTS = 150
const LATEST_MS = 600 // by then a restore of them has ended
const KILLS = scaled({ short: 4, long: 60 })
const DAMAGED_KILLS = scaled({ short: 8, long: 500 })

async function openFull(t: TestContext): Promise<Vault> {
  figure(t, 'seed', SEED)
  return openVault(t, ...Array.from({ length: DOCUMENTS }, (_, i) => `document ${i}`))
}

/** Runs it until its work has begun and a while longer; false when it had come to its end by then. */
async function cutOff(t: TestContext, words: string[], begun: () => boolean, ms: number): Promise<boolean> {
  const program = startProgram(t, words, {}, PROGRAM)
  for (const end = performance.now() + 60_000; !begun() && program.child.exitCode === null; await wait(1)) {
    assert.ok(performance.now() < end, 'it did not begin')
  }
  await wait(ms)
  program.child.kill('SIGKILL')
  return (await program.ended()) === 'SIGKILL'
}

test('killed at any moment, a backup is not there or good, and the next one is good', async (t) => {
  const random = randomOf(SEED)
  const vault = await openFull(t)
  await vault.db.destroy()
  const words = ['backup', 'create', vault.setDir, '--data-dir', vault.dataDir]
  let cut = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (random.chance(0.5)) rmSync(vault.setDir, { recursive: true, force: true })
    const before = finishedIn(vault).length
    const begun = () => existsSync(vault.setDir) // at once, if there are backups
    if (await cutOff(t, words, begun, random.int(0, before === 0 ? 120 : 700))) cut += 1
    const verified = await runCommand(['backup', 'verify', vault.setDir])
    if (verified.code !== 0) {
      assert.equal(before, 0, 'the one that was there before is gone')
      assert.match(verified.err, /there is no finished backup|cannot read .*set: ENOENT/)
    }
    const next = await runCommand(words)
    assert.equal(next.code, 0, next.err)
    assert.equal((await runCommand(['backup', 'verify', vault.setDir])).code, 0)
    assert.deepEqual(hiddenIn(vault), [])
  }
  figure(t, 'backups cut off', cut)
  assert.ok(cut > 0 || !LONG, 'no kill met a backup')
})

test('killed at any moment, a restore has landed whole or not at all, and the next one lands', async (t) => {
  const random = randomOf(SEED)
  const vault = await openFull(t)
  await vault.db.destroy()
  await vault.backUp()
  let cut = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const home = join(vault.home, `home-${kill}`)
    const dataDir = join(home, 'data')
    const isThere = random.chance(0.5)
    mkdirSync(isThere ? dataDir : home, { recursive: true })
    const words = ['backup', 'restore', vault.setDir, '--data-dir', dataDir]
    const begun = () => readdirSync(isThere ? dataDir : home).length > 0
    if (await cutOff(t, words, begun, random.int(0, 60))) cut += 1
    if (!existsSync(join(dataDir, 'cambista.db'))) {
      const next = await runCommand(words)
      assert.equal(next.code, 0, next.err)
    }
    const doctor = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
    const { findings, notes } = JSON.parse(doctor.out) as { findings: { message: string }[]; notes: string[] }
    const others = findings.filter(({ message }) => !message.startsWith('never synced'))
    assert.deepEqual(others, []) // it reads every byte
    assert.ok(
      notes.some((note) => note.startsWith(`${DOCUMENTS} contents `)),
      doctor.out,
    )
    if (!isThere) assert.deepEqual(readdirSync(home), ['data'])
  }
  figure(t, 'restores cut off', cut)
  assert.ok(cut > 0 || !LONG, 'no kill met a restore')
})

test('killed at any moment, a restore without damaged contents has landed with its list or not at all', async (t) => {
  const random = randomOf(SEED)
  const vault = await openFull(t)
  await vault.db.destroy()
  await vault.backUp()
  const lost = [3, 40, 77, 110, 149]
  const shaOf = (document: number) => hash('sha256', `document ${document}`)
  for (const [at, document] of lost.entries()) {
    const path = vault.place(shaOf(document), vault.setDir)
    rmSync(path) // first: it is a link to the file of the data directory
    if (at < 3) writeFileSync(path, `DOCUMENT ${document}`)
  }
  let [cut, placed, landed] = [0, 0, 0]
  for (let kill = 0; cut < DAMAGED_KILLS; kill += 1) {
    assert.ok(kill < 20 * DAMAGED_KILLS, 'too many restores had ended before they were killed')
    const home = join(vault.home, `home-${kill}`)
    const dataDir = join(home, 'data')
    const isThere = random.chance(0.5)
    mkdirSync(isThere ? dataDir : home, { recursive: true })
    const words = ['backup', 'restore', vault.setDir, '--without-damaged', '--data-dir', dataDir]
    const list = `${dataDir}.damaged.json`
    // Half of them at any moment, half around the last steps, which are a few milliseconds of it.
    const late = random.chance(0.5)
    const begun = () => (late ? existsSync(list) : readdirSync(isThere ? dataDir : home).length > 0)
    const wasCut = await cutOff(t, words, begun, random.int(0, late ? 20 : LATEST_MS))
    if (wasCut) cut += 1
    if (existsSync(join(dataDir, 'cambista.db'))) {
      if (wasCut) landed += 1
      assert.ok(existsSync(list), 'it landed without its list')
    } else {
      if (existsSync(list)) placed += 1
      const next = await runCommand(words)
      assert.equal(next.code, 3, next.err)
    }
    const doctor = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
    const { findings, notes } = JSON.parse(doctor.out) as { findings: { message: string }[]; notes: string[] }
    const others = findings.filter(({ message }) => !message.startsWith('never synced'))
    assert.deepEqual(others, []) // it reads every byte
    const known = notes.flatMap((note) => /^content (\w+) is known lost since /.exec(note)?.[1] ?? [])
    assert.deepEqual(known.sort(), lost.map(shaOf).sort())
    assert.ok(notes.some((note) => note.startsWith(`${DOCUMENTS - lost.length} contents `)))
    const { documents } = JSON.parse(readFileSync(list, 'utf8')) as { documents: { id: number }[] }
    assert.deepEqual(
      documents.map(({ id }) => id),
      lost.map((document) => document + 1),
    )
    assert.deepEqual(readdirSync(home).sort(), ['data', 'data.damaged', 'data.damaged.json'])
    for (const document of lost.slice(0, 3)) {
      assert.equal(readFileSync(join(`${dataDir}.damaged`, shaOf(document)), 'utf8'), `DOCUMENT ${document}`)
    }
    const db = openDatabase(dataDir)
    const rows = await selectDocuments(db, { limit: DOCUMENTS + 1 })
    const [next = 0] = await keepTexts(db, await openTestBlobs(dataDir), ['one more'])
    await db.destroy()
    assert.deepEqual(
      rows.map(({ content }) => content === 'lost'),
      Array.from({ length: DOCUMENTS }, (_, document) => lost.includes(document)),
    )
    assert.ok(next > DOCUMENTS + 1_000_000)
    rmSync(home, { recursive: true })
  }
  figure(t, 'restores cut off', cut)
  figure(t, 'of them before their directory had its place, with the list in its own', placed)
  figure(t, 'of them after it', landed)
})

function finishedIn({ setDir }: Vault): string[] {
  return existsSync(setDir) ? readdirSync(setDir).filter((name) => /^\d{4}-/.test(name)) : []
}

function hiddenIn({ setDir }: Vault): string[] {
  return readdirSync(setDir).filter((name) => name.startsWith('.'))
}
