// API reference at /docs/reference: requests work with key and token, neither is stored, and no other server is contacted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ElementHandle } from 'puppeteer-core'
import { until } from '../support/terminal.ts'
import { openEngine, openPageApp, openVisit, type Visit } from './support.ts'

const browser = await openEngine()
const app = await openPageApp({ listen: { compat: { open: undefined, serveRounded: false } } })
const WIDE = { width: 1400, height: 1000 }

/** Anchors of operations in the reference, with path and secret of the request. */
const REQUESTS = [
  ['a key', 'tag/rates/GET/api/v1/rates/latest', '/api/v1/rates/latest', app.key],
  ['a token', 'tag/documents/GET/api/v1/documents', '/api/v1/documents', app.token],
] as const

for (const [what, place, path, secret] of REQUESTS) {
  test(`the reference sends a request with ${what} and stores nothing of it`, async () => {
    const visit = await openVisit(browser, app, { path: `/docs/reference#${place}`, viewport: WIDE })
    const { page } = visit
    const responses: [status: number, url: string][] = []
    page.on('response', (answer) => {
      if (new URL(answer.url()).pathname === path) responses.push([answer.status(), answer.url()])
    })
    await click(visit, `Test Request\\s*\\(get ${path}\\)`)
    const field = await page.waitForSelector('[role=dialog] input[placeholder][autocomplete=off]')
    await field?.type(secret)
    await click(visit, '^Send Request')
    await until(() => responses.length > 0)
    const [[status, url]] = responses as [[number, string]]
    assert.equal(status, 200, url)
    await page.waitForFunction(() =>
      /200\s*OK/.test(document.querySelector('[role=dialog]')?.textContent ?? ''),
    )
    await assertNotStored(visit, secret)
    await page.reload()
    await page.waitForFunction((path) => (document.body.textContent ?? '').includes(path), {}, path)
    await assertNotStored(visit, secret)
    const values = () => page.$$eval('input', (all) => all.map(({ value }) => value))
    await click(visit, `Test Request\\s*\\(get ${path}\\)`)
    await page.waitForSelector('[role=dialog] input[placeholder][autocomplete=off]')
    assert.ok(!(await values()).some((value) => value.includes(secret.slice(4))))
    assert.doesNotMatch(await page.content(), new RegExp(secret.slice(4)))

    // Scalar tries eval once, and the policy blocks it.
    const { violations, errors, requests } = visit
    assert.deepEqual(new Set(violations), new Set(['script-src: kEvalViolation']))
    assert.equal(violations.length, 2, 'one for each time that the page was opened')
    assert.deepEqual(errors, [])
    const foreign = requests.filter((one) => !one.startsWith(`${app.app.url}/`) && !/^(data|blob):/.test(one))
    assert.deepEqual(foreign, [])
  })
}

test('the reference shows the own operations and webhooks alone', async () => {
  const { page } = await openVisit(browser, app, { path: '/docs/reference', viewport: WIDE })
  const readText = () => page.evaluate(() => document.body.textContent ?? '')
  await until(async () => (await readText()).includes('Current rate of a pair'))
  const anchors = await page.$$eval('a[href*="#tag/"]', (all) => all.map((one) => one.getAttribute('href')))
  const groups = anchors.flatMap((anchor) => /^#tag\/(\w+)$/.exec(anchor ?? '')?.slice(1) ?? [])
  assert.deepEqual(groups, ['rates', 'history', 'documents', 'agents', 'server'])
  assert.ok(anchors.includes('#tag/rates/webhook/POST/rates.published'))
  assert.doesNotMatch(await readText(), /Compatibility|\/compat\/|\/convert\.csv/)
})

/** Asserts that the browser stores nothing, and that no URL has the secret. */
async function assertNotStored({ page, cdp, requests }: Visit, secret: string): Promise<void> {
  const storage = await page.evaluate(async () => ({
    local: JSON.stringify(localStorage),
    session: JSON.stringify(sessionStorage),
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
    cookie: document.cookie,
    name: window.name,
  }))
  for (const text of [storage.local, storage.session, storage.cookie, storage.name, page.url(), ...requests])
    assert.ok(!text.includes(secret.slice(4)), text)
  assert.deepEqual([storage.databases, storage.caches], [[], []])
  assert.deepEqual((await cdp.send('Network.getCookies')).cookies, [])
}

/** Clicks the visible button whose text matches. */
async function click({ page }: Visit, words: string): Promise<void> {
  const find = () =>
    page.evaluateHandle((words) => {
      const all = [...document.querySelectorAll('button')].filter((one) => one.checkVisibility())
      return all.find((one) => new RegExp(words).test((one.textContent ?? '').trim())) ?? null
    }, words)
  await until(async () => (await find()).asElement() !== null)
  await ((await find()).asElement() as ElementHandle<Element> | null)?.click()
}
