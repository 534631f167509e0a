import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLines, dayCell, decimalCell, dialectOf, textCell } from '../../../src/http/rates/csv.ts'

const csvOf = (...given: Parameters<typeof csvLines>) => [...csvLines(...given)].join('')
const PLAIN = dialectOf(undefined, {})
const LOCAL = dialectOf('es-CR', {})
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
  ['\t=1', "'\t=1", "'\t=1"],
  [' =1', "' =1", "' =1"],
  ['=HYPERLINK("x";"y")', `"'=HYPERLINK(""x"";""y"")"`, `"'=HYPERLINK(""x"";""y"")"`],
]
for (const [text, plain, local] of cells) {
  test(`writes ${JSON.stringify(text)} so that a spreadsheet shows it as it is`, () => {
    assert.deepEqual([textCell(text, PLAIN), textCell(text, LOCAL)], [plain, local])
  })
}

test('has two dialects, and others by their signs', () => {
  assert.deepEqual([dayCell('2026-03-04', PLAIN), decimalCell('1.5', PLAIN)], ['2026-03-04', '1.5'])
  assert.deepEqual([dayCell('2026-03-04', LOCAL), decimalCell('1.5', LOCAL)], ['04/03/2026', '1,5'])
  assert.equal(
    csvOf(
      [
        ['a', 'b'],
        ['1', '2'],
      ],
      PLAIN,
    ),
    'a,b\n1,2\n',
  )
  assert.equal(
    csvOf(
      [
        ['a', 'b'],
        ['1', '2'],
      ],
      LOCAL,
    ),
    '\ufeffa;b\r\n1;2\r\n',
  )
  assert.equal(dialectOf('en', {}), undefined)
  assert.equal(dialectOf(null, { decimal: ',' }), undefined)
  assert.equal(dialectOf(null, { separator: '|' }), undefined)
  assert.deepEqual(dialectOf(null, { separator: ';', decimal: ',' }), {
    isLocal: false,
    separator: ';',
    decimal: ',',
  })
})
