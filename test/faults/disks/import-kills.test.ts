// An import that is killed with SIGKILL at random moments: of each pair both sides are there as a whole, or nothing is; its
// run says that it was interrupted; and importing again leaves what one import leaves.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { faultsOfDatabase } from '../../../src/store/sqlite/database-copy.ts'
import { selectRuns } from '../../../src/store/sync-runs.ts'
import { startProgram } from '../../support/program.ts'
import { largeExport } from '../../support/rates/large-export.ts'
import { randomOf } from '../../support/rates/random-bank.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, PROGRAM, SEED, scaled } from '../scale.ts'

const KILLS = scaled({ short: 4, long: 20 })
const DAYS = scaled({ short: 1000, long: 12_000 })
const MOST_TRIES = 10 * KILLS

test('an import that is killed leaves whole pairs, and is completed by the next', async (t) => {
  const random = randomOf(SEED).next
  figure(t, 'seed', SEED)
  const dir = temporaryDirectory(t)
  const file = join(dir, 'all.csv')
  const { text } = largeExport('1990-01-01', DAYS)
  writeFileSync(file, text)
  const linesOf = (one: string) => one.split('\n').filter((line) => !line.startsWith('# end') && line !== '')
  const byPair = (one: string) =>
    Map.groupBy(linesOf(one).slice(1), (line) => /[A-Z]{3}\/[A-Z]{3}/.exec(line)?.[0])
  const expected = byPair(text)
  let takes = 1000
  const sum = { kills: 0, tries: 0, cut: 0, pairs: 0 }
  while ((sum.kills < KILLS || sum.cut === 0) && sum.tries < MOST_TRIES) {
    sum.tries += 1
    const dataDir = join(dir, `box-${sum.tries}`)
    const box = ['--data-dir', dataDir]
    assert.equal((await runCommand(['key', 'create', 'one', ...box])).code, 0) // makes the data directory
    const db = openDatabase(dataDir)
    const program = startProgram(t, ['import', file, ...box], {}, PROGRAM)
    const isOver = () => program.child.exitCode !== null
    while (!isOver() && (await selectRuns(db, { limit: 1 })).length === 0) await wait(2)
    const begun = performance.now()
    await Promise.race([wait(random() * takes), program.ended()])
    program.child.kill('SIGKILL')
    const end = await program.ended()
    assert.deepEqual(await faultsOfDatabase(db, { inPieces: false }), [])
    await db.destroy()
    if (end === 0) takes = Math.max(10, (performance.now() - begun) * 0.9)
    else sum.kills += 1

    const path = join(dir, `export-${sum.tries}`)
    assert.equal((await runCommand(['export', path, ...box])).code, 0)
    const found = byPair(readFileSync(path, 'utf8'))
    sum.pairs += found.size
    if (found.size > 0 && found.size < expected.size) sum.cut += 1
    for (const [pair, lines] of found) assert.deepEqual(lines, expected.get(pair), `${pair}`)

    const again = await runCommand(['import', file, ...box])
    assert.equal(again.code, 0, again.err)
    const after = openDatabase(dataDir)
    const [last, first] = await selectRuns(after, { limit: 2 })
    await after.destroy()
    assert.equal(last?.status, 'ok')
    // One that was killed after its last pair may have closed its run.
    if (end !== 0 && found.size < expected.size)
      assert.deepEqual([first?.status, first?.message], ['error', 'interrupted'])
    assert.equal((await runCommand(['export', `${path}-again`, ...box])).code, 0)
    assert.ok(readFileSync(`${path}-again`, 'utf8') === text, 'the same file')
  }
  figure(t, 'kills', sum.kills)
  figure(t, 'between two pairs', sum.cut)
  figure(t, 'whole pairs found', sum.pairs)
  assert.ok(sum.kills >= KILLS, 'enough imports were cut off')
  assert.ok(sum.cut > 0, 'one of them had stored some pairs and not others')
})
