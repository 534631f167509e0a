// Exports all stored indicators as a stream of text: facts, covered days, and values with digits and instants. The rates
// have an export of their own, which does not change with them.

import { snapshot } from '../../store/engine.ts'
import { type StoredIndicator, selectIndicators } from '../../store/indicators/indicators.ts'
import { selectAllIndicatorValues, selectIndicatorCoverage } from '../../store/indicators/values.ts'
import { type ProviderRow, selectProviders } from '../../store/rates/providers.ts'
import type { StoredAtRun } from '../../store/rates/stored-at.ts'
import type { ReadDb } from '../../store/tables.ts'
import { dayNumber } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { type Column, makeColumn } from '../rates/column.ts'
import { type ExportFormat, encodeExport } from '../rates/export/export-format.ts'
import { type ExportedIndicator, factsLine, INDICATOR_WRITERS } from './indicator-export-format.ts'

/** Data of indicators with their providers; `runs`: instants by day, ascending. */
export type IndicatorExport = {
  providers: readonly ProviderRow[]
  indicators: readonly {
    facts: ExportedIndicator
    covered: readonly Interval[]
    column: Column
    runs: readonly StoredAtRun[]
  }[]
}

/** Reads all stored indicators, disabled ones too, in one state: by code as a number. */
export function readIndicatorExport(db: ReadDb): Promise<IndicatorExport> {
  return snapshot(db, async (trx) => {
    const providers = await selectProviders(trx)
    const codes = new Map(providers.map(({ id, code }) => [id, code]))
    const coverage = await selectIndicatorCoverage(trx)
    const indicators = await Array.fromAsync(await selectIndicators(trx), async (row) => ({
      facts: exportedIndicator(row, codes.get(row.provider_id) ?? ''),
      covered: coverage.get(row.code) ?? [],
      ...(await readValues(trx, row.code)),
    }))
    return { providers, indicators }
  })
}

/** Text of an export, in parts. */
export function exportedIndicatorText(
  { providers, indicators }: IndicatorExport,
  format: ExportFormat,
): Generator<Buffer, void> {
  const all = indicators.map(({ facts, ...data }) => {
    const { provider, code } = facts
    return { ...data, owner: { provider, code }, head: factsLine(facts, format) }
  })
  return encodeExport(all, INDICATOR_WRITERS[format], providers)
}

/** Reads values as a column, which takes a tenth of the memory of rows. */
async function readValues(trx: ReadDb, code: string): Promise<{ column: Column; runs: StoredAtRun[] }> {
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
