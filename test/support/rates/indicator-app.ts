// An app whose bank has indicators, which are read without a scheduler.

import type { TestContext } from 'node:test'
import type { Indicator } from '../../../src/demo/books.ts'
import { enableIndicators } from '../../../src/domain/indicators/enable.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/indicator-source.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { atomically } from '../../../src/store/engine.ts'
import type { IndicatorRun } from '../../../src/store/indicators/runs.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite-engine.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { readIndicators } from '../../../src/sync/indicators/indicator-run.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../app.ts'
import { postgres } from '../temporary.ts'

export const TBP: Indicator = { code: '423', name: 'Tasa básica pasiva calculada por el BCCR' }

export type IndicatorApp = TestApp & {
  /** Text of a day by code; null: a row without a value, undefined: no row. */
  values: Record<string, (day: IsoDate) => string | null | undefined>
  enable(codes: readonly string[], from?: IsoDate): Promise<void>
  disable(code: string): Promise<void>
  /** Reads the indicators that are due; the rates must be synced. */
  read(options?: { isNewestOnly?: boolean }): Promise<IndicatorRun | undefined>
  write<T>(work: (db: WriteDb) => Promise<T>): Promise<T>
}

/** `now`: 06:40 in Costa Rica, when history may be read. */
export async function startIndicatorApp(
  t: TestContext,
  indicators: readonly Indicator[],
  options: TestAppOptions = {},
): Promise<IndicatorApp> {
  const values: IndicatorApp['values'] = {}
  const value = (code: string, day: IsoDate) => values[code]?.(day)
  const app = await startTestApp(t, {
    now: '2026-03-24T12:40:00Z',
    ...options,
    bank: { indicators, value, ...options.bank },
  })
  const engine = postgres
    ? await postgres.openNode(t, await postgres.postgresAddress(app.dataDir))
    : await openSqliteEngine(app.dataDir)
  t.after(() => engine.close())
  const { db, takeLock, findHolder } = engine
  const deps = {
    ...{ db, takeLock, findHolder, clock: app.clock.read, backfillFrom: '2026-01-01' },
    log: createLog({ level: 'debug', format: 'json', write: () => {}, now: app.clock.read }),
    settings: () => ({ url: app.bank.url, token: 'test-token', paceMs: 0, userAgent: 'cambista/test' }),
    onCommit: async () => {},
  }
  const owner = { id: 1, code: 'bccr', source: bccrIndicators, rateCodes: new Set<string>() }
  return {
    ...app,
    values,
    async enable(codes, from) {
      await atomically(db, (trx) => enableIndicators(trx, owner, codes, { from, now: app.clock.read() }))
    },
    async disable(code) {
      await db.updateTable('indicators').set({ enabled: 0 }).where('code', '=', code).execute()
    },
    read: ({ isNewestOnly = false } = {}) =>
      readIndicators(deps, bccr, {
        trigger: 'scheduler',
        signal: new AbortController().signal,
        isNewestOnly,
        pauseMs: 1,
      }),
    write: (work) => work(db),
  }
}
