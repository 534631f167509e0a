import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DirectoryExport } from '../../../../../src/domain/directory/export.ts'
import type { ImportCounts } from '../../../../../src/domain/directory/import.ts'
import { makeDirectory, openTestBlobs, runJson, storeTexts } from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const FULL: DirectoryExport = {
  companies: [
    { id: 7, name: 'Café "Britt", S.A.', code: 'BRITT', tax_ids: '3101654321,110340567' },
    { id: 9, name: 'Dos Pinos', code: 'DP', tax_ids: null },
  ],
  owners: [
    { id: 31, name: 'Ana Mora', company_id: 7 },
    { id: 32, name: 'Luis', company_id: null },
  ],
  agents: [
    { id: 12, company_id: 7, name: 'Facturas', description: '<p>Lee;\nfacturas, todas</p>', active: true },
    { id: Number.MAX_SAFE_INTEGER, company_id: 9, name: '会計', description: '', active: false },
  ],
}
const FULL_CSV = `kind,id,name,code,company_id,description,active,tax_ids
agent,12,Facturas,,7,"<p>Lee;
facturas, todas</p>",TRUE,
Agent,9007199254740991,会計,,9,,no,

company,7,"Café ""Britt"", S.A.",BRITT,,,,3-101-654321 0110340567
company, 9 , Dos Pinos ,DP,,,,
owner,31,Ana Mora,,7,,,
owner,32,Luis,,,,,
`
const NEW: ImportCounts = {
  companies: { created: 2, updated: 0, unchanged: 0 },
  owners: { created: 2, updated: 0, unchanged: 0 },
  agents: { created: 2, updated: 0, unchanged: 0 },
}
const SAME: ImportCounts = {
  companies: { created: 0, updated: 0, unchanged: 2 },
  owners: { created: 0, updated: 0, unchanged: 2 },
  agents: { created: 0, updated: 0, unchanged: 2 },
}

function writeTemporaryFile(t: TestContext, name: string, content: string | Uint8Array): string {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, content)
  return path
}

async function importDirectory(t: TestContext, dataDir: string, directory: unknown): Promise<ImportCounts> {
  return runJson(dataDir, 'directory', 'import', writeTemporaryFile(t, 'd.json', JSON.stringify(directory)))
}

const files: [string, string, string | Uint8Array][] = [
  ['JSON', 'd.json', JSON.stringify(FULL)],
  ['JSON with a byte order mark', 'd.JSON', `\ufeff${JSON.stringify(FULL)}`],
  ['CSV with commas', 'd.csv', FULL_CSV],
  ['CSV of Excel in Spanish', 'd.CSV', `\ufeff${asSpanishExcel(FULL_CSV)}`],
  ['CSV with a line for its separator', 'd.csv', `\ufeffsep=;\r\n${asSpanishExcel(FULL_CSV)}`],
  ['CSV with empty columns', 'd.csv', FULL_CSV.replace('tax_ids', 'tax_ids,,').replace('DP,,,,', 'DP,,,,,,')],
  ['Unicode text of Excel', 'd.csv', Buffer.from(`\ufeff${asSpanishExcel(FULL_CSV)}`, 'utf16le')],
  ['UTF-16 with its high bytes first', 'd.csv', Buffer.from(`\ufeff${FULL_CSV}`, 'utf16le').swap16()],
]
for (const [title, name, content] of files) {
  test(`${title} can be imported twice, and its export imports as the same directory`, async (t) => {
    const dataDir = temporaryDirectory(t)
    const path = writeTemporaryFile(t, name, content)
    assert.deepEqual(await runJson(dataDir, 'directory', 'import', path), NEW)
    assert.deepEqual(await runJson(dataDir, 'directory', 'import', path), SAME)
    const exported = await runCommand(['directory', 'export', '--data-dir', dataDir])
    assert.deepEqual(JSON.parse(exported.out), FULL)
    const copy = temporaryDirectory(t)
    assert.deepEqual(await importDirectory(t, copy, JSON.parse(exported.out)), NEW)
    assert.equal((await runCommand(['directory', 'export', '--data-dir', copy])).out, exported.out)
  })
}

test('`directory import` reads windows-1252', async (t) => {
  const dataDir = temporaryDirectory(t)
  const csv = 'kind;id;name\r\nowner;1;Jos\xe9 N\xfa\xf1ez \x80 \x93x\x94\r\n'
  await runJson(dataDir, 'directory', 'import', writeTemporaryFile(t, 'd.csv', Buffer.from(csv, 'latin1')))
  const { owners } = await runJson<DirectoryExport>(dataDir, 'directory', 'export')
  assert.deepEqual(owners, [{ id: 1, name: 'José Núñez € “x”', company_id: null }])
})

/** Rewrites CSV as Excel in Spanish: semicolons, CRLF, VERDADERO. Commas inside a text remain. */
function asSpanishExcel(csv: string): string {
  const rows = csv.replace('Lee;\nfacturas, todas', 'Lee#\nfacturas@ todas').replace('"", S.A.', '""@ S.A.')
  const semicolons = rows.replaceAll(',', ';').replaceAll('@', ',').replaceAll('#', ';')
  return semicolons
    .replace('TRUE', 'VERDADERO')
    .replace(';no', ';FALSO')
    .replace(/(?<!Lee;)\n/g, '\r\n')
}

test('`directory import` changes the given fields of the given rows alone', async (t) => {
  const dataDir = temporaryDirectory(t)
  await importDirectory(t, dataDir, FULL)
  const imported = await importDirectory(t, dataDir, {
    agents: [{ id: Number.MAX_SAFE_INTEGER, company_id: 7, name: 'Contabilidad' }],
    owners: [{ id: 31, name: 'Ana M.' }],
  })
  assert.deepEqual(imported.agents, { created: 0, updated: 1, unchanged: 0 })
  assert.deepEqual(imported.companies, { created: 0, updated: 0, unchanged: 0 })
  const now = await runJson<DirectoryExport>(dataDir, 'directory', 'export')
  assert.deepEqual(now.companies, FULL.companies)
  assert.deepEqual(now.owners, [{ id: 31, name: 'Ana M.', company_id: 7 }, FULL.owners[1]])
  const [first, last] = now.agents
  assert.deepEqual(first, FULL.agents[0])
  assert.deepEqual(last, { ...FULL.agents[1], company_id: 7, name: 'Contabilidad' })

  await importDirectory(t, dataDir, { owners: [{ id: 31, name: 'Ana M.', company_id: null }] })
  assert.equal((await runJson<DirectoryExport>(dataDir, 'directory', 'export')).owners[0]?.company_id, null)
})

test('`directory import` can swap codes and reuse a code that it frees', async (t) => {
  const dataDir = temporaryDirectory(t)
  await importDirectory(t, dataDir, FULL)
  const companies = [
    { id: 7, name: 'A', code: 'DP' },
    { id: 9, name: 'B', code: 'BRITT' },
  ]
  const swapped = await importDirectory(t, dataDir, { companies })
  assert.deepEqual(swapped.companies, { created: 0, updated: 2, unchanged: 0 })
  const read = async () => {
    const { companies } = await runJson<DirectoryExport>(dataDir, 'directory', 'export')
    return companies.map(({ tax_ids: _, ...company }) => company)
  }
  assert.deepEqual(await read(), companies)
  const reassigned = [
    { id: 5, name: 'C', code: 'DP' },
    { id: 7, name: 'A', code: 'new' },
  ]
  await importDirectory(t, dataDir, { companies: reassigned })
  assert.deepEqual(await read(), [...reassigned, companies[1]])
})

test('`directory import` cannot move an agent or owner with documents to another company', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  await storeTexts(db, await openTestBlobs(dataDir), ['one'])
  const companies = [{ id: 9, name: 'Dos Pinos', code: 'DP' }]
  const agents = [{ id: 12, company_id: 9, name: 'Facturas' }]
  const owners = [{ id: 31, company_id: 9, name: 'Ana' }]
  const path = writeTemporaryFile(t, 'd.json', JSON.stringify({ companies, agents, owners }))
  const end = await runCommand(['directory', 'import', path, '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(
    end.err,
    /owners\[0\], company_id must stay 7: the owner has documents of another company than 9/,
  )
  assert.match(
    end.err,
    /agents\[0\], company_id must stay 7: the agent has documents of another company than 9/,
  )

  await importDirectory(t, dataDir, { companies, owners: [{ id: 31, company_id: null, name: 'Ana' }] })
  assert.equal((await runJson<DirectoryExport>(dataDir, 'directory', 'export')).owners[0]?.company_id, null)
})

test('`directory export --out` does not overwrite a file', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const out = join(temporaryDirectory(t), 'directory.json')
  const words = ['directory', 'export', '--out', out, '--data-dir', dataDir]
  const end = await runCommand([...words, '--json'])
  assert.deepEqual([end.code, JSON.parse(end.out)], [0, { file: out, companies: 1, owners: 1, agents: 1 }])
  const text = readFileSync(out, 'utf8')
  assert.equal(text, (await runCommand(['directory', 'export', '--data-dir', dataDir])).out)
  const again = await runCommand(words)
  assert.equal(again.code, 1)
  assert.match(again.err, /is there already and is not overwritten/)
  assert.equal(readFileSync(out, 'utf8'), text)
  const plain = await runCommand(['directory', 'export', '--out', `${out}.2`, '--data-dir', dataDir])
  assert.equal(plain.out, `1 company, 1 owner, 1 agent written to ${out}.2\n`)
})
