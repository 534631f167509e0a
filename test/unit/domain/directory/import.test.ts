// Imports of a directory that change codes, which are unique at all times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportDirectory } from '../../../../src/domain/directory/export.ts'
import { importDirectory } from '../../../../src/domain/directory/import.ts'
import { temporaryDatabase } from '../../../support/temporary.ts'

type TestCompany = { id: number; name: string; code: string }

test('`importDirectory` swaps codes, and gives a code that it frees to a new company', async (t) => {
  const db = temporaryDatabase(t)
  const store = async (companies: readonly TestCompany[]) => {
    const rows = companies.map((row) => ({ kind: 'company', place: `companies[${row.id}]`, row }) as const)
    const result = await importDirectory(db, { rows, errors: [] }, '2026-03-24T12:00:00Z')
    assert.deepEqual('errors' in result ? result.errors : [], [])
  }
  const read = async () =>
    (await exportDirectory(db)).companies.map(({ id, name, code }) => ({ id, name, code }))
  const [one, two] = [
    { id: 7, name: 'A', code: 'BRITT' },
    { id: 9, name: 'B', code: 'DP' },
  ]
  await store([one, two])
  const swapped = [
    { ...one, code: two.code },
    { ...two, code: one.code },
  ]
  await store(swapped)
  assert.deepEqual(await read(), swapped)
  const further = [
    { id: 5, name: 'C', code: two.code },
    { ...one, code: 'new' },
  ]
  await store(further)
  assert.deepEqual(await read(), [...further, swapped[1]])
})
