// Formats of an export of indicators, CSV and NDJSON. Each indicator has a line of facts, its covered days, then its
// values. The last line is that of an export of rates.

import type { IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import {
  csvEnd,
  type ExportEnd,
  type ExportFormat,
  jsonEnd,
  jsonObject,
  readCsvEnd,
  readJsonEnd,
} from '../rates/export/export-format.ts'

/** Facts of an indicator in a file. */
export type ExportedIndicator = {
  provider: string
  code: string
  name: string | null
  unit: string | null
  periodicity: string | null
}

/** `stored_at` is an instant with milliseconds. */
export type ExportedIndicatorValue = { value_date: IsoDate; value: string; stored_at: string }

type LineOwner = Pick<ExportedIndicator, 'provider' | 'code'>

export type IndicatorLine =
  | { kind: 'facts'; facts: ExportedIndicator }
  | { kind: 'covered'; owner: LineOwner; days: Interval }
  | { kind: 'value'; owner: LineOwner; value: ExportedIndicatorValue }

export type IndicatorWriter = {
  header: string
  facts(facts: ExportedIndicator): string
  covered(owner: LineOwner, days: Interval): string
  value(owner: LineOwner, value: ExportedIndicatorValue): string
  end(count: number, sha256: string): string
}

export const INDICATOR_CSV_HEADER = 'provider,code,value_date,value,stored_at'

const FACTS = '# indicator,'
const COVERED = '# covered,'
const TEXTS = ['name', 'unit', 'periodicity'] as const

/** Writes the lines of a format. The facts have texts of the bank, so they are JSON in a CSV too. */
export const INDICATOR_WRITERS: Record<ExportFormat, IndicatorWriter> = {
  csv: {
    header: `${INDICATOR_CSV_HEADER}\n`,
    facts: (facts) => `${FACTS}${JSON.stringify(facts)}\n`,
    covered: ({ provider, code }, { from, to }) => `${COVERED}${provider},${code},${from},${to}\n`,
    value: ({ provider, code }, { value_date, value, stored_at }) =>
      `${provider},${code},${value_date},${value},${stored_at}\n`,
    end: csvEnd,
  },
  ndjson: {
    header: '',
    facts: (facts) => `${JSON.stringify(facts)}\n`,
    covered: ({ provider, code }, { from, to }) =>
      `${JSON.stringify({ provider, code, covered_from: from, covered_to: to })}\n`,
    value: ({ provider, code }, value) => `${JSON.stringify({ provider, code, ...value })}\n`,
    end: jsonEnd,
  },
}

/** Parses a line without its end; undefined: not a line of such an export. Values are not validated. */
export function readIndicatorLine(line: string, format: ExportFormat): IndicatorLine | ExportEnd | undefined {
  if (format === 'ndjson') return readJson(line)
  if (line.startsWith(FACTS)) {
    const row = readJson(line.slice(FACTS.length))
    return row?.kind === 'facts' ? row : undefined
  }
  const isCovered = line.startsWith(COVERED)
  const cells = (isCovered ? line.slice(COVERED.length) : line).split(',')
  const [provider = '', code = '', third = '', fourth = '', stored_at = ''] = cells
  const owner = { provider, code }
  if (isCovered && cells.length === 4) return { kind: 'covered', owner, days: { from: third, to: fourth } }
  if (!isCovered && !line.startsWith('#') && cells.length === 5) {
    return { kind: 'value', owner, value: { value_date: third, value: fourth, stored_at } }
  }
  return readCsvEnd(line)
}

function readJson(line: string): IndicatorLine | ExportEnd | undefined {
  const row = jsonObject(line)
  if (!row) return undefined
  const { provider, code, covered_from: from, covered_to: to, value_date, value, stored_at } = row
  if (typeof provider !== 'string' || typeof code !== 'string') return readJsonEnd(row)
  const owner = { provider, code }
  if (typeof from === 'string' && typeof to === 'string')
    return { kind: 'covered', owner, days: { from, to } }
  if ([value_date, value, stored_at].every((one) => typeof one === 'string')) {
    return { kind: 'value', owner, value: { value_date, value, stored_at } as ExportedIndicatorValue }
  }
  const isText = (one: unknown) => one === null || typeof one === 'string'
  const { name, unit, periodicity } = row
  if (!TEXTS.every((text) => isText(row[text]))) return undefined
  return { kind: 'facts', facts: { ...owner, name, unit, periodicity } as ExportedIndicator }
}
