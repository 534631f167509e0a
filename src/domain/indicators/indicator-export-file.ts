// Reads the file of an export of indicators, as a whole or not at all.

import { isIsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import {
  coveredFault,
  decimalFault,
  instantFault,
  quotedStart,
  readExportLines,
} from '../rates/export/export-file.ts'
import {
  type ExportedIndicator,
  type ExportedIndicatorValue,
  INDICATOR_CSV_HEADER,
  type IndicatorLine,
  readIndicatorLine,
} from './indicator-export-format.ts'

/** An indicator in a file, with its values by day. */
export type IndicatorInFile = {
  facts: ExportedIndicator
  covered: Interval[]
  values: ExportedIndicatorValue[]
}

const CODE = /^[1-9]\d{0,9}$/

/** Returns whether the first line of a file is that of an export of indicators. */
export function isIndicatorExport(firstLine: string): boolean {
  if (firstLine === INDICATOR_CSV_HEADER) return true
  return readIndicatorLine(firstLine, 'ndjson')?.kind === 'facts'
}

/** Reads the indicators of a file. @throws AppError `failed` for a file that is not a complete export */
export async function readIndicatorFile(chunks: AsyncIterable<Buffer>): Promise<IndicatorInFile[]> {
  const indicators: IndicatorInFile[] = []
  const codes = new Set<string>()
  await readExportLines<IndicatorLine>(chunks, {
    csvHeader: INDICATOR_CSV_HEADER,
    readLine: readIndicatorLine,
    addLine(line) {
      if (line.kind !== 'facts') return addLine(indicators.at(-1), line)
      const { facts } = line
      if (!CODE.test(facts.code)) return `${quotedStart(facts.code)} is no code`
      if (codes.has(facts.code)) return `the indicator ${facts.code} is there twice`
      codes.add(facts.code)
      indicators.push({ facts, covered: [], values: [] })
      return undefined
    },
  })
  return indicators
}

function addLine(
  indicator: IndicatorInFile | undefined,
  line: Exclude<IndicatorLine, { kind: 'facts' }>,
): string | undefined {
  const { provider, code } = line.owner
  if (indicator?.facts.code !== code || indicator.facts.provider !== provider) {
    return `the line of ${quotedStart(code)} is not below its own indicator`
  }
  const { covered, values } = indicator
  if (line.kind === 'covered') {
    const fault = coveredFault(line.days, covered.at(-1))
    if (fault === undefined) covered.push(line.days)
    return fault
  }
  const { value_date, value, stored_at } = line.value
  const previous = values.at(-1)?.value_date
  if (!isIsoDate(value_date)) return `${quotedStart(value_date)} is no day`
  if (previous !== undefined && value_date <= previous) return `${value_date} is not after ${previous}`
  const fault = decimalFault(value) ?? instantFault(stored_at)
  if (fault === undefined) values.push(line.value)
  return fault
}
