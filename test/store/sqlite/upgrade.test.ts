// What becomes of a database of schema 3, row by row (decisions 2.6).

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { addDays, type IsoDate } from '../../../src/dates.ts'
import type { Interval } from '../../../src/intervals.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { SCHEMA_VERSION } from '../../../src/store/sqlite/migrations.ts'
import { daysFrom } from '../../support/rates/memory-bank.ts'
import {
  COUNTERS,
  IDS,
  type OldSeries,
  oldSeries,
  REVISIONS,
  TODAY,
  writeSchema3,
} from '../../support/schema-3.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

type Row = Record<string, string | number | null>
type Dump = Record<string, Row[]>

const PATH = 'cambista.db'
/** The newest days of an interval, of which it is not known that they were asked for two weeks after their date. */
const NOT_FINAL_DAYS = 16

/** Every row of every table, in the order of its columns, and the counters. */
function dump(path: string): Dump {
  const sqlite = new Sqlite(path, { readonly: true })
  const names = sqlite
    .prepare("select name from sqlite_schema where type = 'table'")
    .pluck()
    .all() as string[]
  const rows = names.map((name) => {
    const all = sqlite.prepare(`select * from ${name}`).all() as Row[]
    return [name, all.toSorted((a, b) => (Object.values(a).join() < Object.values(b).join() ? -1 : 1))]
  })
  sqlite.close()
  return Object.fromEntries(rows)
}

function pragma(path: string, text: string): unknown {
  const sqlite = new Sqlite(path, { readonly: true })
  try {
    return sqlite.pragma(text)
  } finally {
    sqlite.close()
  }
}

/** `change` is done to the database of before. */
async function upgrade(t: TestContext, series: readonly OldSeries[], change = (_: Sqlite.Database) => {}) {
  const dataDir = temporaryDirectory(t)
  const path = join(dataDir, PATH)
  writeSchema3(dataDir, series)
  const sqlite = new Sqlite(path)
  change(sqlite)
  sqlite.close()
  const before = dump(path)
  const began = Date.now()
  await openDatabase(dataDir).destroy()
  const ended = Date.now()
  return { dataDir, path, before, after: dump(path), began, ended }
}

/** The rows without some of their columns. */
function without(rows: readonly Row[] | undefined, ...names: string[]): Row[] {
  return (rows ?? []).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))),
  )
}

test('every row of before is there as it was, and nothing else has been made up', async (t) => {
  const { path, before, after, began, ended } = await upgrade(t, oldSeries())
  const same = Object.keys(before).filter(
    (name) => !['rates', 'feeds', 'sync_runs', 'rate_revisions', 'sqlite_sequence'].includes(name),
  )
  assert.ok(same.includes('documents') && same.includes('series') && same.includes('meta'))
  for (const name of same) {
    const columns = Object.keys(before[name]?.[0] ?? {})
    const kept = (after[name] ?? []).map((row) => Object.fromEntries(columns.map((one) => [one, row[one]])))
    assert.deepEqual(kept, before[name], name)
  }
  const added = [
    'catalogue_changes',
    'coverage',
    'coverage_changes',
    'events',
    'former_secrets',
    'hook_days',
    'hook_messages',
    'hooks',
    'login_links',
    'lost_contents',
    'record_gaps',
  ]
  assert.deepEqual(
    Object.keys(after).toSorted(),
    [...rest(Object.keys(before), 'feeds'), ...added].toSorted(),
  )

  const instants = new Set(after.rates?.map(({ stored_at }) => stored_at))
  const [instant = 0] = instants
  assert.equal(instants.size, 1, 'one instant for all of them')
  assert.ok(Number(instant) >= began && Number(instant) <= ended, 'that of the migration')
  assert.deepEqual(without(after.rates, 'stored_at'), before.rates)

  assert.deepEqual(without(after.sync_runs, 'token_hash', 'token_only'), before.sync_runs)
  for (const run of after.sync_runs ?? []) assert.deepEqual([run.token_hash, run.token_only], [null, 0])

  assert.deepEqual(
    without(after.rate_revisions, 'kind', 'old_rounded_to', 'old_stored_at'),
    before.rate_revisions,
  )
  assert.equal(after.rate_revisions?.length, REVISIONS.length)
  for (const { kind, old_rounded_to, old_stored_at } of after.rate_revisions ?? []) {
    assert.deepEqual([kind, old_rounded_to, old_stored_at], ['correction', null, null])
  }
  assert.deepEqual(pragma(path, 'integrity_check'), [{ integrity_check: 'ok' }])
  assert.deepEqual(pragma(path, 'foreign_key_check'), [])
  assert.equal(SCHEMA_VERSION, (pragma(path, 'user_version') as [{ user_version: number }])[0].user_version)
})

test('a number that a run or a revision once had is not given again', async (t) => {
  const { dataDir, before, after } = await upgrade(t, oldSeries())
  assert.deepEqual(after.sqlite_sequence, before.sqlite_sequence)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const run = { provider_id: 1, trigger: 'refine', status: 'ok', started_at: 'now' } as const
  const { id: run_id } = await db
    .insertInto('sync_runs')
    .values(run as never)
    .returning('id')
    .executeTakeFirstOrThrow()
  const revision = { series_id: 1, rate_date: TODAY, kind: 'refined', run_id } as const
  const values = { old_value: '1', new_value: '2', replaced_at: 'now' }
  const added = await db
    .insertInto('rate_revisions')
    .values({ ...revision, ...values } as never)
    .returning('id')
    .executeTakeFirstOrThrow()
  assert.deepEqual([run_id, added.id], [COUNTERS.sync_runs + 1, COUNTERS.rate_revisions + 1])
})

test('so it is where every run and revision has been removed, and where there has never been one', async (t) => {
  const remove = 'delete from rate_revisions; delete from sync_runs;'
  const gone = await upgrade(t, [], (sqlite) => sqlite.exec(remove))
  assert.deepEqual(gone.after.sqlite_sequence, gone.before.sqlite_sequence)
  const never = await upgrade(t, [], (sqlite) => sqlite.exec(`${remove} delete from sqlite_sequence`))
  assert.deepEqual(never.after.sqlite_sequence, [])
})

test('each interval stays; values outside become intervals of their own runs of days', async (t) => {
  const series = oldSeries()
  const { after } = await upgrade(t, series)
  const rowsOf = (kind: string, id: number) =>
    (after.coverage ?? [])
      .filter((row) => row.kind === kind && row.series_id === id)
      .map(({ covered_from, covered_to }) => `${covered_from} ${covered_to}`)
      .toSorted()
  for (const { id, covered, values } of series) {
    const days = new Set([...values.keys(), ...(covered ? daysFrom(covered.from, covered.to) : [])])
    assert.deepEqual(rowsOf('answered', id), runsIn(days).map(textOf), `series ${id}`)
    const end = covered && addDays(covered.to, -NOT_FINAL_DAYS)
    assert.deepEqual(
      rowsOf('final', id),
      covered && end && end >= covered.from ? [`${covered.from} ${end}`] : [],
      `series ${id}`,
    )
    assert.deepEqual(
      rowsOf('exact', id),
      [],
      'of none it is known that a source was asked that does not round',
    )
  }
  assert.deepEqual(rowsOf('answered', IDS.venta), ['1990-02-01 1990-03-03', '2023-12-30 2026-03-24'])
  assert.equal(
    after.coverage?.length,
    series.flatMap(({ id }) => [...rowsOf('answered', id), ...rowsOf('final', id)]).length,
  )
})

test('an interval of a few days has nothing that is final', async (t) => {
  const [compra, venta] = oldSeries()
  assert.ok(compra && venta)
  const long = { ...compra, covered: { from: addDays(TODAY, -NOT_FINAL_DAYS), to: TODAY } }
  const short = { ...venta, covered: { from: addDays(TODAY, 1 - NOT_FINAL_DAYS), to: TODAY } }
  const { after } = await upgrade(t, [long, short])
  const final = after.coverage?.filter(({ kind }) => kind === 'final')
  const day = addDays(TODAY, -NOT_FINAL_DAYS)
  assert.deepEqual(final, [{ series_id: compra.id, kind: 'final', covered_from: day, covered_to: day }])
})

test('the database of before is beside it, row by row', async (t) => {
  const { dataDir, before } = await upgrade(t, oldSeries())
  const copies = readdirSync(dataDir).filter((name) => name.endsWith('.bak'))
  assert.match(copies.join(), /^cambista\.db\.v3-[-\dTZ]+\.bak$/)
  const copy = join(dataDir, copies[0] ?? '')
  // But for its epoch and its counters: who goes back to it repeats neither validators nor ids.
  const { meta, sqlite_sequence: counters, ...rows } = dump(copy)
  const { meta: metaBefore, sqlite_sequence: countersBefore, ...rowsBefore } = before
  assert.deepEqual(rows, rowsBefore)
  assert.notDeepEqual(meta, metaBefore)
  assert.equal(counters?.length, countersBefore?.length)
  assert.deepEqual(pragma(copy, 'user_version'), [{ user_version: 3 }])
})

function rest(names: readonly string[], gone: string): string[] {
  return names.filter((name) => name !== gone)
}

/** Days as intervals, by a loop over each day. */
function runsIn(days: ReadonlySet<IsoDate>): Interval[] {
  return [...days]
    .toSorted()
    .filter((day) => !days.has(addDays(day, -1)))
    .map((from) => {
      let to = from
      while (days.has(addDays(to, 1))) to = addDays(to, 1)
      return { from, to }
    })
}

function textOf({ from, to }: Interval): string {
  return `${from} ${to}`
}
