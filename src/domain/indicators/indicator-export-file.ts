// Reads the file of an export of indicators, as a whole or not at all.

import {
  addOwnedLine,
  markOwners,
  type OwnedData,
  quotedStart,
  readExportLines,
} from '../rates/export/export-file.ts'
import {
  type ExportedIndicator,
  INDICATOR_CSV_HEADER,
  type IndicatorLine,
  readIndicatorLine,
} from './indicator-export-format.ts'

/** An indicator in a file, with its values by day. */
export type IndicatorInFile = OwnedData & { facts: ExportedIndicator }

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
    header: INDICATOR_CSV_HEADER,
    readLine: readIndicatorLine,
    addLine(line) {
      if (line.kind === 'invented') return markOwners(indicators, ({ facts }) => facts, line)
      if (line.kind === 'facts') {
        const { facts } = line
        if (!CODE.test(facts.code)) return `${quotedStart(facts.code)} is no code`
        if (codes.has(facts.code)) return `the indicator ${facts.code} is there twice`
        codes.add(facts.code)
        indicators.push({ facts, covered: [], values: [] })
        return undefined
      }
      // Covered days and values follow the facts of their indicator.
      const { provider, code } = line.owner
      const indicator = indicators.at(-1)
      if (indicator?.facts.code !== code || indicator.facts.provider !== provider)
        return `the line of ${quotedStart(code)} is not below its own indicator`
      return addOwnedLine(indicator, line, { anySign: true })
    },
  })
  return indicators
}
