import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

function writeTemporaryFile(t: TestContext, name: string, content: string | Uint8Array): string {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, content)
  return path
}

const ID = 'must be an integer from 1 to 9007199254740991'
const mistakes: [string, string, string[]][] = [
  ['d.json', '[]', ['the file must be an object with lists under companies, owners, agents']],
  [
    'd.json',
    '{"company":[],"owners":{}}',
    [
      '"company" is not known: the file must be an object with lists under companies, owners, agents',
      'owners must be a list',
    ],
  ],
  [
    'd.json',
    '{"companies":[1,null,{"id":0,"name":""},{"id":"1x","name":"a","code":"a","active":true}]}',
    [
      'companies[0] must be an object',
      'companies[1] must be an object',
      `companies[2], id ${ID}, not 0`,
      'companies[2], name must be 1 to 255 characters, no control characters, no spaces at either end, not ""',
      'companies[2], code is missing: it must be 1 to 255 characters, no control characters, no spaces at either end',
      `companies[3], id ${ID}, not "1x"`,
      'companies[3], active is not one of the fields id, name, code, tax_ids',
    ],
  ],
  [
    'd.json',
    '{"owners":[{"id":1.5,"name":7,"company_id":"7"},{"id":9007199254740993,"name":"x","company_id":99}]}',
    [
      `owners[0], id ${ID}, not 1.5`,
      'owners[0], name must be 1 to 255 characters, no control characters, no spaces at either end, not 7',
      `owners[1], id ${ID}, not 9007199254740992`,
    ],
  ],
  [
    'd.json',
    '{"owners":[{"id":1,"name":"x","company_id":99}],"agents":[{"id":1,"name":"x","company_id":98,"active":"maybe"},{"id":2,"name":"y","company_id":98}]}',
    [
      'agents[0], active must be true or false, not "maybe"',
      'agents[1], company_id must be the id of a company: there is no 98, neither stored nor in this file',
      'owners[0], company_id must be the id of a company: there is no 99, neither stored nor in this file',
    ],
  ],
  [
    'd.json',
    '{"companies":[{"id":50,"name":"","code":"x"}],"agents":[{"id":2,"name":"y","company_id":50}]}',
    [
      'companies[0], name must be 1 to 255 characters, no control characters, no spaces at either end, not ""',
    ],
  ],
  [
    'd.json',
    '{"companies":[{"id":50,"name":"a","code":"BRITT"},{"id":51,"name":"b","code":"x"},{"id":52,"name":"c","code":"x"},{"id":51,"name":"d","code":"y"}]}',
    [
      'companies[0], code must be of one company only: "BRITT" is that of company 7 (Café Britt)',
      'companies[2], code must be of one company only: "x" is that of companies[1]',
      'companies[3], id must be named once: company 51 is at companies[1] already',
    ],
  ],
  [
    'd.csv',
    '',
    ['line 1 must be the header: kind, id, name, code, company_id, description, active, tax_ids'],
  ],
  [
    'd.csv',
    'Kind,name,name,email\ncompany,a,a,a\n',
    [
      'line 1, header has the column name twice',
      'line 1, header has the column "email", which is none of kind, id, name, code, company_id, description, active, tax_ids',
      'line 1, header must have a column id',
    ],
  ],
  [
    'd.csv',
    'kind;id;name\n\nfirm;1;x\n;2;x\n;;\nowner;3;"a\nb"\nowner;4\nowner;5;x;y\nowner;6;\nowner;1,5;Q\n',
    [
      'line 3, kind must be company, owner, agent, not "firm"',
      'line 4, kind must be company, owner, agent, not ""',
      'line 6, name must be 1 to 255 characters, no control characters, no spaces at either end, not "a\\nb"',
      'line 8 has 2 cells where the header has 3',
      'line 9 has 4 cells where the header has 3: put a text that holds the separator into "quotes"',
      'line 10, name is missing: it must be 1 to 255 characters, no control characters, no spaces at either end',
      `line 11, id ${ID}, not "1,5"`,
    ],
  ],
  [
    'd.csv',
    'kind,id,name,company_id,code\nowner,1,x,7,CODE\n',
    ['line 2, code is not one of the fields id, name, company_id'],
  ],
  [
    'd.csv',
    'sep=;\nkind;id;;name;;\nowner;4;;X;;\nowner;5;y;Z;;\nowner;6;;Z;;w\nowner;7;;Z;;;v\nowner;x;;Z;;;',
    [
      'line 4, column 3 is "y" below an empty cell of the header',
      'line 5, column 6 is "w" below an empty cell of the header',
      'line 6 has 7 cells where the header has 6: put a text that holds the separator into "quotes"',
      `line 7, id ${ID}, not "x"`,
    ],
  ],
]
for (const [name, content, expected] of mistakes) {
  test(`\`directory import\` reports each mistake and changes nothing: ${content.slice(0, 50)}`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await makeDirectory(dataDir)
    const before = await runJson(dataDir, 'directory', 'export')
    const path = writeTemporaryFile(t, name, content)
    const end = await runCommand(['directory', 'import', path, '--data-dir', dataDir, '--json'])
    assert.deepEqual([end.code, end.out], [1, ''])
    const lines = end.err.trimEnd().split('\n')
    const last = lines.pop()
    assert.deepEqual(
      lines,
      expected.map((line) => `${path}: ${line}`),
    )
    assert.match(
      last ?? '',
      new RegExp(`^cambista: ${expected.length} mistakes? in .*: nothing was changed$`),
    )
    assert.deepEqual(await runJson(dataDir, 'directory', 'export'), before)
  })
}

test('`directory import` with one mistake writes no row', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const before = await runJson(dataDir, 'directory', 'export')
  const rows = Array.from({ length: 500 }, (_, at) => `company,${at + 100},Company ${at},C${at}`)
  const path = writeTemporaryFile(t, 'd.csv', `kind,id,name,code\n${rows.join('\n')}\ncompany,7,Twin,C3\n`)
  const end = await runCommand(['directory', 'import', path, '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, /line 502, code must be of one company only: "C3" is that of line 5\n/)
  assert.match(end.err, /1 mistake in /)
  assert.deepEqual(await runJson(dataDir, 'directory', 'export'), before)
})

const unreadable: [string, string | Uint8Array, RegExp][] = [
  ['d.json', '{"companies":[}', /cannot read .*d\.json: it is not JSON: Unexpected token/],
  ['d.csv', 'kind,id\ncompany,"1\n', /it is not CSV: .*at line 2/],
  ['d.csv', Buffer.from('kind,id,name\nowner,1,José\n', 'utf16le'), /it is not text: .*CSV UTF-8/],
  ['d.csv', Buffer.from('PK\x03\x04\x14\0\x06\0\xf3', 'latin1'), /it is not text: .*CSV UTF-8/],
  [
    'd.csv',
    Buffer.from('kind,id,name\nowner,1,Jos\x81\xe9\n', 'latin1'),
    /line 2, name must be .* no control characters/,
  ],
  ['d.json', Buffer.from('{"owners":[{"id":1,"name":"Jos\xe9"}]}', 'latin1'), /it is not UTF-8/],
]
for (const [name, content, expected] of unreadable) {
  test(`\`directory import\` refuses an unreadable ${name}: ${expected.source.slice(0, 60)}`, async (t) => {
    const end = await runCommand([
      'directory',
      'import',
      writeTemporaryFile(t, name, content),
      '--data-dir',
      temporaryDirectory(t),
    ])
    assert.deepEqual([end.code, end.out], [1, ''])
    assert.match(end.err, expected)
  })
}

test('`directory import` reports a missing file or another file ending', async (t) => {
  const at = ['--data-dir', temporaryDirectory(t)]
  const none = await runCommand(['directory', 'import', '/none.csv', ...at])
  assert.deepEqual([none.code, none.out], [1, ''])
  assert.match(none.err, /cannot read \/none\.csv: ENOENT/)
  const other = await runCommand(['directory', 'import', 'd.xlsx', ...at])
  assert.equal(other.code, 2)
  assert.match(other.err, /FILE must end in \.json or \.csv, not "d\.xlsx"/)
})
