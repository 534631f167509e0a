// Pasted lists: separators, columns, dates, amounts, currencies, and the error of each row.

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  dateOrders,
  readAmountCell,
  readCurrencyCell,
  shownDecimalSign,
} from '../../../src/web/model/pasted/cells.ts'
import { changeKind, recognizeColumns } from '../../../src/web/model/pasted/columns.ts'
import { detailHeadings, type PastedRow, readRows } from '../../../src/web/model/pasted/rows.ts'
import { cellSeparator, splitRows } from '../../../src/web/model/pasted/split.ts'

const TODAY = '2026-11-20'
const CODES = new Set(['CRC', 'USD', 'EUR', 'JPY', 'GBP', 'MXN'])
const DAYS = { first: '1983-01-01', last: '2026-11-21' }
const READ = { codes: CODES, today: TODAY }

/** Runs a generator to its end. */
function finish<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

function readTable(text: string, options: { hasTypes?: boolean; replacements?: [string, string][] } = {}) {
  const separator = cellSeparator(text)
  const table = finish(recognizeColumns(finish(splitRows(text)), { ...READ, ...options, separator }))
  const replacements = new Map(options.replacements)
  const read = finish(readRows(table, { ...READ, days: DAYS, defaultCurrency: 'USD', replacements }))
  return { ...table, read }
}

const brief = ({ day, amount, currency }: PastedRow) => [day, amount, currency].join(' ')

suite('splitRows', () => {
  const cases: [string, string, string[][]][] = [
    [
      'tabs',
      'a\tb\r\nc\td\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'tabs beside commas',
      'a,1\tb;2\nc,3\td',
      [
        ['a,1', 'b;2'],
        ['c,3', 'd'],
      ],
    ],
    ['the line of a separator', '\ufeffsep=;\r\na,b;c\n', [['a,b', 'c']]],
    [
      'a quoted line of a separator, with others',
      '"sep=,"\na;b,c\nd;e,f',
      [
        ['a;b', 'c'],
        ['d;e', 'f'],
      ],
    ],
    ['the line of a tab', 'SEP=\t\na;b\tc', [['a;b', 'c']]],
    [
      'semicolons',
      'a;1,5\nb;2,5',
      [
        ['a', '1,5'],
        ['b', '2,5'],
      ],
    ],
    [
      'commas',
      'a,1.5\nb,2.5',
      [
        ['a', '1.5'],
        ['b', '2.5'],
      ],
    ],
    [
      'quotes',
      '"a, ""b""",1.5\n"c\nd",2',
      [
        ['a, "b"', '1.5'],
        ['c\nd', '2'],
      ],
    ],
    [
      'a semicolon in quotes',
      '"a;b",1\n"c;d",2',
      [
        ['a;b', '1'],
        ['c;d', '2'],
      ],
    ],
    [
      'a semicolon in one of many lines',
      'a;b,1\nc,2\nd,3',
      [
        ['a;b', '1'],
        ['c', '2'],
        ['d', '3'],
      ],
    ],
    [
      'a quote within a cell',
      'tubo 12" x 3\t5\n"12" tubo\t6',
      [
        ['tubo 12" x 3', '5'],
        ['"12" tubo', '6'],
      ],
    ],
    [
      'an open quote',
      '"a\tb\nc\td',
      [
        ['"a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'empty cells',
      '\ta\t\n\t\tb',
      [
        ['', 'a', ''],
        ['', '', 'b'],
      ],
    ],
    ['blank rows at the edges', '\n\t\n a \t1\n\n b\t2\n\t\n', [['a', '1'], [''], ['b', '2']]],
    [
      'a byte order mark and old line ends',
      '\ufeffa;b\rc;d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['one column', '1\n2', [['1'], ['2']]],
    ['nothing', ' \n\t\n', []],
  ]
  for (const [name, text, rows] of cases) {
    test(`splits ${name}`, () => assert.deepEqual(finish(splitRows(text)), rows))
  }
  test('splits 10,000 rows in order', () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => [String(at), `detalle "${at}"`, `${at},50`])
    assert.deepEqual(finish(splitRows(rows.map((row) => row.join('\t')).join('\r\n'))), rows)
  })
})

suite('cells', () => {
  test('dateOrders returns the orders that a date fits', () => {
    const cases: [string, string][] = [
      ['03/11/2026', 'dmy mdy'],
      ['31/11/2026', 'dmy'],
      ['11/15/2026', 'mdy'],
      ['2026-11-15', 'dmy mdy'],
      ['15 nov 2026', 'dmy mdy'],
      ['15/11/2026 08:15', 'dmy'],
      ['11/15/2026 8:15:00 a. m.', 'mdy'],
      ['2026-11-15T00:00:00.000Z', ''],
      ['2026-11-15T00:00:00-06:00', 'dmy mdy'],
      ['2026-11-15T00:00:00+01:00', ''],
      ['46341', 'serial'],
      ['46341.25', 'serial'],
      ['99999', ''],
      ['1250', ''],
      ['1.250,00', ''],
      ['Factura 4417', ''],
      ['12 mil', ''],
      ['45/45/2026', ''],
    ]
    assert.deepEqual(
      cases.map(([cell]) => dateOrders(cell, TODAY).join(' ')),
      cases.map(([, orders]) => orders),
    )
  })
  test('shownDecimalSign returns the sign of cells with one reading', () => {
    const cases: [string, string | undefined][] = [
      ['1.250,00', ','],
      ['1,250.00', '.'],
      ['980,50', ','],
      ['12.5', '.'],
      ['1.250.000', ','],
      ['1,250,000', '.'],
      ['0,125', ','],
      ['1234.567', '.'],
      ['15.000', undefined],
      ['15,000', undefined],
      ['184000', undefined],
      ['€ 312,40', ','],
      ['1.199,00 USD', ','],
      ['(150,00)', ','],
      ['Factura', undefined],
    ]
    assert.deepEqual(
      cases.map(([cell]) => shownDecimalSign(cell)),
      cases.map(([, sign]) => sign),
    )
  })
  test('readAmountCell reads by the decimal sign of the column', () => {
    const cases: [string, ',' | '.', string][] = [
      ['15.000', ',', '15000'],
      ['15.000', '.', '15'],
      ['15,000', '.', '15000'],
      ['15,000', ',', '15'],
      ['1.250,00', ',', '1250'],
      ['1 250,5', ',', '1250.5'],
      ['(150,00)', ',', '-150'],
      ['150,00-', ',', '-150'],
      ['-150', ',', '-150'],
      ['−150,25', ',', '-150.25'],
      ['$ (150.00)', '.', '-150 USD'],
      ['(150.00) EUR', '.', '-150 EUR'],
      ['1.199,00 USD', ',', '1199 USD'],
      ['€ 312,40', ',', '312.4 EUR'],
      ['₡1 500', ',', '1500 CRC'],
      ['12.50', ',', 'ambiguous'],
      ['1,250,00', ',', 'ambiguous'],
      ['12 mil', ',', 'no-amount'],
      ['100+50', ',', 'no-amount'],
      ['12-11-2026', ',', 'no-amount'],
      ['0,00', ',', 'zero'],
      ['15 %', ',', 'percent'],
      ['2300 PAB', ',', 'unknown-currency'],
    ]
    const read = (cell: string, sign: ',' | '.') => {
      const amount = readAmountCell(cell, sign, CODES)
      return amount.error ?? [amount.value, amount.currency].filter(Boolean).join(' ')
    }
    assert.deepEqual(
      cases.map(([cell, sign]) => read(cell, sign)),
      cases.map(([, , value]) => value),
    )
  })
  test('readCurrencyCell reads codes, signs and names', () => {
    const cases: [string, string | undefined][] = [
      ['USD', 'USD'],
      ['usd', 'USD'],
      ['US$', 'USD'],
      ['Dólares', 'USD'],
      ['colones', 'CRC'],
      ['€', 'EUR'],
      ['¥', 'JPY'],
      ['PAB', 'PAB'],
      ['pab', 'PAB'],
      ['ABC', undefined],
      ['Peaje', undefined],
      ['', undefined],
      ['15 USD', undefined],
    ]
    assert.deepEqual(
      cases.map(([cell]) => readCurrencyCell(cell, CODES)?.code),
      cases.map(([, code]) => code),
    )
  })
})

suite('recognizeColumns', () => {
  const cases: [string, string, string][] = [
    [
      'the picture',
      'Fecha\tDetalle\tMonto\tMoneda\n03/11/2026\tFactura 4417\t1.250,00\tUSD\n07/11/2026\tHotel\t€ 312,40\tEUR',
      'dmy detail comma currency',
    ],
    ['no headings', '03/11/2026\tFactura\t1.250,00', 'dmy detail comma'],
    ['months first', '11/03/2026,Invoice,"1,250.00"\n11/15/2026,Hotel,312.40', 'mdy detail point'],
    ['dates of both orders', '03/04/2026;15\n05/06/2026;20', 'dmy comma'],
    ['serials beside amounts', 'Fecha;Monto\n46329;1250,5\n46331;980', 'serial comma'],
    ['serials beside integers', '46329\t1250\n46331\t980', 'serial comma'],
    ['a single column of numbers', '46329\n46331', 'comma'],
    ['a running number', '1\t03/11/2026\t15\n2\t04/11/2026\t20', 'detail dmy comma'],
    ['an invoice number', '4417\t03/11/2026\t15,00\n4420\t04/11/2026\t20,00', 'detail dmy comma'],
    [
      'an amount after its total',
      'Fecha\tNúmero\tMonto\n03/11/2026\t15\t20\n03/11/2026\t18\t7',
      'dmy detail comma',
    ],
    ['an ambiguous decimal sign', '03/11/2026\t15.000\n04/11/2026\t20.000', 'dmy comma'],
    ['points decided by one cell', '03/11/2026\t15,000\n04/11/2026\t20.5', 'dmy point'],
    [
      'thousands of a sheet from the US',
      'Date\tAmount\n11/13/2026\t$15,000\n11/14/2026\t($980)',
      'mdy point',
    ],
    ['thousands beside integers', '15,000\t03/11/2026\n1,250\t04/11/2026\n980\t05/11/2026', 'point dmy'],
    ['thousands with a decimal comma', '03/11/2026\t15,000\n04/11/2026\t0,125', 'dmy comma'],
    ['no amount in thousands of both signs', '03/11/2026\t15,000\n04/11/2026\t1.250', 'dmy detail'],
    [
      'no other amount beside thousands of both signs',
      'Fecha\tFactura\tMonto\n03/11/2026\t4417\t15,000\n04/11/2026\t4420\t1.250',
      'dmy detail detail',
    ],
    [
      'thousands after an invoice number',
      '4417\t03/11/2026\t15,000\n4420\t04/11/2026\t980',
      'detail dmy point',
    ],
    ['an empty column', '03/11/2026\t\t15\n04/11/2026\t\t20', 'dmy unused comma'],
    ['two dates', 'Fecha\tVence\tMonto\n03/11/2026\t03/12/2026\t15', 'dmy detail comma'],
    ['currency names', 'dólares\t15\t03/11/2026\neuros\t20\t03/11/2026', 'currency comma dmy'],
    [
      'one bad cell in five',
      ['1/11/2026;1', '2/11/2026;1', '3/11/2026;1', '4/11/2026;1', 'x;1'].join('\n'),
      'dmy comma',
    ],
    ['one bad cell in four', ['2/11/2026;1', '3/11/2026;1', '4/11/2026;1', 'x;1'].join('\n'), 'detail comma'],
  ]
  for (const [name, text, kinds] of cases) {
    test(`recognizes ${name}`, () => assert.equal(readTable(text).kinds.join(' '), kinds))
  }
  test('takes a first row without values as headings', () => {
    const { headings, rows } = readTable('Fecha\tMonto\n03/11/2026\t15')
    assert.deepEqual([headings, rows.length], [['Fecha', 'Monto'], 1])
    assert.deepEqual(readTable('03/11/2026\tx\n03/11/2026\t15').headings, [])
    assert.deepEqual(readTable('x\t15\n03/11/2026\t15').headings, [])
  })
  test('recognizes types of positions only where there are any', () => {
    const text = 'Banco\tActivo\t15,00\tUSD\t30/09/2026\nPréstamo\tpasivo\t20,00\tUSD\t30/09/2026'
    assert.equal(readTable(text, { hasTypes: true }).kinds.join(' '), 'detail type comma currency dmy')
    assert.equal(readTable(text).kinds.join(' '), 'detail detail comma currency dmy')
    const undecided = text.replace('15,00', '15,000').replace('20,00', '20.000')
    assert.equal(readTable(undecided, { hasTypes: true }).kinds.join(' '), 'detail type detail currency dmy')
  })
  test('reads a comma before three digits as the converter does', () => {
    const amounts = ['$15,000', '$1,250', '($980)', '15']
    const { read } = readTable(amounts.map((amount) => `11/13/2026\t${amount}`).join('\n'))
    assert.deepEqual(
      read.map(({ amount }) => amount),
      ['15000', '1250', '-980', '15'],
    )
  })
  test('finds decimal commas that separated the cells', () => {
    const cases: [string, boolean][] = [
      ['03/11/2026,1.250,50\n04/11/2026,980,25', true],
      ['03/11/2026, 1.250,50 USD\n04/11/2026, 980,25 USD', true],
      ['03/11/2026,1.250,50,USD\n04/11/2026,980,USD', true],
      ['11/13/2026,$15,000.50\n11/14/2026,$980.25', true],
      ['03/11/2026;1.250,50\n04/11/2026;980,25', false],
      ['03/11/2026,"1.250,50"\n04/11/2026,"980,25"', false],
      ['03/11/2026,1250.50,3\n04/11/2026,980.25,12', false],
      ['03/11/2026,1250,3\n04/11/2026,980,2500', false],
      ['1,417,03/11/2026,15.00\n2,420,04/11/2026,20.00', false],
      ['46329,15.00\n46331,20.00', false],
      ['15,2026-11-03\n20,2026-11-04', false],
    ]
    assert.deepEqual(
      cases.map(([text]) => readTable(text).hasDecimalCommas),
      cases.map(([, hasDecimalCommas]) => hasDecimalCommas),
    )
  })
  test('changeKind leaves one column of each role', () => {
    assert.deepEqual(changeKind(['dmy', 'detail', 'comma'], 1, 'mdy'), ['detail', 'mdy', 'comma'])
    assert.deepEqual(changeKind(['dmy', 'detail', 'comma'], 2, 'point'), ['dmy', 'detail', 'point'])
    assert.deepEqual(changeKind(['dmy', 'detail', 'detail'], 0, 'unused'), ['unused', 'detail', 'detail'])
  })
})

suite('readRows', () => {
  test('reads the rows of the picture', () => {
    const { read, headings, kinds } = readTable(
      [
        'Fecha\tDetalle\tMonto\tMoneda',
        '03/11/2026\tFactura 4417\t1.250,00\tUSD',
        '05/11/2026\tFactura 4420\t980,50\tUSD',
        '07/11/2026\tHotel Madrid\t€ 312,40\tUSD',
        '12/11/2026\tFlete Yokohama\t184000\tJPY',
        '14/11/2026\tNota de crédito 88\t(150,00)\tUSD',
        '16/11/2026\tLicencia anual\t1.199,00 USD\t',
        '31/11/2026\tPeaje\t45,00\tUSD',
        '20/11/2026\tServicio Panamá\t2.300,00\tPAB',
        '22/11/2026\tAnticipo proveedor\t5.000,00\tUSD',
      ].join('\n'),
    )
    assert.deepEqual(read.map(brief), [
      '2026-11-03 1250 USD',
      '2026-11-05 980.5 USD',
      '2026-11-07 312.4 EUR',
      '2026-11-12 184000 JPY',
      '2026-11-14 -150 USD',
      '2026-11-16 1199 USD',
      ' 45 USD',
      '2026-11-20 2300 PAB',
      ' 5000 USD',
    ])
    assert.deepEqual(read.map(({ error }) => error).slice(6), [
      { kind: 'date', error: { kind: 'missing', day: '2026-11-31' }, text: '31/11/2026' },
      { kind: 'unknown-currency', code: 'PAB' },
      { kind: 'date', error: { kind: 'future', day: '2026-11-22' }, text: '22/11/2026' },
    ])
    assert.deepEqual(detailHeadings({ headings, kinds }), ['Detalle'])
    assert.deepEqual(
      read.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })
  test('gives each other row its error', () => {
    const good = '03/11/2026\tx\t15,00\tUSD\n'
    const cases: [string, unknown][] = [
      ['\tx\t15,00\tUSD', { kind: 'no-date' }],
      ['03/11/2026\tx\t\tUSD', { kind: 'missing-amount' }],
      ['03/11/2026\tx\t12 mil\tUSD', { kind: 'amount', error: 'no-amount', text: '12 mil' }],
      ['03/11/2026\tx\t12.50\tUSD', { kind: 'amount', error: 'ambiguous', text: '12.50' }],
      ['03/11/2026\tx\t0\tUSD', { kind: 'amount', error: 'zero', text: '0' }],
      ['03/11/2026\tx\t15\t¿?', { kind: 'no-currency' }],
      ['03/11/2026\tx\t15\tXYZ', { kind: 'unknown-currency', code: 'XYZ' }],
      ['03/11/2026\tx\t15 PAB\tUSD', { kind: 'unknown-currency', code: 'PAB' }],
      ['ayer mismo\tx\t15\tUSD', { kind: 'date', error: { kind: 'unreadable' }, text: 'ayer mismo' }],
      [
        '31/12/1982\tx\t15\tUSD',
        { kind: 'date', error: { kind: 'before', day: '1982-12-31' }, text: '31/12/1982' },
      ],
      ['', { kind: 'blank-row' }],
    ]
    const { read } = readTable(`${good.repeat(60)}${cases.map(([text]) => text).join('\n')}\n${good}`)
    assert.deepEqual(
      read.slice(60, -1).map(({ error }) => error),
      cases.map(([, error]) => error),
    )
  })
  test('rejects a row at commas with more cells than headings', () => {
    const errors = (text: string) => readTable(text).read.map(({ amount, error }) => amount ?? error?.kind)
    const rows = '03/11/2026,1.250,50\n04/11/2026,980,\n05/11/2026,"1.250,50"'
    assert.deepEqual(errors(`Fecha,Monto\n${rows}`), ['extra-cells', '980', '1250.5'])
    assert.deepEqual(errors('Fecha,Monto,Moneda\n03/11/2026,980,25,USD'), ['extra-cells'])
    assert.deepEqual(errors('Fecha\tMonto\n03/11/2026\t15\tabono'), ['15'])
  })
  test('replaces a currency without rates, and records it', () => {
    const { read } = readTable('03/11/2026\t15,00\tPAB\n03/11/2026\t16 PAB\t\n03/11/2026\t17\t', {
      replacements: [['PAB', 'USD']],
    })
    assert.deepEqual(read.map(brief), ['2026-11-03 15 USD', '2026-11-03 16 USD', '2026-11-03 17 USD'])
    assert.deepEqual(
      read.map(({ replacedCurrency }) => replacedCurrency),
      ['PAB', 'PAB', undefined],
    )
    assert.ok(read.every(({ error }) => !error))
  })
  test('reads mm/dd and serials', () => {
    assert.deepEqual(readTable('11/03/2026,15.5\n11/15/2026,16').read.map(brief), [
      '2026-11-03 15.5 USD',
      '2026-11-15 16 USD',
    ])
    assert.deepEqual(readTable('46329\t15\n46331.5\t16,5').read.map(brief), [
      '2026-11-03 15 USD',
      '2026-11-05 16.5 USD',
    ])
  })
})
