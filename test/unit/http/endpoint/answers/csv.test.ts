import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  csvLines,
  dayCell,
  decimalCell,
  findDialect,
  ndjsonLines,
  textCell,
} from '../../../../../src/http/endpoint/answers/csv.ts'

const csvText = (...args: Parameters<typeof csvLines>) => [...csvLines(...args)].join('')
const PLAIN = findDialect(undefined, {})
const LOCAL = findDialect('es-CR', {})
assert.ok(PLAIN && LOCAL)

const cells: [text: string, plain: string, local: string][] = [
  ['bccr', 'bccr', 'bccr'],
  ['a,b', '"a,b"', 'a,b'],
  ['a;b', 'a;b', '"a;b"'],
  ['say "so"', '"say ""so"""', '"say ""so"""'],
  ['two\nlines', '"two\nlines"', '"two\nlines"'],
  ['=1+1', "'=1+1", "'=1+1"],
  ['+1', "'+1", "'+1"],
  ['-1', "'-1", "'-1"],
  ['@SUM(A1)', "'@SUM(A1)", "'@SUM(A1)"],
  ['\t=1', "'\t'=1", "'\t'=1"],
  [';=1', ";'=1", `";'=1"`],
  ['a, -1;+1', `"a, '-1;'+1"`, `"a, '-1;'+1"`],
  [' =1', "' =1", "' =1"],
  ['=HYPERLINK("x";"y")', `"'=HYPERLINK(""x"";""y"")"`, `"'=HYPERLINK(""x"";""y"")"`],
]
for (const [text, plain, local] of cells) {
  test(`the CSV of ${JSON.stringify(text)} is shown unchanged by a spreadsheet`, () => {
    assert.deepEqual([textCell(text, PLAIN), textCell(text, LOCAL)], [plain, local])
  })
}

test('a value of NDJSON is a line for each reader', () => {
  const value = { subject: 'one\u2028two\u2029three\nfour\u0085' }
  const [line = ''] = ndjsonLines([value])
  assert.deepEqual(line.split(/[\n\r\u2028\u2029]/), [line.trimEnd(), ''])
  assert.deepEqual(JSON.parse(line), value)
})

test('CSV has two dialects, and others by their signs', () => {
  assert.deepEqual([dayCell('2026-03-04', PLAIN), decimalCell('1.5', PLAIN)], ['2026-03-04', '1.5'])
  assert.deepEqual([dayCell('2026-03-04', LOCAL), decimalCell('1.5', LOCAL)], ['04/03/2026', '1,5'])
  assert.equal(
    csvText(
      [
        ['a', 'b'],
        ['1', '2'],
      ],
      PLAIN,
    ),
    'a,b\n1,2\n',
  )
  assert.equal(
    csvText(
      [
        ['a', 'b'],
        ['1', '2'],
      ],
      LOCAL,
    ),
    '\ufeffa;b\r\n1;2\r\n',
  )
  assert.equal(findDialect('en', {}), undefined)
  assert.equal(findDialect(null, { decimal: ',' }), undefined)
  assert.equal(findDialect(null, { separator: '|' }), undefined)
  assert.deepEqual(findDialect(null, { separator: ';', decimal: ',' }), {
    isLocal: false,
    separator: ';',
    decimal: ',',
  })
})
