// cambista import --bccr: files of the bank's website beside what is stored (decisions 2.23).

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../../../support/app.ts'
import { dayCell, TWO, workbookOf } from '../../../support/rates/workbooks.ts'
import { runCommand } from '../../../support/terminal.ts'

type Run = { id: number; trigger: string; status: string; date_from: string; date_to: string }
type End = { inserted: number; updated: number; unchanged: number; kept: number; run?: Run }

function openBox(t: TestContext) {
  const dir = temporaryDirectory(t)
  const dataDir = join(dir, 'data')
  let files = 0
  const give = (content: string | Buffer) => {
    const path = join(dir, `${++files}`)
    writeFileSync(path, content)
    return path
  }
  const take = (content: string | Buffer, ...words: string[]) =>
    runCommand(['import', '--bccr', give(content), '--data-dir', dataDir, ...words])
  const taken = async (content: string | Buffer, ...words: string[]): Promise<End> => {
    const end = await take(content, '--json', ...words)
    assert.ok(end.code === 0 || end.code === 3, end.err)
    return JSON.parse(end.out)[0]
  }
  /** What is stored of the sale of the dollar, and which days are known. */
  const stored = async () => {
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
  return { dataDir, give, take, taken, stored }
}

const sale = (...lines: string[]) => ['Fecha;Tipo cambio venta', ...lines, ''].join('\r\n')
const FILE = sale('10/03/2025;503,90', '11/03/2025;504,10', '13/03/2025;504,35')
const COUNTS = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }

test('a file is a run of its days, with what it shows and no day more', async (t) => {
  const box = openBox(t)
  const dry = await box.taken(FILE, '--dry-run')
  assert.deepEqual(dry, { provider: 'bccr', ...COUNTS, inserted: 3 })
  assert.deepEqual(await box.stored(), [])
  const { run, ...counts } = await box.taken(FILE)
  assert.deepEqual(counts, { provider: 'bccr', ...COUNTS, inserted: 3 })
  const { trigger, status, date_from, date_to } = run as Run
  assert.deepEqual([trigger, status, date_from, date_to], ['import', 'ok', '2025-03-10', '2025-03-13'])
  assert.deepEqual(await box.stored(), [
    ...['2025-03-10 to 2025-03-11', '2025-03-13 to 2025-03-13'],
    ...['2025-03-10 503.9 2', '2025-03-11 504.1 2', '2025-03-13 504.35 2'],
  ])
  assert.deepEqual(
    { ...(await box.taken(FILE)), run: undefined },
    { provider: 'bccr', ...COUNTS, unchanged: 3, run: undefined },
  )
})

test('exact values stay where rounded ones agree, and where they do not, unless they are replaced', async (t) => {
  const box = openBox(t)
  const exact = sale('10/03/2025;503,9012', '11/03/2025;504,4999', '13/03/2025;504,35')
  assert.equal((await box.taken(exact, '--exact')).inserted, 3)
  const end = await box.take(FILE, '--json')
  assert.equal(end.code, 3)
  const [{ inserted, updated, unchanged, kept, run }] = JSON.parse(end.out)
  assert.deepEqual([inserted, updated, unchanged, kept], [0, 0, 2, 1])
  assert.equal(run.status, 'parcial')
  const before = ['2025-03-10 503.9012', '2025-03-11 504.4999', '2025-03-13 504.35']
  assert.deepEqual((await box.stored()).slice(2), before)
  const replaced = await box.taken(FILE, '--replace')
  assert.deepEqual([replaced.updated, replaced.unchanged, replaced.kept], [1, 2, 0])
  assert.deepEqual((await box.stored()).slice(2), [
    '2025-03-10 503.9012',
    '2025-03-11 504.1 2',
    '2025-03-13 504.35',
  ])
})

test('an exact file refines what a rounded one had stored', async (t) => {
  const box = openBox(t)
  await box.taken(FILE)
  const day = [dayCell('2025-03-10'), { n: '503.90120000000002', style: TWO }]
  const exact = await workbookOf({ Datos: [['Fecha', 'Venta del dólar'], day] })
  assert.equal((await box.taken(exact, '--exact', '--indicator', '318')).updated, 1)
  assert.deepEqual((await box.stored())[2], '2025-03-10 503.9012')
  const list = ['revision', 'list', '--data-dir', box.dataDir, '--json', '--refined']
  assert.equal(JSON.parse((await runCommand(list)).out)[0].old_value, '503.9')
})

const refused: [title: string, content: string | Buffer, words: RegExp, options?: string[]][] = [
  [
    'with a bad cell',
    sale('10/03/2025;503,90', '11/03/2025;x'),
    /cannot import .*: line 3, column 2: "x" is no value/,
  ],
  ['of no known indicator', FILE.replace('cambio venta', 'cambio MONEX'), /give --indicator, such as 318/],
  ['of an indicator that there is not', FILE, /there is no indicator 319/, ['--indicator', '319']],
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
    'of which a value in the middle has lost its decimal sign',
    sale('10/03/2025;503,90', '11/03/2025;504.100', '12/03/2025;504,20'),
    /line 3, column 2: 504100 and the 503.9 of 2025-03-10 differ by more than a factor of 5/,
  ],
  [
    'of which nothing is known that it could be compared with',
    sale('10/03/2025;503,90').replace('Tipo cambio venta', 'x'),
    /nothing is stored of .*, so nothing says that 503.9 can be right/,
    ['--indicator', '60246'],
  ],
  ['that is empty', '', /no table of days and values/],
]
for (const [title, content, words, options = []] of refused) {
  test(`a file ${title} is refused as a whole`, async (t) => {
    const box = openBox(t)
    await box.taken(sale('01/03/2025;504,00'))
    const before = await box.stored()
    const end = await box.take(content, ...options)
    assert.equal(end.code, 1)
    assert.match(end.err, words)
    assert.doesNotMatch(end.err, /\.ts:\d/)
    assert.deepEqual(await box.stored(), before)
  })
}

test('an empty box, too, refuses a file whose decimals are lost', async (t) => {
  const end = await openBox(t).take(sale('10/03/2025;50390000000'))
  assert.match(end.err, /line 2, column 2: 50390000000 is too far from the 400 to 700 of today/)
})

test('options of such a file go with --bccr', async (t) => {
  const { give, dataDir } = openBox(t)
  for (const words of [['--exact'], ['--indicator', '318'], ['--decimal', 'comma']]) {
    const end = await runCommand(['import', give(FILE), '--data-dir', dataDir, ...words])
    assert.equal(end.code, 2)
    assert.match(end.err, /go with --bccr/)
  }
})
