// A whole cambista over a bank in memory: real SQLite and real HTTP. A test writes on the bank, makes it fail, and
// chooses between its exact and its rounding source.

import type { TestContext } from 'node:test'
import type { CatalogueSeries, SeriesGroup } from '../../../src/providers/provider.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock } from '../temporary.ts'
import { createMemoryBank, type MemoryBank } from './memory-bank.ts'

export type MemoryApp = TestApp & {
  memory: MemoryBank
  /** Later runs read the exact values of the public API, which serves single series. */
  giveToken(): void
  /** Later runs read the website, with values rounded to `decimals` and whole tables only. */
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

/** The body of a 200, else the status and the message. */
export async function fetchAnswer(app: TestApp, path: string): Promise<unknown> {
  const response = await app.get(`/api/v1${path}`)
  const body = (await response.json()) as { detail?: unknown }
  return response.status === 200 ? body : `${response.status} ${body.detail}`
}
