// A whole cambista whose bank is on paper: real SQLite and real HTTP, and a source of rates that a test writes on,
// makes fail, and lets be the exact one or the one that rounds.

import type { TestContext } from 'node:test'
import type { IsoDate } from '../../../src/dates.ts'
import type { CatalogueSeries, SeriesGroup } from '../../../src/providers/provider.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock } from '../ground.ts'
import { createPaperBank, type PaperBank } from './paper-bank.ts'

export type PaperApp = TestApp & {
  paper: PaperBank
  /** From the next run on: the public API's exact values, which can be asked for one series alone. */
  giveToken(): void
  /** From the next run on: the website's values, rounded to so many decimals, whole tables only. */
  takeToken(roundedTo: number): void
}

export type PaperAppOptions = {
  now?: string
  backfillFrom?: IsoDate
  catalogue?: readonly CatalogueSeries[]
  groups?: readonly SeriesGroup[]
}

export async function startPaperApp(t: TestContext, options: PaperAppOptions = {}): Promise<PaperApp> {
  const clock = fixedClock(options.now)
  const paper = createPaperBank(clock, options)
  let token: string | undefined = 'test-token'
  const app = await startTestApp(t, {
    clock,
    backfillFrom: options.backfillFrom ?? '2026-02-01',
    token: () => token,
    providers: [paper.provider],
  })
  return {
    ...app,
    paper,
    giveToken() {
      token = 'test-token'
      Object.assign(paper, { supportsSingleSeries: true, roundedTo: undefined })
    },
    takeToken(roundedTo) {
      token = undefined
      Object.assign(paper, { supportsSingleSeries: false, roundedTo })
    },
  }
}

/** The body of a 200, else the status and its words. */
export async function answerTo(app: TestApp, path: string): Promise<unknown> {
  const response = await app.get(`/api/v1${path}`)
  const body = (await response.json()) as { detail?: unknown }
  return response.status === 200 ? body : `${response.status} ${body.detail}`
}
