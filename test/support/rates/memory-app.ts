// A whole cambista whose bank is on memory: real SQLite and real HTTP, and a source of rates that a test writes on,
// makes fail, and lets be the exact one or the one that rounds.

import type { TestContext } from 'node:test'
import type { IsoDate } from '../../../src/dates.ts'
import type { CatalogueSeries, SeriesGroup } from '../../../src/providers/provider.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock } from '../temporary.ts'
import { createMemoryBank, type MemoryBank } from './memory-bank.ts'

export type MemoryApp = TestApp & {
  memory: MemoryBank
  /** From the next run on: the public API's exact values, which can be asked for one series alone. */
  giveToken(): void
  /** From the next run on: the website's values, rounded to so many decimals, whole tables only. */
  takeToken(roundedTo: number): void
}

export type MemoryAppOptions = {
  now?: string
  backfillFrom?: IsoDate
  catalogue?: readonly CatalogueSeries[]
  groups?: readonly SeriesGroup[]
}

export async function startMemoryApp(t: TestContext, options: MemoryAppOptions = {}): Promise<MemoryApp> {
  const clock = fixedClock(options.now)
  const memory = createMemoryBank(clock, options)
  let token: string | undefined = 'test-token'
  const app = await startTestApp(t, {
    clock,
    backfillFrom: options.backfillFrom ?? '2026-02-01',
    token: () => token,
    providers: [memory.provider],
  })
  return {
    ...app,
    memory,
    giveToken() {
      token = 'test-token'
      Object.assign(memory, { supportsSingleSeries: true, roundedTo: undefined })
    },
    takeToken(roundedTo) {
      token = undefined
      Object.assign(memory, { supportsSingleSeries: false, roundedTo })
    },
  }
}

/** The body of a 200, else the status and its words. */
export async function answerTo(app: TestApp, path: string): Promise<unknown> {
  const response = await app.get(`/api/v1${path}`)
  const body = (await response.json()) as { detail?: unknown }
  return response.status === 200 ? body : `${response.status} ${body.detail}`
}
