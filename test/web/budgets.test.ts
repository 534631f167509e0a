// Budgets of the page: bytes on the wire, first paint on a slow phone, drawing of a history, layout shift. Bytes and
// shifts are reproducible. The best of five first paints counts. The time of the chart is divided by that of reference
// work just before it: the load does not matter.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, Page, Viewport } from 'puppeteer-core'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { showSection, startSession, waitForIdle } from './states.ts'
import { DESKTOP, openBrowser, openVisit, PHONE, type Visit } from './support.ts'

const SHELL_BYTES = 61_440
const DATA_BYTES = 20_480
const FIRST_PAINT_MS = 1500
const CHART_MS = 150
const CHART_TRIES = 7
// Duration of referenceWork() in Chromium 156 on an idle machine for which CHART_MS is the limit.
const REFERENCE_WORK_MS = 45
const MAX_SHIFT = 0.05
const DELAY_MS = 1000
const TRIES = 5
// 1.6 Mbit/s down, 0.8 Mbit/s up, 150 ms round trip
const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 }
const SLOWER_CPU = 4

type Wire = { path: string; bytes: number }

const browser = await openBrowser()
const app = await openFullApp()

test(`the shell is at most ${SHELL_BYTES} bytes on the wire, the data of the first screen ${DATA_BYTES}`, async (t) => {
  const visit = await openRates(DESKTOP)
  const wire = await recordTraffic(visit, async () => {
    await visit.page.reload()
    await visit.page.waitForSelector('.currency')
    await visit.page.waitForSelector('.chart canvas')
    await waitForIdle(visit.page)
  })
  const isData = ({ path }: Wire) => /^\/(api|session)/.test(path)
  const [shell, data] = [totalBytes(wire.filter((one) => !isData(one))), totalBytes(wire.filter(isData))]
  t.diagnostic(
    `shell ${shell} bytes, data ${data} bytes: ${wire.map(({ path, bytes }) => `${path} ${bytes}`)}`,
  )
  assert.ok(wire.filter(isData).length >= 6, 'series, rates, dollar, conversion and two histories')
  assert.ok(shell > 30_000 && shell <= SHELL_BYTES, `${shell} bytes`)
  assert.ok(data > 3000 && data <= DATA_BYTES, `${data} bytes`)
})

test(`the first paint on a slow phone takes at most ${FIRST_PAINT_MS} ms`, async (t) => {
  const times: number[] = []
  for (let turn = 0; turn < TRIES; turn++) {
    const { page } = await openVisit(browser, app, { language: 'es', viewport: PHONE, prepare: slowDown })
    times.push(await firstPaint(page))
    await page.close()
    if (Math.min(...times) <= FIRST_PAINT_MS / 2) break
  }
  t.diagnostic(`${times.map(Math.round).join(', ')} ms`)
  assert.ok(Math.min(...times) <= FIRST_PAINT_MS, `${times} ms`)
  assert.ok(Math.min(...times) > 300, 'the network is slow: two round trips at least')
})

test(`16,000 days of two lines are painted within ${CHART_MS} ms of their arrival`, async (t) => {
  const visit = await openRates(DESKTOP)
  const { page } = visit
  await page.evaluateOnNewDocument(watchCanvas)
  const times: number[] = []
  const shares: number[] = []
  for (let turn = 0; turn < CHART_TRIES; turn++) {
    await page.goto('about:blank')
    await page.goto(`${visit.url}/#rates`)
    await page.waitForSelector('.chart canvas')
    await waitForIdle(page)
    const work = await page.evaluate(referenceWork)
    const before = await page.evaluate(() => performance.now())
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('.history .segmented label:last-child input')?.click()
    })
    await waitForIdle(page)
    const { days, arrived, painted } = await page.evaluate(chartFacts, before)
    assert.ok(days >= 15_999, `${days} days`)
    times.push(painted - arrived)
    shares.push((painted - arrived) / work)
  }
  t.diagnostic(
    `${times.map(Math.round).join(', ')} ms, of reference work ${shares.map((one) => one.toFixed(2)).join(', ')}`,
  )
  const share = shares.sort((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0
  assert.ok(share <= CHART_MS / REFERENCE_WORK_MS, `${share} of reference work`)
  assert.ok(Math.min(...times) > 1, 'it was painted after its arrival')
})

for (const [device, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
  test(`screens do not shift while they load slowly on a ${device}`, async (t) => {
    const visit = await openRates(viewport)
    const cdp = await visit.page.createCDPSession()
    await cdp.send('Network.enable')
    await cdp.send('Network.emulateNetworkConditions', SLOW)
    const shifts: Record<string, number> = {}
    for (const screen of ['rates', 'documents', 'status']) {
      await visit.page.goto('about:blank')
      await visit.page.goto(`${visit.url}/#${screen}`)
      await waitForIdle(visit.page)
      await visit.page.waitForSelector('.currency, .document, .runs .pill')
      await waitForIdle(visit.page)
      shifts[screen] = await visit.page.evaluate(layoutShift)
    }
    t.diagnostic(JSON.stringify(shifts))
    for (const [screen, shift] of Object.entries(shifts)) assert.ok(shift <= MAX_SHIFT, `${screen}: ${shift}`)
  })
}

// The order of responses varies on a busy machine. The list once moved down when its response came last.
for (const delayed of ['companies', 'agents', 'owners', 'documents']) {
  test(`documents do not shift on a phone if the response of ${delayed} comes last`, async () => {
    const visit = await openRates(PHONE)
    await visit.page.setRequestInterception(true)
    visit.page.on('request', (request) => {
      const isDelayed = new URL(request.url()).pathname.endsWith(`/${delayed}`)
      setTimeout(() => void request.continue(), isDelayed ? DELAY_MS : 0)
    })
    await visit.page.goto('about:blank')
    await visit.page.goto(`${visit.url}/#documents`)
    await visit.page.waitForSelector('.document')
    await visit.page.waitForSelector('.upload')
    await waitForIdle(visit.page)
    const shift = await visit.page.evaluate(layoutShift)
    assert.ok(shift <= MAX_SHIFT, `${shift}`)
  })
}

for (const [device, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
  test(`sections below the first screen do not shift while they load slowly on a ${device}`, async (t) => {
    const visit = await openRates(viewport)
    await slowDown(visit.page)
    for (const below of ['.months', '.export', '.currencies']) {
      await showSection(below)(visit, app)
      await waitForIdle(visit.page)
    }
    assert.ok(await visit.page.$('.months .last'))
    const shift = await visit.page.evaluate(layoutShift)
    t.diagnostic(`${shift}`)
    assert.ok(shift <= MAX_SHIFT, `${shift}`)
  })
}

test('layoutShift detects an inserted element', async () => {
  const { page } = await openVisit(browser, app, { language: 'es' })
  await page.waitForSelector('.secret')
  await page.evaluate(async () => {
    const frames = () =>
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(0))))
    await frames()
    const wedge = document.createElement('p')
    wedge.style.height = '300px'
    document.querySelector('main')?.prepend(wedge)
    await frames()
  })
  assert.ok((await page.evaluate(layoutShift)) > MAX_SHIFT)
})

async function openRates(viewport: Viewport): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', viewport })
  await startSession(visit, app, 'both')
  await visit.page.goto(`${visit.url}/#rates`)
  await waitForIdle(visit.page)
  return visit
}

async function slowDown(page: Page): Promise<void> {
  const cdp = await page.createCDPSession()
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await cdp.send('Network.emulateNetworkConditions', SLOW)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU })
}

/** Records compressed bytes with headers of all responses during an action. */
async function recordTraffic({ page }: Visit, action: () => Promise<void>): Promise<Wire[]> {
  const cdp: CDPSession = await page.createCDPSession()
  const paths = new Map<string, string>()
  const wire: Wire[] = []
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    paths.set(requestId, new URL(request.url).pathname)
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    wire.push({ path: paths.get(requestId) ?? '', bytes: encodedDataLength })
  })
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await action()
  await cdp.detach()
  return wire.filter(({ path, bytes }) => path !== '' && bytes > 0)
}

function totalBytes(wire: readonly Wire[]): number {
  return wire.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function firstPaint(page: Page): Promise<number> {
  const read = () =>
    page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)
  await until(async () => (await read()) > 0)
  return read()
}

/** Runs in the page: records when a frame with lines on a canvas is painted. */
function watchCanvas(): void {
  const { stroke } = CanvasRenderingContext2D.prototype
  const globals = globalThis as { paintedAt?: number }
  CanvasRenderingContext2D.prototype.stroke = function (...path: [] | [Path2D]) {
    stroke.apply(this, path as [Path2D])
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        globals.paintedAt = performance.now()
        port1.close()
      }
      port2.postMessage(0) // handled after the frame
    })
  }
}

/** Runs in the page: parses and draws as much data as the chart. @returns milliseconds */
function referenceWork(): number {
  const began = performance.now()
  const rows = Array.from({ length: 16_000 }, (_, at) => ({
    rate_date: '2026-03-24',
    value: String(500 + at / 100),
  }))
  const text = JSON.stringify({ points: rows })
  const context = document.createElement('canvas').getContext('2d')
  for (let turn = 0; turn < 6; turn++) {
    const { points } = JSON.parse(text) as { points: typeof rows }
    context?.beginPath()
    for (const [at, { value }] of points.entries()) context?.lineTo(at / 50, Number(value) / 10)
    context?.stroke()
  }
  return performance.now() - began
}

/** Runs in the page. @param before start of the measurement */
function chartFacts(before: number): { days: number; arrived: number; painted: number } {
  const histories = performance
    .getEntriesByType('resource')
    .filter(({ name, startTime }) => name.includes('/history?') && startTime >= before)
  return {
    days: Number(document.querySelector<HTMLInputElement>('.slider input')?.max) + 1,
    arrived: Math.max(...histories.map((one) => (one as PerformanceResourceTiming).responseEnd)),
    painted: (globalThis as { paintedAt?: number }).paintedAt ?? Number.NaN,
  }
}

/** Runs in the page: sum of the layout shifts without user input. */
function layoutShift(): Promise<number> {
  return new Promise((resolve) => {
    type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean }
    let sum = 0
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries() as Shift[]) if (!shift.hadRecentInput) sum += shift.value
    }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 100)
  })
}
