// Guides at /docs in a browser: readable without scripts, early on a slow phone, in both languages. The reference is
// fetched when it is opened.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axe } from './looks/looks.ts'
import { openReferencePage } from './reference-page.ts'
import { type Comparison, describeTimes, firstPaint, REFERENCE_PAINT_MS, share } from './slow-phone.ts'
import { assertClean, openEngine, openPageApp, openVisit } from './support.ts'

const FIRST_PAINT_MS = 1500
const REFERENCE_MS = 9000
const REFERENCE_BYTES = 1_280_000
const TRIES = 8
const NARROW = { width: 320, height: 640 }
const LANGUAGES = [
  { language: 'en', path: '/docs', reference: '/docs/reference', other: '/docs/es', word: 'Guides' },
  { language: 'es', path: '/docs/es', reference: '/docs/es/reference', other: '/docs', word: 'Guías' },
]

const browser = await openEngine()
const app = await openPageApp()

for (const { language, path, reference, other, word } of LANGUAGES) {
  test(`${path} is readable without scripts, and links page, reference and other language`, async () => {
    const visit = await openVisit(browser, app, {
      path,
      viewport: NARROW,
      prepare: (page) => page.setJavaScriptEnabled(false),
    })
    const { page } = visit
    const title = await page.$eval('h1', (element) => element.textContent)
    assert.ok(title?.startsWith(word), `${title}`)
    const links = await page.$$eval('.bar a', (all) => all.map((one) => (one as HTMLAnchorElement).pathname))
    assert.deepEqual(links, ['/', path, reference, other])
    const position = await page.$eval('.intro code', (code) => [
      code.textContent,
      code.getBoundingClientRect().bottom < innerHeight,
    ])
    assert.deepEqual(position, ['as_of=2026-03-24T12:00:00Z', true], 'as_of is on the first screen')
    const sections = await page.$$eval('.contents a', (all) =>
      all.map((one) => document.querySelector(one.getAttribute('href') ?? '')?.tagName),
    )
    assert.deepEqual(
      sections,
      sections.map(() => 'H2'),
    )
    assert.equal(sections.length, 10)
    assertClean(visit)
  })

  for (const colours of ['light', 'dark'] as const) {
    test(`axe finds nothing on ${path} in ${colours} colours, and it does not scroll sideways`, async () => {
      const visit = await openVisit(browser, app, { path, viewport: NARROW, colours })
      const { page } = visit
      assert.equal(await page.evaluate(() => document.documentElement.lang), language)
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), NARROW.width)
      assertClean(visit)
      assert.deepEqual(await axe(page), [])
    })
  }

  test(`the bar of ${reference} fits a narrow phone, and links the other language`, async () => {
    const visit = await openVisit(browser, app, { path: reference, viewport: NARROW })
    const { page } = visit
    const operation = '/api/v1/providers'
    await page.waitForFunction((text) => document.body.textContent?.includes(text), {}, operation)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), NARROW.width)
    assert.equal(await page.$eval('.operations', (list) => list.checkVisibility()), false)
    const link = await page.$eval('.bar a:last-child', (one) => (one as HTMLAnchorElement).pathname)
    assert.equal(link, `${other}/reference`)
    assert.deepEqual(visit.errors, [])
  })
}

test('an address of the reference from 0.2.0 opens it', async () => {
  const place = 'tag/rates/GET/api/v1/rates/latest'
  const { page } = await openVisit(browser, app, { path: `/docs#${place}` })
  await page.waitForFunction(() => location.pathname === '/docs/reference')
  await page.waitForFunction(() => document.activeElement?.tagName === 'SECTION')
  // Not the address: the reference rewrites it to the section on the screen, which changes while it loads.
  const section = await page.evaluate(() => document.activeElement?.id)
  assert.ok(section?.endsWith(place), String(section))
  await page.waitForFunction(() => {
    const { top } = (document.activeElement ?? document.body).getBoundingClientRect()
    return top >= 0 && top < innerHeight
  })
  const outline = await page.evaluate(() => {
    const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement ?? document.body)
    return [outlineStyle, boxShadow]
  })
  assert.deepEqual(outline, ['none', 'none'], 'no frame round the section')
})

test('the guides request no file of the reference', async () => {
  const { page, requests } = await openVisit(browser, app, { path: '/docs' })
  await page.waitForNetworkIdle()
  assert.deepEqual(requests.map((one) => new URL(one).pathname.replace(/-\w{8}\./, '.')).sort(), [
    '/docs',
    '/page/anchors.js',
    '/page/guides.css',
  ])
})

test(`the text of the guides is painted within ${FIRST_PAINT_MS} ms on a slow phone`, async (t) => {
  const other = await openReferencePage()
  const limit = FIRST_PAINT_MS / REFERENCE_PAINT_MS
  const times: Comparison = { own: [], reference: [] }
  for (let turn = 0; turn < TRIES && (turn < 2 || share(times) > limit); turn++) {
    times.reference.push(await firstPaint(browser, app, other))
    times.own.push(await firstPaint(browser, app, `${app.app.url}/docs`))
  }
  t.diagnostic(describeTimes(times))
  assert.ok(share(times) <= limit, describeTimes(times))
})

test('the reference lists its operations without scripts', async () => {
  const { page } = await openVisit(browser, app, {
    path: '/docs/reference',
    viewport: NARROW,
    prepare: (one) => one.setJavaScriptEnabled(false),
  })
  const listed = await page.$$eval('.operations li code', (all) => all.map((one) => one.textContent ?? ''))
  const { paths } = (await (await app.get('/openapi.json')).json()) as {
    paths: Record<string, object>
  }
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(listed.toSorted(), described.toSorted())
  assert.equal(await page.$eval('[role="status"]', (text) => text.checkVisibility()), false)
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), NARROW.width)
})

test(`an operation of the reference is painted within ${REFERENCE_MS} ms on a slow phone`, async (t) => {
  const other = await openReferencePage()
  const times: Comparison = {
    reference: [await firstPaint(browser, app, other)],
    own: [await firstPaint(browser, app, `${app.app.url}/docs/reference`)],
  }
  t.diagnostic(describeTimes(times))
  assert.ok(share(times) <= REFERENCE_MS / REFERENCE_PAINT_MS, describeTimes(times))
})

test(`the reference is at most ${REFERENCE_BYTES} bytes, and its description arrives beside its script`, async () => {
  const { page, requests } = await openVisit(browser, app, { path: '/docs/reference' })
  await page.waitForSelector('#reference section[id*="/GET/api/v1/"]')
  assert.equal(requests.filter((one) => one.endsWith('/openapi.json')).length, 1)
  const files = await page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map((one) => ({
      name: one.name.replace(/.*\/|-\w{8}\.js$/g, ''),
      bytes: one.encodedBodySize,
      start: one.startTime,
      end: one.responseEnd,
    })),
  )
  const [script, description] = ['reference', 'openapi.json'].map((name) =>
    files.find((one) => one.name === name),
  )
  assert.ok(script && description)
  assert.ok(script.bytes > 1_000_000 && script.bytes <= REFERENCE_BYTES, `${script.bytes} bytes`)
  assert.ok(description.start < script.end, `${description.start} ms, script ${script.end} ms`)
})
