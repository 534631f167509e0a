// Copies of tables: text in the notation of the page, and HTML with the value of each cell.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copiedRows, copyHtml, copyText } from '../../../src/web/model/files/copy.ts'

test('copyText writes all digits without grouping, and no formula', () => {
  const rows = [
    ['Fecha', 'Detalle', 'Monto'],
    [{ day: '2026-11-03' }, '=cmd|x', { number: '-1250.5' }],
    [{ day: '2026-11-03' }, '-15 "a"\n', { number: '15.125' }],
  ]
  assert.equal(
    copyText(rows, true),
    'Fecha\tDetalle\tMonto\r\n03/11/2026\t\'=cmd|x\t-1250,5\r\n03/11/2026\t"\'-15 ""a""\n"\t15,1250\r\n',
  )
  assert.match(copyText(rows, false), /^2026-11-03\t.*\t-1250\.5\r$/m)
  assert.equal(copyText([[{ number: '4133.544' }]], true), '4133,5440')
  assert.equal(copyText([[{ number: '-0.5' }]], false), '-0.5')
})

test('copyHtml writes the number of a cell, to 15 digits, in each language', () => {
  const cell = (number: string, isLocal: boolean) =>
    /sdval="([^"]*)" x:num="([^"]*)" sdnum="1033;">([^<]*)</.exec(copyHtml([[{ number }]], isLocal))?.slice(1)
  for (const [number, value] of [
    ['4133.544', '4133.544'],
    ['-1250.5', '-1250.5'],
    ['0.00000019803', '0.00000019803'],
    ['1234567890123456.789', '1234567890123460'],
    ['0.12345678901234565', '0.123456789012346'],
    ['-99999999999999.96', '-100000000000000'],
    ['0', '0'],
  ] as const) {
    const text = copyText([[{ number }]], true)
    assert.deepEqual(cell(number, true), [value, value, text])
    assert.deepEqual(cell(number, false), [value, value, text.replace(',', '.')])
  }
})

test('copyHtml writes days as the dates of spreadsheets, and texts as texts', () => {
  assert.match(
    copyHtml([[{ day: '2026-11-28' }]], true),
    /<td sdval="46354" x:num="46354" sdnum="1033;5130;DD\/MM\/AAAA" [^>]*dd\/mm\/yyyy[^>]*>28\/11\/2026<\/td>/,
  )
  for (const text of ['50603112600310112345600100001010000000123188888888', '=1+1', '1.234', '03/04/2026'])
    assert.match(
      copyHtml([[text]], true),
      new RegExp(`<td sdnum="1033;0;@" x:str [^>]*>${text.replace('+', '\\+')}</td>`),
    )
  assert.match(
    copyHtml([['<img src=x onerror=y>&"\u0000']], true),
    />&lt;img src=x onerror=y&gt;&amp;&quot;<\/td>/,
  )
  assert.match(
    copyHtml([['']], true),
    /^<meta charset="utf-8"><table xmlns:x="urn:schemas-microsoft-com:office:excel">/,
  )
})

test('copiedRows has the columns for people with their kinds', () => {
  const table = {
    ...{ title: '', source: '' },
    columns: [
      { title: 'Mes', kind: 'month' },
      { title: 'Cierre', kind: 'number' },
      { title: 'date', kind: 'day', only: 'programs' },
      { title: 'Nota', kind: 'note' },
    ],
    rows: [
      ['2026-11-01', '494.15', '2026-11-28', 'en curso'],
      ['2026-12-01', '', '', ''],
    ],
  } as const
  assert.deepEqual(copiedRows(table), [
    ['Mes', 'Cierre', 'Nota'],
    [{ day: '2026-11-01' }, { number: '494.15' }, 'en curso'],
    [{ day: '2026-12-01' }, '', ''],
  ])
})
