import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepared } from '../../src/store/prepared.ts'
import { COMPANY, makeDirectory } from '../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../support/temporary.ts'

test('each call has its own values, and the text is made once', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  let made = 0
  const idsFrom = prepared(
    ['least', 'other'],
    (among, { least, other }: { least: number; other: number | null }) => {
      made += 1
      return among
        .selectFrom('companies')
        .select('id')
        .where('id', '>=', least)
        .where((of) => of.or([of('quota', 'is', null), of('id', '=', other)]))
    },
  )
  const all = await db.selectFrom('companies').select('id').orderBy('id').execute()
  assert.ok(all.some(({ id }) => id === COMPANY))
  const found = await Promise.all([
    idsFrom(db, { least: 0, other: null }),
    idsFrom(db, { least: COMPANY + 1, other: 5 }),
    idsFrom(db, { least: COMPANY, other: COMPANY }),
  ])
  const above = (least: number) => all.filter(({ id }) => id >= least)
  assert.deepEqual(found, [all, above(COMPANY + 1), above(COMPANY)])
  assert.equal(made, 1)
})
