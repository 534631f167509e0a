// An import that is killed with SIGKILL at random moments. Each pair is stored whole or not at all, and its run is
// recorded as interrupted. A repeated import gives the same data as a single one.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { findDatabaseFaults } from '../../../src/store/sqlite/database-copy.ts'
import { startProgram } from '../../support/program.ts'
import { largeExport } from '../../support/rates/large-export.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const KILLS = scaled({ short: 2, long: 20 })
const DAYS = scaled({ short: 1000, long: 12_000 })
const MAX_TRIES = 10 * KILLS

test('a killed `import` leaves whole pairs, and the next one completes it', async (t) => {
  const random = createRandom(SEED).next
  figure(t, 'seed', SEED)
  const dir = temporaryDirectory(t)
  const file = join(dir, 'all.csv')
  const { text } = largeExport('1990-01-01', DAYS)
  writeFileSync(file, text)
  const dataLines = (csv: string) =>
    csv.split('\n').filter((line) => !line.startsWith('# end') && line !== '')
  const linesByPair = (csv: string) =>
    Map.groupBy(dataLines(csv).slice(1), (line) => /[A-Z]{3}\/[A-Z]{3}/.exec(line)?.[0])
  const expected = linesByPair(text)
  let importMs = 1000
  const totals = { kills: 0, tries: 0, cut: 0, pairs: 0 }
  while ((totals.kills < KILLS || totals.cut === 0) && totals.tries < MAX_TRIES) {
    totals.tries += 1
    const dataDir = join(dir, `box-${totals.tries}`)
    const dataOption = ['--data-dir', dataDir]
    assert.equal((await runCommand(['key', 'create', 'one', ...dataOption])).code, 0) // creates the data directory
    const db = openDatabase(dataDir)
    const program = startProgram(t, ['import', file, ...dataOption], {}, PROGRAM)
    const hasEnded = () => program.child.exitCode !== null
    while (!hasEnded() && (await selectRuns(db, { limit: 1 })).length === 0) await wait(2)
    const startMs = performance.now()
    await Promise.race([wait(random() * importMs), program.waitForExit()])
    program.child.kill('SIGKILL')
    const exit = await program.waitForExit()
    assert.deepEqual(await findDatabaseFaults(db, { inPieces: false }), [])
    await db.destroy()
    if (exit === 0) importMs = Math.max(10, (performance.now() - startMs) * 0.9)
    else totals.kills += 1

    const path = join(dir, `export-${totals.tries}`)
    assert.equal((await runCommand(['export', path, ...dataOption])).code, 0)
    const storedPairs = linesByPair(readFileSync(path, 'utf8'))
    totals.pairs += storedPairs.size
    if (storedPairs.size > 0 && storedPairs.size < expected.size) totals.cut += 1
    for (const [pair, lines] of storedPairs) assert.deepEqual(lines, expected.get(pair), `${pair}`)

    const secondImport = await runCommand(['import', file, ...dataOption])
    assert.equal(secondImport.code, 0, secondImport.err)
    const after = openDatabase(dataDir)
    const [last, first] = await selectRuns(after, { limit: 2 })
    await after.destroy()
    assert.equal(last?.status, 'ok')
    // An import that is killed after its last pair may have closed its run.
    if (exit !== 0 && storedPairs.size < expected.size)
      assert.deepEqual([first?.status, first?.message], ['error', 'interrupted'])
    assert.equal((await runCommand(['export', `${path}-again`, ...dataOption])).code, 0)
    assert.ok(readFileSync(`${path}-again`, 'utf8') === text, 'the same file')
  }
  figure(t, 'kills', totals.kills)
  figure(t, 'between two pairs', totals.cut)
  figure(t, 'whole pairs found', totals.pairs)
  assert.ok(totals.kills >= KILLS, 'enough imports were cut off')
  assert.ok(totals.cut > 0, 'one of them had stored some pairs and not others')
})
