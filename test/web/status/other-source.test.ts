// The page beside an enabled source that corrects a value and then fails. Its texts are those beside the bank alone.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { startTestApp } from '../../support/app.ts'
import { startBanguat } from '../../support/sources/banguat.ts'
import { enableProviders } from '../../support/sources/enable.ts'
import { fixedClock } from '../../support/temporary.ts'
import { startSession, waitForIdle } from '../states.ts'
import { assertClean, fillPageApp, NOW, openEngine, openVisit } from '../support.ts'

const browser = await openEngine()
const SCREENS = { '#rates': '.statistics td', '#status': '.runs .pill' }

/** Starts a server after three syncs. The bank and the source correct a value in the second. The source fails in the third. */
async function start(t: TestContext, optional: readonly Provider[]) {
  const clock = fixedClock(NOW)
  const source = await startBanguat(t, clock.read)
  let correction: string | undefined
  const started = await startTestApp(t, {
    clock,
    backfillFrom: '2026-01-01',
    bank: { value: (code, day) => (code === '318' && day === '2026-03-11' ? correction : undefined) },
    providers: [bccr, banguat],
    sources: { banguat: () => ({ url: source.url, token: undefined }) },
  })
  const app = await fillPageApp(started)
  if (optional.length > 0) await enableProviders(app, optional)
  const sync = async (range?: { from: string; to: string }) => {
    const ends = await app.app.sync({ trigger: 'cli', range, signal: new AbortController().signal })
    return ends.map(({ run }) => `${run.provider_id} ${run.status} ${run.updated}`)
  }
  const firstRuns = await sync()
  correction = '499.5'
  source.correct = (body) => body.replace('<venta>7.66069<', '<venta>7.6607<')
  const correctedRuns = await sync({ from: '2026-03-01', to: '2026-03-20' })
  source.fault = () => ({ status: 403, body: '' })
  return { app, runs: [firstRuns, correctedRuns, await sync()] }
}

/** Lines of both screens as they are painted, without the free space of the machine. */
async function readScreens({ app }: Awaited<ReturnType<typeof start>>): Promise<string[]> {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page, url } = visit
  await startSession(visit, app, 'both')
  const lines: string[] = []
  for (const [fragment, selector] of Object.entries(SCREENS)) {
    await page.goto(`${url}/${fragment}`)
    await page.waitForSelector(selector)
    await waitForIdle(page)
    // biome-ignore lint/performance/useDomNodeTextContent: text of closed details is not painted
    const text = await page.$eval('body', (body) => (body as HTMLElement).innerText)
    lines.push(
      ...text.split('\n').filter((line) => line.trim() !== '' && !/libres?\b|^[\d,]+ [GT]B$/.test(line)),
    )
  }
  assertClean(visit)
  await page.browserContext().close()
  return lines
}

test('the page beside another enabled source is that of the bank alone', async (t) => {
  const alone = await start(t, [])
  const beside = await start(t, [banguat])
  assert.deepEqual(
    beside.runs,
    [
      ['1 ok 0', '3 parcial 0'],
      ['1 ok 1', '3 ok 1'],
      ['1 ok 0', '3 error 0'],
    ],
    'the source has a correction and a failure',
  )
  const expected = await readScreens(alone)
  assert.ok(expected.some((line) => line.includes('corrigió') && line.includes('11/03/2026')))
  assert.deepEqual(await readScreens(beside), expected)
})
