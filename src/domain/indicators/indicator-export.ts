// Exports all stored indicators as a stream of text: facts, covered days, and values with digits and instants. The rates
// have an export of their own, which does not change with them.

import { snapshot } from '../../store/engine.ts'
import { type StoredIndicator, selectIndicators } from '../../store/indicators/indicators.ts'
import { selectAllIndicatorValues, selectIndicatorCoverage } from '../../store/indicators/values.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { ascendingInstants, type StoredAtRun } from '../../store/rates/stored-at.ts'
import type { ReadDb } from '../../store/tables.ts'
import { dayNumber, isoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { type Column, columnValue, makeColumn } from '../rates/column.ts'
import { type ExportFormat, encodeWithEnd, LINES_AT_ONCE } from '../rates/export/export-format.ts'
import { type ExportedIndicator, INDICATOR_WRITERS, type IndicatorWriter } from './indicator-export-format.ts'

/** Data of an indicator; `runs`: instants by day, ascending. */
export type IndicatorExport = {
  facts: ExportedIndicator
  covered: readonly Interval[]
  column: Column
  runs: readonly StoredAtRun[]
}

/** Reads all stored indicators, disabled ones too, in one state: by code as a number. */
export function readIndicatorExport(db: ReadDb): Promise<IndicatorExport[]> {
  return snapshot(db, async (trx) => {
    const providers = new Map((await selectProviders(trx)).map(({ id, code }) => [id, code]))
    const coverage = await selectIndicatorCoverage(trx)
    const all: IndicatorExport[] = []
    for (const row of await selectIndicators(trx)) {
      const facts = exportedIndicator(row, providers.get(row.provider_id) ?? '')
      all.push({ facts, covered: coverage.get(row.code) ?? [], ...(await readValues(trx, row.code)) })
    }
    return all
  })
}

/** Text of an export, in parts. */
export function exportedIndicatorText(
  indicators: readonly IndicatorExport[],
  format: ExportFormat,
): Generator<Buffer, void> {
  const writer = INDICATOR_WRITERS[format]
  return encodeWithEnd(indicatorParts(indicators, writer), writer.end)
}

function* indicatorParts(
  indicators: readonly IndicatorExport[],
  writer: IndicatorWriter,
): Generator<string, number, void> {
  let count = 0
  let text = writer.header
  for (const { facts, covered, column, runs } of indicators) {
    text += writer.facts(facts) + covered.map((days) => writer.covered(facts, days)).join('')
    const findInstant = ascendingInstants(runs)
    for (let at = 0; at < column.days.length; at += 1) {
      const value_date = isoDate(column.days[at] ?? 0)
      const value = columnValue(column, at)
      text += writer.value(facts, { value_date, value, stored_at: findInstant(value_date) })
      if (at % LINES_AT_ONCE === LINES_AT_ONCE - 1) {
        yield text
        text = ''
      }
    }
    count += column.days.length
  }
  if (text !== '') yield text
  return count
}

/** Reads values as a column, which takes a tenth of the memory of rows. */
async function readValues(trx: ReadDb, code: string): Promise<Pick<IndicatorExport, 'column' | 'runs'>> {
  const rows = await selectAllIndicatorValues(trx, code)
  const runs: StoredAtRun[] = []
  for (const { value_date: from, stored_at: storedAt } of rows) {
    if (runs.at(-1)?.storedAt !== storedAt) runs.push({ from, storedAt })
  }
  const days = Int32Array.from(rows, ({ value_date }) => dayNumber(value_date))
  return {
    column: makeColumn(
      days,
      rows.map(({ value }) => value),
    ),
    runs,
  }
}

function exportedIndicator(row: StoredIndicator, provider: string): ExportedIndicator {
  const { code, name, unit, periodicity } = row
  return { provider, code, name, unit, periodicity }
}
