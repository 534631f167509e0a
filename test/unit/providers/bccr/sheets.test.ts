// Files of the bank's website: each known layout, and rejected files.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccrCatalogue } from '../../../../src/providers/bccr/catalogue.ts'
import { readBankFile } from '../../../../src/providers/bccr/sheets/read.ts'
import type { SpreadsheetFile } from '../../../../src/providers/provider.ts'
import {
  createWorkbook,
  dayCell,
  MONTH,
  PERCENT,
  type TestCell,
  TWO,
  UP_TO_EIGHT,
} from '../../../support/rates/workbooks.ts'

const SERIES = bccrCatalogue.map(({ externalCode, name }) => ({ code: externalCode ?? '99001', name }))
const TITLE = 'Tipo cambio de compra y de venta del dólar de los Estados Unidos de América'
const [COMPRA, VENTA] = ['Tipo cambio compra', 'TIPO DE CAMBIO VENTA']

type Options = Partial<Omit<SpreadsheetFile, 'bytes' | 'series'>>

function read(bytes: Buffer, options: Options = {}) {
  const defaults = { code: undefined, decimal: undefined, exact: false, lastDay: '2026-03-25' }
  return readBankFile({ ...defaults, ...options, bytes, series: SERIES })
}

/** Formats series as `code: day value/decimals …; covered days`. */
async function describeSeries(bytes: Buffer, options?: Options): Promise<string[]> {
  return (await read(bytes, options)).map(({ code, values, covered }) => {
    const valuesText = values.map(({ day, value, roundedTo }) => `${day} ${value}/${roundedTo ?? 'exact'}`)
    return `${code}: ${valuesText.join(', ')}; ${covered.map(({ from, to }) => `${from}..${to}`).join(', ')}`
  })
}

const csv = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`)
const one = (...lines: string[]) => csv(`Fecha;${VENTA}`, ...lines)
const { style: DAY_STYLE } = dayCell('2026-03-23') as { style: number }
const n = (digits: string, style?: number): TestCell =>
  style === undefined ? { n: digits } : { n: digits, style }
const list = (...rows: TestCell[][]) => createWorkbook({ Hoja1: [['Fecha', VENTA], ...rows] })

const BOTH = [
  '317: 2026-03-23 496.4/2, 2026-03-24 497.01/2; 2026-03-23..2026-03-24',
  '318: 2026-03-23 503.9/2, 2026-03-24 504/2; 2026-03-23..2026-03-24',
]
const forms: [title: string, file: Buffer | Promise<Buffer>, expected: string[], options?: Options][] = [
  [
    'a workbook with a row for each day, below titles',
    createWorkbook({
      Notas: [['Fuente: Banco Central de Costa Rica']],
      Datos: [
        [TITLE],
        ['Referencia del Banco Central de Costa Rica, en colones costarricenses'],
        [],
        ['Fecha', COMPRA, VENTA],
        [dayCell('2026-03-24'), n('497.01', TWO), n('504', TWO)],
        [dayCell('2026-03-23'), n('496.39999999999998', TWO), n('503.89999999999998', TWO)],
        ['Fuente: Banco Central de Costa Rica, 2026'],
      ],
    }),
    BOTH,
  ],
  [
    'CSV with semicolons and decimal commas',
    csv(
      TITLE,
      '',
      'Fecha;Compra;Venta',
      '23/03/2026;496,40;503,90',
      '24/03/2026;497,01;504,00',
      'Fuente: BCCR',
    ),
    BOTH,
  ],
  [
    'CSV of Windows, with months in words and points',
    Buffer.from(`${TITLE}\n,Compra,Venta\n23 Mar 2026,496.40,503.90\n24 Mar 2026,497.01,504.00\n`, 'latin1'),
    BOTH,
  ],
  [
    'CSV in UTF-16 with tabs',
    Buffer.from(
      `\ufeffFecha\t${COMPRA}\t${VENTA}\n23/03/2026\t496,40\t503,90\n24/03/2026\t497,01\t504\n`,
      'utf16le',
    ),
    BOTH,
  ],
  [
    'CSV in UTF-16 with its high bytes first',
    Buffer.from(
      `\ufeff${TITLE}\n,Compra,Venta\n23 Mar 2026,496.40,503.90\n24 Mar 2026,497.01,504.00\n`,
      'utf16le',
    ).swap16(),
    BOTH,
  ],
  [
    'CSV with a line for its separator',
    csv('\ufeffsep=;', TITLE, 'Fecha;Compra;Venta', '23/03/2026;496,40;503,90', '24/03/2026;497,01;504,00'),
    BOTH,
  ],
  [
    'CSV with an unusual separator in its line',
    csv(
      'sep=|',
      'Fecha|Tipo cambio compra|Tipo cambio venta',
      '23/03/2026|496,40|503,90',
      '24/03/2026|497,01|504,00',
    ),
    BOTH,
  ],
  [
    'CSV with semicolons in a note below',
    csv(
      `Fecha,${COMPRA},${VENTA}`,
      '23/03/2026,496.40,503.90',
      '24/03/2026,497.01,504.00',
      '"Fuente: BCCR; propia",,',
    ),
    BOTH,
  ],
  [
    'CSV with semicolons and a tab in notes of each row',
    csv(
      '"Serie diaria; colones\tpor dólar",,,',
      `Fecha,${COMPRA},${VENTA},Variación`,
      '23/03/2026,496.40,503.90,"a; b"',
      '24/03/2026,497.01,504.00,c; d',
    ),
    ['318: 2026-03-23 503.9/2, 2026-03-24 504/2; 2026-03-23..2026-03-24'],
    { code: '318' },
  ],
  [
    'CSV with tabs, decimal commas and notes with commas',
    csv(
      'Serie, diaria',
      'de, la; bolsa',
      `Fecha\t${COMPRA}\t${VENTA}`,
      '23/03/2026\t496,40\t503,90',
      '24/03/2026\t497,01\t504,00',
      'a, b',
      'c; d',
    ),
    BOTH,
  ],
  ...[
    '2026-03-DDT00:00:00-06:00',
    '2026-03-DDT00:00:00',
    '2026-03-DD 00:00:00.000',
    'DD/03/2026 12:00:00 a. m.',
    'DD/03/2026 0:00',
    'DD/03/2026 12:00 AM -0600',
  ].map((form): (typeof forms)[number] => [
    `days with midnight as ${form}`,
    csv(
      `Fecha,${COMPRA},${VENTA}`,
      `${form.replace('DD', '23')},496.40,503.90`,
      `${form.replace('DD', '24')},497.01,504.00`,
    ),
    BOTH,
  ]),
  [
    'CSV with the time of its query above and below',
    csv(
      '24/03/2026 15:20,Consulta',
      `Fecha,${COMPRA},${VENTA}`,
      '23/03/2026,496.40,503.90',
      '24/03/2026,497.01,504.00',
      '24/03/2026 15:20,,',
    ),
    BOTH,
  ],
  [
    'days with midnight as columns',
    csv('Indicadores;2026-03-23T00:00;2026-03-24T00:00', `${COMPRA};496,40;497,01`, `${VENTA};503,90;504,00`),
    BOTH,
  ],
  [
    'a workbook whose days have midnight',
    list([n('46104.0', DAY_STYLE), n('503.9', TWO)], [n('46105.00000000001', DAY_STYLE), n('504', TWO)]),
    ['318: 2026-03-23 503.9/2, 2026-03-24 504/2; 2026-03-23..2026-03-24'],
  ],
  [
    'CSV with empty columns in the header',
    csv(`Fecha;;${COMPRA};${VENTA};;`, '23/03/2026;;496,40;503,90;;', '24/03/2026;;497,01;504,00'),
    BOTH,
  ],
  [
    'a column for each day, as the website shows it',
    csv(
      'Indicadores;23 mar 2026;24 mar 2026',
      'Dólar;;',
      `${COMPRA};496,40;497,01`,
      `${VENTA};503,90;504,00`,
    ),
    BOTH,
  ],
  [
    'of a file of both sides the one that is asked for',
    csv(`Fecha;${COMPRA};${VENTA};Variación`, '23/03/2026;496,40;503,90;0,10'),
    ['318: 2026-03-23 503.9/2; 2026-03-23..2026-03-23'],
    { code: '318' },
  ],
  [
    'the days of the year by years, named by the text above',
    csv(
      'Tipo de cambio de venta del dólar de los Estados Unidos de América',
      ';2023;2024',
      '28 Feb;563,12000000;516,10000000',
      '29 Feb;;517,25000000',
      '1 Mar;561,00000000;',
    ),
    [
      '318: 2023-02-28 563.12/8, 2023-03-01 561/8, 2024-02-28 516.1/8, 2024-02-29 517.25/8; 2023-02-28..2023-03-01, 2024-02-28..2024-02-29',
    ],
  ],
  [
    'a parity by its name, with all digits',
    csv('Fecha;Euro', '2026-03-23;1,08345678'),
    ['333: 2026-03-23 1.08345678/8; 2026-03-23..2026-03-23'],
  ],
  [
    'numbers that are shown as they are, with the decimals of the longest',
    list([dayCell('2026-03-23'), n('512.34999999999997')], [dayCell('2026-03-24'), n('5.124E2')]),
    ['318: 2026-03-23 512.35/2, 2026-03-24 512.4/2; 2026-03-23..2026-03-24'],
  ],
  [
    'numbers with more digits than are shown, rounded',
    list([dayCell('2026-03-23'), n('512.345678', TWO)], [dayCell('2026-03-24'), n('512.2', TWO)]),
    ['318: 2026-03-23 512.35/2, 2026-03-24 512.2/2; 2026-03-23..2026-03-24'],
  ],
  [
    'the same numbers, where they are said to be exact',
    list(
      [dayCell('2026-03-23'), n('512.345678', TWO)],
      [dayCell('2026-03-24'), n('512.39999999999998', TWO)],
    ),
    ['318: 2026-03-23 512.345678/exact, 2026-03-24 512.4/exact; 2026-03-23..2026-03-24'],
    { exact: true },
  ],
  [
    'decimals that need not be shown',
    list([dayCell('2026-03-23'), n('1.5', UP_TO_EIGHT)], [dayCell('2026-03-24'), n('1.2345', UP_TO_EIGHT)]),
    ['318: 2026-03-23 1.5/4, 2026-03-24 1.2345/4; 2026-03-23..2026-03-24'],
  ],
  [
    'an empty cell between values as a day without one, and a last one as nothing',
    one('21/03/2026;503,90', '22/03/2026;', '23/03/2026;503,91', '24/03/2026;'),
    ['318: 2026-03-21 503.9/2, 2026-03-23 503.91/2; 2026-03-21..2026-03-23'],
  ],
  [
    'days that are not there as days that are not known',
    one('20/03/2026;503,90', '23/03/2026;503,91'),
    ['318: 2026-03-20 503.9/2, 2026-03-23 503.91/2; 2026-03-20..2026-03-20, 2026-03-23..2026-03-23'],
  ],
  [
    'groups of digits beside decimals',
    csv('Fecha;Dong Vietnamita', '23/03/2026;26.345,00', '24/03/2026;26.345,50'),
    ['21766: 2026-03-23 26345/2, 2026-03-24 26345.5/2; 2026-03-23..2026-03-24'],
  ],
  [
    'three digits after a comma, which is said to be the decimal sign',
    csv('Fecha;Yen Japonés', '23/03/2026;149,530'),
    ['325: 2026-03-23 149.53/3; 2026-03-23..2026-03-23'],
    { decimal: 'comma' },
  ],
  [
    'a column without a title, where the indicator is said',
    csv('23/03/2026;503,90'),
    ['318: 2026-03-23 503.9/2; 2026-03-23..2026-03-23'],
    { code: '318' },
  ],
]
for (const [title, file, expected, options] of forms) {
  test(`readBankFile reads ${title}`, async () => {
    assert.deepEqual(await describeSeries(await file, options), expected)
  })
}

const refusals: [title: string, file: Buffer | Promise<Buffer>, words: RegExp, options?: Options][] = [
  ['text for a value', one('23/03/2026;n.d.'), /^line 2, column 2: "n\.d\." is no value$/],
  ['nothing for a value', one('23/03/2026;0,00'), /"0,00" is not greater than 0/],
  ['a negative value', one('23/03/2026;-5,00'), /"-5,00" is not greater than 0/],
  ['a percentage', list([dayCell('2026-03-23'), n('0.05', PERCENT)]), /^cell B2: "0\.05" is no value$/],
  [
    'a day that is none',
    one('23/03/2026;5,10', '31/02/2026;5,10'),
    /^line 3, column 1: "31\/02\/2026" is no day$/,
  ],
  ['a year of two digits', one('23/03/2026;5,10', '24/03/26;5,10'), /"24\/03\/26" is no day/],
  [
    'a day twice',
    one('23/03/2026;5,10', '23/03/2026;5,10'),
    /^line 3, column 2: 2026-03-23 is there already, in line 2/,
  ],
  ['a day to come', one('26/03/2026;5,10'), /^line 2, column 2: 2026-03-26 is after 2026-03-25/],
  [
    'a value without a day',
    one('23/03/2026;5,10', ';5,10'),
    /^line 3, column 2: the row has a value and no day$/,
  ],
  [
    'a value beside the columns',
    one('23/03/2026;5,10;7'),
    /^line 2, column 3: "7" stands in a column without a title$/,
  ],
  ...[
    '2026-03-24T12:00:00-06:00',
    '24/03/2026 12:00:00 p. m.',
    '24/03/2026 00:00:01',
    '24/03/2026 24:00',
    '2026-03-24T00:00:00Z',
    '2026-03-24T00:00:00+01:00',
    '24/03/2026 0:00 CST',
  ].map((day): (typeof refusals)[number] => [
    `the day ${day}`,
    csv('sep=;', `Fecha;${VENTA}`, `${day};5,10`),
    new RegExp(
      `^line 3, column 1: "${day.replace('+', '\\+')}" is no day: its time is not 00:00 in Costa Rica, -06:00$`,
    ),
  ]),
  [
    'a time beside a value in other words',
    csv(`Fecha;${VENTA}`, '24/03/2026 10:00;₡510,22', '25/03/2026;510,42'),
    /^line 2, column 1: "24\/03\/2026 10:00" is no day: its time/,
  ],
  [
    'a column of a day at noon',
    csv('Indicadores;2026-03-23T12:00;2026-03-24', `${VENTA};503,90;504,00`),
    /^line 1, column 2: "2026-03-23T12:00" is no day: its time/,
  ],
  [
    'a workbook with a day at noon',
    list([n('46104.5', DAY_STYLE), n('503.9', TWO)]),
    /^cell A2: "2026-03-23 12:00:00" is no day: its time/,
  ],
  [
    'a text below an empty cell of the header',
    csv(`Fecha,,${VENTA},`, '23/03/2026,,5.10,', '24/03/2026,,5.10,"nota; x"'),
    /^line 3, column 4: "nota; x" stands in a column without a title$/,
  ],
  [
    'a text below an empty cell between days',
    csv('Indicadores;23 mar 2026;;24 mar 2026', `${VENTA};503,90;nota;504,00`),
    /^line 2, column 3: "nota" stands in a column without a day$/,
  ],
  [
    'a value below an empty cell between years',
    csv('318', ';2023;;2024', '28 Feb;5,10;7;5,20'),
    /^line 3, column 3: "7" stands in a column without a year$/,
  ],
  ['a quote in a cell', csv('Fecha;Venta', '23/03/2026;"5"1'), /^it is not CSV: .* at line 2 .*, column 2$/],
  [
    'commas that separate and are decimal',
    csv(`Fecha,${VENTA}`, '23/03/2026,503,90'),
    /column without a title/,
  ],
  [
    'both decimal signs',
    one('23/03/2026;503,90', '24/03/2026;503.90'),
    /^line 3, column 2: "503\.90" is no value$/,
  ],
  [
    'numbers that have two readings',
    csv('Fecha;Yen Japonés', '23/03/2026;149,530'),
    /^line 2, column 2: "149,530" can be read in two ways: give --decimal/,
  ],
  [
    'days of which a program made some into dates, their months for days',
    list([dayCell('2026-01-02'), n('5.1', TWO)], ['24/02/2026', n('5.2', TWO)]),
    /some days are dates and others texts/,
  ],
  [
    'dates that are all the same day of a month',
    list([dayCell('2025-11-01'), n('5.1', TWO)], [dayCell('2025-12-01'), n('5.2', TWO)]),
    /each day is the same of another month/,
  ],
  ['months as dates', list([n('45962', MONTH), n('5.1', TWO)]), /there is no table of days and values/],
  [
    'a bad day above the first good one',
    one('24/03/26;5,10', '23/03/2026;5,10'),
    /^line 2, column 1: "24\/03\/26" is no day$/,
  ],
  [
    'a formula that no program has computed',
    list([dayCell('2026-03-23'), { formula: 'B3+1' }], [dayCell('2026-03-24'), n('5.1', TWO)]),
    /^cell B2: "a formula without its value" is no value$/,
  ],
  [
    'days whose month may stand first',
    one('01/11/2025;5,10', '01/12/2025;5,11'),
    /each day is the same of another month/,
  ],
  [
    'the 29th of February of 2023',
    csv('318', ';2023', '28 Feb;5,10', '29 Feb;5,10'),
    /^line 4, column 2: "5,10" stands in a row that is no day of 2023$/,
  ],
  ['months', csv(';2023;2024', 'Enero;5,10;5,20'), /its values are of months/],
  ['months in columns', csv(';Enero;Febrero', '2024;5,10;5,20'), /its values are of months/],
  ['no table', csv('Fecha;Compra', 'nada;nada'), /there is no table of days and values/],
  ['an empty file', Buffer.alloc(0), /there is no table of days and values/],
  [
    'a title of another rate',
    csv('Fecha;Tipo de cambio promedio MONEX', '23/03/2026;503,90'),
    /which indicator it is of cannot be told from line 1, column 2 "Tipo de cambio promedio MONEX": give --indicator/,
  ],
  [
    'the rate of a counter',
    csv('Tipos de cambio de ventanilla', 'Fecha;Venta', '23/03/2026;503,90'),
    /cannot be told/,
  ],
  ['one side twice', csv(`Fecha;${VENTA};${VENTA}`, '23/03/2026;503,90;503,90'), /cannot be told/],
  [
    'another indicator than is said',
    one('23/03/2026;503,90'),
    /does not have the indicator 317, or not once.*VENTA" \(318\)/,
    { code: '317' },
  ],
  [
    'an indicator that is not here',
    one('23/03/2026;503,90'),
    /there is no indicator 1 among the series here/,
    { code: '1' },
  ],
  [
    'two columns without a title',
    csv('23/03/2026;503,90;504'),
    /does not have the indicator 318/,
    { code: '318' },
  ],
  [
    'two tables',
    createWorkbook({
      A: [
        ['Fecha', VENTA],
        [dayCell('2026-03-23'), n('5')],
      ],
      B: [
        ['Fecha', COMPRA],
        [dayCell('2026-03-23'), n('5')],
      ],
    }),
    /tables in several sheets, A and B/,
  ],
  ['a web page', Buffer.from('\r\n<html><table>'), /is a web page/],
  ['a workbook of before 2007', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /workbook of before 2007/],
  ['UTF-16 without a mark', Buffer.from('Fecha;Venta', 'utf16le'), /is not text/],
  ['a quote that has no end', one('23/03/2026;"5,10'), /it is not CSV/],
]
for (const [title, file, words, options] of refusals) {
  test(`readBankFile rejects ${title}`, async () => {
    await assert.rejects(read(await file, options), { code: 'failed', message: words })
  })
}

test('readBankFile reports ten invalid cells and counts the others', async () => {
  const days = Array.from({ length: 13 }, (_, at) => `${at + 10}/03/2026;x`)
  const error = await read(one(...days)).catch((error: Error) => error)
  assert.ok(error instanceof Error)
  const lines = error.message.split('\n  ')
  assert.equal(lines.length, 11)
  assert.equal(lines[10], 'and 3 more')
})
