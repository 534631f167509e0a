import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepared } from '../../../src/store/prepared.ts'
import { COMPANY, makeDirectory } from '../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'

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
