// Damaged rates in `doctor`, `backup verify` and `backup restore`, and `doctor --accept-sums`.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { atomically } from '../../../../../src/store/engine.ts'
import { raiseRevision } from '../../../../../src/store/meta.ts'
import { takeInstant } from '../../../../../src/store/rates/change-log.ts'
import { openRateWriter } from '../../../../../src/store/rates/rate-writer.ts'
import { takeFileLock } from '../../../../../src/store/sqlite/lock.ts'
import { openBackupSource } from '../../../../support/backups.ts'
import { runCommand } from '../../../../support/terminal.ts'

const VALUES = 'series 1 (USD/CRC compra): its values of 2025 are not as they were stored'
const ACCEPT = 'cambista doctor --accept-sums 1 2025'

/** A data directory with values of 2025 and a revision. The statement damages a row. */
async function openDamaged(t: TestContext, statement: string) {
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  const source = await openBackupSource(t, 'hola')
  const { dataDir, db } = source
  const run = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  await run('provider', 'enable', 'bccr')
  await atomically(db, async (trx) => {
    const now = await takeInstant(trx, new Date('2025-03-24T12:00:00Z'))
    const writer = openRateWriter(trx)
    const rates = ['2025-03-23', '2025-03-24'].map((rate_date) => ({
      ...{ series_id: 1, rate_date, value: '505.5', rounded_to: null },
    }))
    await writer.store(rates, [], now.getTime())
    await writer.insertRevisions([
      {
        ...{
          series_id: 1,
          rate_date: '2025-03-25',
          kind: 'discarded',
          old_value: '505.5',
          old_rounded_to: null,
        },
        ...{ old_stored_at: now.getTime(), new_value: null, replaced_at: now.toISOString(), run_id: null },
      },
    ])
    await writer.close(await raiseRevision(trx, now))
  })
  const damaged = async () => {
    const { findings } = JSON.parse((await run('doctor', '--json')).out) as {
      findings: { message: string }[]
    }
    return findings.map(({ message }) => message).filter((one) => one.includes('as they were stored'))
  }
  assert.deepEqual(await damaged(), [])
  await sql.raw(statement).execute(db)
  return { ...source, run, damaged }
}

const OTHER_DIGIT = `update rates set value = '505.7' where rate_date = '2025-03-24'`

test('`doctor` names a damaged year, and the sync that reads it again', async (t) => {
  const { damaged, run, dataDir } = await openDamaged(t, OTHER_DIGIT)
  const sync = 'cambista sync --from 2025-01-01 --to 2025-12-31 reads them again; else restore a backup'
  assert.deepEqual(await damaged(), [`${VALUES}: ${sync}, or accept them with ${ACCEPT}`])

  const lock = takeFileLock(dataDir, 'serve.lock')
  const refused = await run('doctor', '--accept-sums', '1', '2025')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /a server is using .*: stop it first/)
  lock?.release()
  const wrong = await run('doctor', '--accept-sums', '1', '2024')
  assert.match(wrong.err, /the sums of series 1, 2024, fit its rows: there is nothing to accept/)
  for (const words of [['--accept-sums', '1'], ['2025']]) {
    const misused = await run('doctor', ...words)
    assert.equal(misused.code, 2)
    assert.match(misused.err, /--accept-sums SERIES YEAR/)
  }
  const accepted = await run('doctor', '--accept-sums', '1', '2025')
  assert.match(accepted.out, /^accepted: series 1, 2025\n/)
  assert.deepEqual(await damaged(), [])
})

test('`doctor` names damaged revisions, which no sync reads again', async (t) => {
  const { damaged, run } = await openDamaged(t, `update rate_revisions set old_value = '505.7'`)
  assert.deepEqual(await damaged(), [
    'series 1 (USD/CRC compra): its revisions are not as they were stored: restore a backup, or accept them with ' +
      'cambista doctor --accept-sums 1 revisions',
  ])
  await run('doctor', '--accept-sums', '1', 'revisions')
  assert.deepEqual(await damaged(), [])
})

test('`backup verify` fails for damaged rates, and `backup restore` reports them', async (t) => {
  const { run, setDir, home } = await openDamaged(t, OTHER_DIGIT)
  await run('backup', 'create', setDir)
  const verified = await runCommand(['backup', 'verify', setDir])
  assert.equal(verified.code, 1)
  assert.match(verified.out, new RegExp(VALUES.replace(/[()]/g, '\\$&')))
  const restored = await runCommand(['backup', 'restore', setDir, '--data-dir', join(home, 'new')])
  assert.equal(restored.code, 0, restored.err)
  assert.ok(restored.err.includes(`${VALUES}: cambista doctor says what to do\n`), restored.err)
})
