// Formats of an export of indicators: those of the rates, with a line of facts before each indicator.

import {
  createWriters,
  csvHeader,
  type ExportEnd,
  type ExportFormat,
  jsonObject,
  type LineFields,
  type OwnedLine,
  readOwnedLine,
} from '../rates/export/export-format.ts'

type LineOwner = { provider: string; code: string }

/** Facts of an indicator in a file. */
export type ExportedIndicator = LineOwner & {
  name: string | null
  unit: string | null
  periodicity: string | null
}

export type IndicatorLine = { kind: 'facts'; facts: ExportedIndicator } | OwnedLine<LineOwner>

const FIELDS: LineFields<LineOwner> = { owner: ['provider', 'code'], day: 'value_date', hasRounding: false }
const FACTS = '# indicator,'
const TEXTS = ['name', 'unit', 'periodicity'] as const

export const INDICATOR_CSV_HEADER = csvHeader(FIELDS)
export const INDICATOR_WRITERS = createWriters(FIELDS)

/** Writes the line of facts. The facts have texts of the bank, so they are JSON in a CSV too. */
export function factsLine(facts: ExportedIndicator, format: ExportFormat): string {
  return `${format === 'csv' ? FACTS : ''}${JSON.stringify(facts)}\n`
}

/** Parses a line without its end; undefined: not a line of such an export. Values are not validated. */
export function readIndicatorLine(line: string, format: ExportFormat): IndicatorLine | ExportEnd | undefined {
  if (format === 'csv' && line.startsWith(FACTS)) return parseFactsLine(line.slice(FACTS.length))
  return readOwnedLine(line, format, FIELDS) ?? (format === 'ndjson' ? parseFactsLine(line) : undefined)
}

function parseFactsLine(line: string): IndicatorLine | undefined {
  const { provider, code, name, unit, periodicity } = jsonObject(line) ?? {}
  if (typeof provider !== 'string' || typeof code !== 'string') return undefined
  const facts = { provider, code, name, unit, periodicity }
  const isText = (one: unknown) => one === null || typeof one === 'string'
  return TEXTS.every((text) => isText(facts[text]))
    ? { kind: 'facts', facts: facts as ExportedIndicator }
    : undefined
}
