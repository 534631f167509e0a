// Company codes that differ only by case: new ones are refused, old ones are reported by `doctor`.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { insertCompany } from '../../../../../src/store/directory/companies.ts'
import { runJson } from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

type Company = { id: number; name: string; code: string }

const create = (dataDir: string, code: string, id: number) =>
  runCommand([
    'company',
    'create',
    '--name',
    `Company ${id}`,
    '--code',
    code,
    '--id',
    String(id),
    '--data-dir',
    dataDir,
  ])

async function importCompanies(t: TestContext, dataDir: string, ...companies: Company[]) {
  const file = join(temporaryDirectory(t), 'd.json')
  writeFileSync(file, JSON.stringify({ companies }))
  const { code, err } = await runCommand(['directory', 'import', file, '--data-dir', dataDir])
  return { code, err: err.replaceAll(`${file}: `, '').replace(/^cambista: .*\n/m, '') }
}

const company = (id: number, code: string): Company => ({ id, name: `Company ${id}`, code })

test('`company create` refuses a code that differs from another only by case', async (t) => {
  const dataDir = temporaryDirectory(t)
  assert.equal((await create(dataDir, 'Peñón', 1)).code, 0)
  for (const code of ['PEÑÓN', 'peñón', 'pEñóN']) {
    const end = await create(dataDir, code, 2)
    const reason = `code "Peñón" is taken by company 1 (Company 1), and "${code}" differs from it only by case`
    assert.deepEqual(end, { code: 1, out: '', err: `cambista: ${reason}\n` })
  }
  const same = await create(dataDir, 'Peñón', 2)
  assert.equal(same.err, 'cambista: code "Peñón" is taken by company 1 (Company 1)\n')
  assert.equal((await create(dataDir, 'Penon', 2)).code, 0, 'other letters make another code')
  assert.equal((await create(dataDir, 'Peñón', 1)).code, 0, 'the same call can be repeated')
})

test('`directory import` refuses a new or changed code that differs from another only by case', async (t) => {
  const dataDir = temporaryDirectory(t)
  await importCompanies(t, dataDir, company(1, 'ACME'), company(2, 'DP'))
  const like = 'code must differ by more than case:'
  assert.deepEqual(await importCompanies(t, dataDir, company(3, 'acme')), {
    code: 1,
    err: `companies[0], ${like} "acme" is like "ACME", that of company 1 (Company 1)\n`,
  })
  assert.deepEqual(await importCompanies(t, dataDir, company(2, 'Acme'), company(1, 'ACME')), {
    code: 1,
    err: `companies[0], ${like} "Acme" is like "ACME", that of companies[1]\n`,
  })
  assert.deepEqual(await importCompanies(t, dataDir, company(3, 'new'), company(4, 'NEW')), {
    code: 1,
    err: `companies[1], ${like} "NEW" is like "new", that of companies[0]\n`,
  })
  assert.equal(
    (await importCompanies(t, dataDir, company(1, 'Acme'))).code,
    0,
    'its own code in other letters',
  )
  assert.equal((await importCompanies(t, dataDir, company(1, 'dp'), company(2, 'ACME'))).code, 0, 'a swap')
})

test('`directory import` accepts codes that already differ only by case, and `doctor` reports them', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  for (const one of [company(1, 'ACME'), company(2, 'acme'), company(3, 'DP')]) {
    await insertCompany(db, { ...one, createdAt: '2026-01-01T00:00:00Z' })
  }
  const whole = await runJson<{ companies: Company[] }>(dataDir, 'directory', 'export')
  assert.equal((await importCompanies(t, dataDir, ...whole.companies)).code, 0)
  const third = await importCompanies(t, dataDir, company(3, 'Acme'))
  assert.match(third.err, /"Acme" is like "ACME", that of company 1/)

  const doctor = await runCommand(['doctor', '--data-dir', dataDir])
  const names = '"ACME" of company 1, "acme" of company 2'
  assert.match(
    doctor.out,
    new RegExp(`^note +company codes that differ only by case: ${names}; cambista directory`, 'm'),
  )
  assert.equal((await importCompanies(t, dataDir, company(2, 'Acme Dos'))).code, 0)
  assert.doesNotMatch((await runCommand(['doctor', '--data-dir', dataDir])).out, /only by case/)
})
