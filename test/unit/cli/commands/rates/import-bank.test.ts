// `import --bccr`: files of the bank's website, merged with the stored values (decisions#bank-files).

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../../../../support/app.ts'
import { createWorkbook, dayCell, TWO } from '../../../../support/rates/workbooks.ts'
import { runCommand } from '../../../../support/terminal.ts'

type Run = { id: number; trigger: string; status: string; date_from: string; date_to: string }
type End = { inserted: number; updated: number; unchanged: number; kept: number; run?: Run }

function openBox(t: TestContext) {
  const dir = temporaryDirectory(t)
  const dataDir = join(dir, 'data')
  let files = 0
  const writeFile = (content: string | Buffer) => {
    const path = join(dir, `${++files}`)
    writeFileSync(path, content)
    return path
  }
  const importFile = (content: string | Buffer, ...words: string[]) =>
    runCommand(['import', '--bccr', writeFile(content), '--data-dir', dataDir, ...words])
  const importJson = async (content: string | Buffer, ...words: string[]): Promise<End> => {
    const end = await importFile(content, '--json', ...words)
    assert.ok(end.code === 0 || end.code === 3, end.err)
    return JSON.parse(end.out)[0]
  }
  /** Returns the covered days and the stored values of the sale of the dollar. */
  const readStored = async () => {
    const path = join(dir, `export-${++files}`)
    const end = await runCommand(['export', path, '--data-dir', dataDir])
    assert.equal(end.code, 0, end.err)
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes(',318,'))
    return lines.map((line) => {
      const cells = line.split(',')
      return line.startsWith('#') ? cells.slice(-2).join(' to ') : cells.slice(5, 8).join(' ').trim()
    })
  }
  return { dataDir, writeFile, importFile, importJson, readStored }
}

const sale = (...lines: string[]) => ['Fecha;Tipo cambio venta', ...lines, ''].join('\r\n')
const FILE = sale('10/03/2025;503,90', '11/03/2025;504,10', '13/03/2025;504,35')
const COUNTS = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }

test('`import --bccr` stores the values of a file in a run, and covers their days alone', async (t) => {
  const box = openBox(t)
  const dry = await box.importJson(FILE, '--dry-run')
  assert.deepEqual(dry, { provider: 'bccr', ...COUNTS, inserted: 3 })
  assert.deepEqual(await box.readStored(), [])
  const { run, ...counts } = await box.importJson(FILE)
  assert.deepEqual(counts, { provider: 'bccr', ...COUNTS, inserted: 3 })
  const { trigger, status, date_from, date_to } = run as Run
  assert.deepEqual([trigger, status, date_from, date_to], ['import', 'ok', '2025-03-10', '2025-03-13'])
  assert.deepEqual(await box.readStored(), [
    ...['2025-03-10 to 2025-03-11', '2025-03-13 to 2025-03-13'],
    ...['2025-03-10 503.9 2', '2025-03-11 504.1 2', '2025-03-13 504.35 2'],
  ])
  assert.deepEqual(
    { ...(await box.importJson(FILE)), run: undefined },
    { provider: 'bccr', ...COUNTS, unchanged: 3, run: undefined },
  )
})

test('rounded values of a file replace exact ones only with --replace, and only where they differ', async (t) => {
  const box = openBox(t)
  const exact = sale('10/03/2025;503,9012', '11/03/2025;504,4999', '13/03/2025;504,35')
  assert.equal((await box.importJson(exact, '--exact')).inserted, 3)
  const end = await box.importFile(FILE, '--json')
  assert.equal(end.code, 3)
  const [{ inserted, updated, unchanged, kept, run }] = JSON.parse(end.out)
  assert.deepEqual([inserted, updated, unchanged, kept], [0, 0, 2, 1])
  assert.equal(run.status, 'parcial')
  const before = ['2025-03-10 503.9012', '2025-03-11 504.4999', '2025-03-13 504.35']
  assert.deepEqual((await box.readStored()).slice(2), before)
  const replaced = await box.importJson(FILE, '--replace')
  assert.deepEqual([replaced.updated, replaced.unchanged, replaced.kept], [1, 2, 0])
  assert.deepEqual((await box.readStored()).slice(2), [
    '2025-03-10 503.9012',
    '2025-03-11 504.1 2',
    '2025-03-13 504.35',
  ])
})

test('`import --bccr --exact` refines rounded values', async (t) => {
  const box = openBox(t)
  await box.importJson(FILE)
  const day = [dayCell('2025-03-10'), { n: '503.90120000000002', style: TWO }]
  const exact = await createWorkbook({ Datos: [['Fecha', 'Venta del dólar'], day] })
  assert.equal((await box.importJson(exact, '--exact', '--indicator', '318')).updated, 1)
  assert.deepEqual((await box.readStored())[2], '2025-03-10 503.9012')
  const list = ['revision', 'list', '--data-dir', box.dataDir, '--json', '--refined']
  assert.equal(JSON.parse((await runCommand(list)).out)[0].old_value, '503.9')
})

const refusedFiles: [title: string, content: string | Buffer, words: RegExp, options?: string[]][] = [
  [
    'with a bad cell',
    sale('10/03/2025;503,90', '11/03/2025;x'),
    /cannot import .*: line 3, column 2: "x" is no value/,
  ],
  ['of an unknown indicator', FILE.replace('cambio venta', 'cambio MONEX'), /give --indicator, such as 318/],
  ['with an --indicator that does not exist', FILE, /there is no indicator 319/, ['--indicator', '319']],
  [
    'whose decimals are lost',
    FILE.replaceAll(',', ''),
    /line 4, column 2: 50435 is too far from the 504 of 2025-03-01/,
  ],
  [
    'of another rate',
    sale('10/03/2025;1,08'),
    /is too far from the 504 of 2025-03-01 to be Tipo cambio venta, 318/,
  ],
  [
    'with a value in the middle that lost its decimal sign',
    sale('10/03/2025;503,90', '11/03/2025;504.100', '12/03/2025;504,20'),
    /line 3, column 2: 504100 and the 503.9 of 2025-03-10 differ by more than a factor of 5/,
  ],
  [
    'of an indicator without stored values to compare with',
    sale('10/03/2025;503,90').replace('Tipo cambio venta', 'x'),
    /nothing is stored of .*, so nothing says that 503.9 can be right/,
    ['--indicator', '60246'],
  ],
  ['that is empty', '', /no table of days and values/],
]
for (const [title, content, words, options = []] of refusedFiles) {
  test(`\`import --bccr\` refuses a file ${title} as a whole`, async (t) => {
    const box = openBox(t)
    await box.importJson(sale('01/03/2025;504,00'))
    const before = await box.readStored()
    const end = await box.importFile(content, ...options)
    assert.equal(end.code, 1)
    assert.match(end.err, words)
    assert.doesNotMatch(end.err, /\.ts:\d/)
    assert.deepEqual(await box.readStored(), before)
  })
}

test('`import --bccr` into an empty database refuses a file whose decimals are lost', async (t) => {
  const end = await openBox(t).importFile(sale('10/03/2025;50390000000'))
  assert.match(end.err, /line 2, column 2: 50390000000 is too far from the 400 to 700 of today/)
})

test('options of files of the bank require --bccr', async (t) => {
  const { writeFile, dataDir } = openBox(t)
  for (const words of [['--exact'], ['--indicator', '318'], ['--decimal', 'comma']]) {
    const end = await runCommand(['import', writeFile(FILE), '--data-dir', dataDir, ...words])
    assert.equal(end.code, 2)
    assert.match(end.err, /go with --bccr/)
  }
})

test('`import --bccr` reads CSV of other programs, and names file and cell of a wrong time', async (t) => {
  const rows = (form: string) =>
    ['10', '11'].map((day) => `${form.replace('DD', day)},503.90,"nota; x"`).join('\n')
  const file = (form: string, ...head: string[]) =>
    [
      ...head,
      'Fecha,Tipo cambio venta,',
      rows(form).replaceAll('"nota; x"', ''),
      '"Fuente: BCCR; propia",,',
    ].join('\n')
  for (const content of [
    file('2025-03-DDT00:00:00-06:00'),
    file('DD/03/2025 12:00:00 a. m.', '\ufeffsep=,'),
    file('2025-03-DDT00:00:00', '"Serie diaria; colones",,'),
  ]) {
    const box = openBox(t)
    assert.equal((await box.importJson(content)).inserted, 2, content)
    assert.equal((await box.readStored())[0], '2025-03-10 to 2025-03-11')
  }
  const box = openBox(t)
  const end = await box.importFile(file('DD/03/2025 12:00', 'sep=,'))
  assert.equal(end.code, 1)
  assert.match(end.err, /^cambista: cannot import \S+\/1: line 3, column 1: "10\/03\/2025 12:00" is no day/m)
  assert.match(
    (await box.importFile(`Fecha,Tipo cambio venta,\n${rows('DD/03/2025')}`)).err,
    /line 2, column 3: "nota; x"/,
  )
  assert.deepEqual(await box.readStored(), [])
})
