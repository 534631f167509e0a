import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Insertable } from 'kysely'
import { prepared, preparedByIds, preparedInsert } from '../../../src/store/prepared.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { COMPANY, makeDirectory } from '../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'

test('`prepared` builds a query once, and each call has its own values', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  let buildCount = 0
  const selectIds = prepared(
    ['least', 'other'],
    (among, { least, other }: { least: number; other: number | null }) => {
      buildCount += 1
      return among
        .selectFrom('companies')
        .select('id')
        .where('id', '>=', least)
        .where((of) => of.or([of('quota', 'is', null), of('id', '=', other)]))
    },
  )
  const all = await db.selectFrom('companies').select('id').orderBy('id').execute()
  assert.ok(all.some(({ id }) => id === COMPANY))
  const results = await Promise.all([
    selectIds(db, { least: 0, other: null }),
    selectIds(db, { least: COMPANY + 1, other: 5 }),
    selectIds(db, { least: COMPANY, other: COMPANY }),
  ])
  const above = (least: number) => all.filter(({ id }) => id >= least)
  assert.deepEqual(results, [all, above(COMPANY + 1), above(COMPANY)])
  assert.equal(buildCount, 1)
})

test('`preparedInsert` builds a statement once for each number of rows and set of columns', async (t) => {
  const db = temporaryDatabase(t)
  let buildCount = 0
  const insert = preparedInsert((trx, rows: readonly Insertable<Tables['companies']>[]) => {
    buildCount += 1
    return trx.insertInto('companies').values(rows).returning('name')
  })
  const createRows = (from: number, count: number, more = {}) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ name: `n${from + at}`, code: `C${from + at}`, created_at: AT },
      ...more,
    }))
  for (const [from, count] of [
    [1, 1],
    [2, 1],
    [10, 16],
    [30, 16],
  ] as const)
    assert.equal((await insert(db, createRows(from, count))).length, count)
  assert.deepEqual(await insert(db, createRows(50, 1, { quota: 7 })), [{ name: 'n50' }])
  assert.equal(buildCount, 3)
  for (const from of [60, 80]) assert.equal((await insert(db, createRows(from, 17))).length, 17)
  assert.equal(buildCount, 5)
  assert.deepEqual(await insert(db, []), [])
  const unlike = [...createRows(90, 1), ...createRows(91, 1, { quota: 7 })]
  await assert.rejects(insert(db, unlike), /the rows have different columns/)
  const rows = await db.selectFrom('companies').select(['name', 'code', 'quota']).execute()
  assert.equal(rows.length, 69)
  for (const { name, code, quota } of rows)
    assert.deepEqual([code, quota], [name.replace('n', 'C'), name === 'n50' ? 7 : null])
})

test('`preparedByIds` selects each row once, and builds a statement for each power of two', async (t) => {
  const db = temporaryDatabase(t)
  const numbers = Array.from({ length: 40 }, (_, at) => at + 1)
  await db
    .insertInto('companies')
    .values(numbers.map((id) => ({ id, name: `n${id}`, code: `C${id}`, created_at: AT })))
    .execute()
  let buildCount = 0
  const select = preparedByIds((among, ids) => {
    buildCount += 1
    return among.selectFrom('companies').select('id').where('id', 'in', ids)
  })
  for (const count of numbers) {
    const ids = numbers.slice(-count)
    const rows = await select(db, ids)
    assert.deepEqual(
      rows.map(({ id }) => id).sort((one, other) => one - other),
      ids,
    )
  }
  assert.equal(buildCount, 7)
  assert.deepEqual([await select(db, []), await select(db, [99])], [[], []])
  const many = Array.from({ length: 30_000 }, (_, at) => at + 1)
  assert.equal((await select(db, many)).length, 40)
})
