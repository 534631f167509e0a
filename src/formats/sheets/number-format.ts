// Parses the format codes of a workbook (ECMA-376, 18.8.30 and 18.8.31) into a number of decimals, or a day. Other
// formats, such as a percentage or a time, are distinct, so that they are not read as plain numbers.

import type { NumberFormat } from './cells.ts'

// Formats below 164, which have no code in the file. Absent ones are times, fractions or depend on the language.
const BUILT_IN: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  14: 'dd/mm/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  22: 'dd/mm/yyyy hh:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  41: '#,##0',
  42: '#,##0',
  43: '#,##0.00',
  44: '#,##0.00',
  49: '@',
}
const PLAIN = /^[#0?,]*[#0?](?:\.([#0?]*))?$/

/** `codes`: format codes of the file, by id. */
export function readNumberFormat(id: number, codes: ReadonlyMap<number, string>): NumberFormat {
  const code = codes.get(id) ?? BUILT_IN[id]
  return code === undefined ? { kind: 'other', code: `format ${id}` } : parseFormat(code)
}

function parseFormat(code: string): NumberFormat {
  if (/\[[<>=]/.test(code)) return { kind: 'other', code } // format depends on the value
  const [positive = ''] = code
    .replace(/"[^"]*"|\[[^\]]*\]|[\\_*]./g, '') // texts, colours and currencies, single signs, spaces, filling
    .split(';')
  const bare = positive.replace(/[\s$€₡¢()-]/g, '')
  if (/^(general|@)$/i.test(bare)) return { kind: 'general' }
  // A format without the day of the month displays a month or a year, not a day.
  if (/d/i.test(bare) && !/[^dmyhs/.,:]/i.test(bare)) return { kind: 'day' }
  const [all, decimals = ''] = PLAIN.exec(bare) ?? []
  if (all === undefined || /,(\.|$)/.test(bare)) return { kind: 'other', code } // a comma at the end divides by 1000
  return { kind: 'decimals', least: decimals.replace(/[^0?]/g, '').length, most: decimals.length }
}
