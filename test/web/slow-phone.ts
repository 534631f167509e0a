// A slow phone: processor a quarter as fast, 1.6 Mbit/s down, 0.8 Mbit/s up, 150 ms round trip. Times are compared with
// those of the reference page in the same run, since the machine may be busy.

import assert from 'node:assert/strict'
import type { Browser, Page } from 'puppeteer-core'
import type { TestApp } from '../support/app.ts'
import { openVisit, PHONE } from './support.ts'

/** First paint of the reference page on an idle machine. */
export const REFERENCE_PAINT_MS = 1150
export const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 }
const SLOWER_CPU = 4

/** Milliseconds of tries. */
export type Comparison = { own: number[]; reference: number[] }

export async function slowDown(page: Page): Promise<void> {
  const cdp = await page.createCDPSession()
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await cdp.send('Network.emulateNetworkConditions', SLOW)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU })
}

/** The fastest try in units of the fastest reference. */
export function share({ own, reference }: Comparison): number {
  return Math.min(...own) / Math.min(...reference)
}

export function describeTimes(times: Comparison): string {
  const [own, reference] = [times.own, times.reference].map((all) => all.map(Math.round).join(', '))
  return `${own} ms, reference ${reference} ms, share ${share(times).toFixed(2)}`
}

/** Opens a URL on a slow phone in a new profile. @returns the milliseconds until its first text is painted */
export async function firstPaint(browser: Browser, app: TestApp, url: string): Promise<number> {
  const { page } = await openVisit(browser, app, {
    ...{ url, path: '', language: 'es', viewport: PHONE, prepare: slowDown },
  })
  const paint = await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    { polling: 100 },
  )
  const time = Number(await paint.jsonValue())
  const statuses = await page.evaluate(() =>
    performance
      .getEntriesByType('navigation')
      .map((one) => (one as PerformanceNavigationTiming).responseStatus),
  )
  assert.deepEqual(statuses, [200], url)
  await page.browserContext().close()
  return time
}
