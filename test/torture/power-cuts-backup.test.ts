// Backups and restores that are killed with SIGKILL at random moments: what is there afterwards is whole, and the
// next one does its work.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openVault, type Vault } from '../support/backups.ts'
import { startProgram } from '../support/program.ts'
import { randomOf } from '../support/random-bank.ts'
import { runCommand, until } from '../support/terminal.ts'
import { figure, LONG, PROGRAM, SEED, scaled } from './scale.ts'

const DOCUMENTS = 150
const KILLS = scaled({ short: 4, long: 60 })

async function openFull(t: TestContext): Promise<Vault> {
  figure(t, 'seed', SEED)
  return openVault(t, ...Array.from({ length: DOCUMENTS }, (_, i) => `document ${i}`))
}

/** Runs it until its work has begun and a while longer; false when it had come to its end by then. */
async function cutOff(t: TestContext, words: string[], begun: () => boolean, ms: number): Promise<boolean> {
  const program = startProgram(t, words, {}, PROGRAM)
  await until(() => begun() || program.child.exitCode !== null, 20_000)
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
    const { findings, notes } = JSON.parse(doctor.out) as { findings: unknown[]; notes: string[] }
    assert.deepEqual(findings, []) // it reads every byte
    assert.ok(
      notes.some((note) => note.startsWith(`${DOCUMENTS} contents `)),
      doctor.out,
    )
    if (!isThere) assert.deepEqual(readdirSync(home), ['data'])
  }
  figure(t, 'restores cut off', cut)
  assert.ok(cut > 0 || !LONG, 'no kill met a restore')
})

function finishedIn({ setDir }: Vault): string[] {
  return existsSync(setDir) ? readdirSync(setDir).filter((name) => /^\d{4}-/.test(name)) : []
}

function hiddenIn({ setDir }: Vault): string[] {
  return readdirSync(setDir).filter((name) => name.startsWith('.'))
}
