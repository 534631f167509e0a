// A data directory whose rates are synced from a bank in memory that has indicators too.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { enableIndicators } from '../../../src/domain/indicators/enable.ts'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/indicator-source.ts'
import {
  FetchFailure,
  type IndicatorFacts,
  type Observation,
  type Provider,
  type SourceAnswer,
  type Window,
} from '../../../src/providers/provider.ts'
import { atomically } from '../../../src/store/engine.ts'
import { findStoredIndicator } from '../../../src/store/indicators/changes.ts'
import type { StoredIndicator } from '../../../src/store/indicators/indicators.ts'
import type { IndicatorRun } from '../../../src/store/indicators/runs.ts'
import { selectAllIndicatorValues } from '../../../src/store/indicators/values.ts'
import { type IndicatorRequest, readIndicators } from '../../../src/sync/indicators/indicator-run.ts'
import type { SyncDeps } from '../../../src/sync/run.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import { type Desk, listDays, openDesk } from './memory-bank.ts'

export type IndicatorCall = { code: string; window: Window }

export type IndicatorDesk = Omit<Desk, 'deps'> & {
  deps: SyncDeps
  provider: Provider
  /** Requests for indicators, oldest first. */
  calls: IndicatorCall[]
  /** Text of a day by code; undefined: none. */
  values: Record<string, (day: IsoDate) => string | undefined>
  /** Names in answers; a code without one is unknown to the bank. */
  names: Map<string, string>
  facts: Map<string, IndicatorFacts>
  token: { value: string | undefined }
  /** Throws to fail, or returns an answer in place of the bank's. */
  hook: { fault?: ((call: IndicatorCall) => SourceAnswer | undefined) | undefined }
  enable(codes: readonly string[], from?: IsoDate): Promise<void>
  read(request?: Partial<IndicatorRequest>): Promise<IndicatorRun | undefined>
  stored(code: string): Promise<Record<IsoDate, string>>
  row(code: string): Promise<StoredIndicator>
}

/** Failure with the status of an answer. */
export function httpFailure(code: string, status: number, text: string): FetchFailure {
  return new FetchFailure(`${code}: HTTP ${status}: ${text}`, { code: 'http_status', status })
}

/** Moves the clock to a later day at 06:40, after a good run of the rates. */
export async function startNextDay(desk: IndicatorDesk, days = 1): Promise<void> {
  const { clock } = desk
  clock.now = new Date(clock.now.getTime() + days * 86_400_000)
  clock.now.setUTCHours(12, 40)
  assert.equal((await desk.sync()).status, 'ok')
  clock.now = new Date(clock.now.getTime() + 60_000)
}

/** The rates are synced; `now` is 06:40 in Costa Rica. */
export async function openIndicatorDesk(
  t: TestContext,
  now = '2026-03-24T12:40:00Z',
): Promise<IndicatorDesk> {
  const desk = await openDesk(t, { now, backfillFrom: '2026-03-20' })
  const calls: IndicatorCall[] = []
  const values: IndicatorDesk['values'] = {}
  const names = new Map([['423', 'Tasa básica pasiva calculada por el BCCR']])
  const facts: IndicatorDesk['facts'] = new Map()
  const token: IndicatorDesk['token'] = { value: 'token-of-the-bank' }
  const hook: IndicatorDesk['hook'] = {}
  const provider: Provider = {
    ...desk.bank.provider,
    indicators: async () => ({
      ...bccrIndicators,
      connect: (_settings, signal) => ({
        async read(code, window) {
          signal.throwIfAborted()
          calls.push({ code, window })
          const other = hook.fault?.({ code, window })
          if (other) return other
          const name = names.get(code)
          if (name === undefined) throw httpFailure(code, 400, 'El indicador no existe.')
          const observations = listDays(window.from, window.to).flatMap((day): Observation[] => {
            const value = values[code]?.(day)
            return value === undefined ? [] : [{ code, day, value, roundedTo: undefined }]
          })
          return { listed: [{ code, name }], observations }
        },
        async readFacts(code) {
          const answer = facts.get(code)
          if (!answer) throw httpFailure(code, 404, '')
          return answer
        },
        sourceDay: undefined,
      }),
    }),
  }
  const deps: SyncDeps = {
    ...desk.deps,
    settings: () => ({ url: 'https://bank', token: token.value, paceMs: 0, userAgent: 'test' }),
  }
  await desk.sync()
  return {
    ...{ ...desk, deps, provider, calls, values, names, facts, token, hook },
    async enable(codes, from) {
      const owner = { id: 1, code: 'bccr', source: bccrIndicators, rateCodes: new Set<string>() }
      const options = { from, now: desk.clock.read() }
      await atomically(desk.db, (trx) => enableIndicators(trx, owner, codes, options))
    },
    read: ({ trigger = 'scheduler', signal = new AbortController().signal, isNewestOnly } = {}) =>
      readIndicators(deps, provider, {
        trigger,
        pauseMs: 60,
        signal,
        ...(isNewestOnly !== undefined && { isNewestOnly }),
      }),
    async stored(code) {
      const rows = await selectAllIndicatorValues(desk.db, code)
      return Object.fromEntries(rows.map(({ value_date, value }) => [value_date, value]))
    },
    async row(code) {
      const row = await findStoredIndicator(desk.db, code)
      if (!row) throw new Error(`there is no indicator ${code}`)
      return row
    },
  }
}
