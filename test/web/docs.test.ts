// The reference at /docs: it asks no other server, its requests work with a key and with a token, and it keeps neither.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ElementHandle } from 'puppeteer-core'
import { until } from '../support/terminal.ts'
import { openBrowser, openPageApp, type Visit, visit } from './support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const WIDE = { width: 1400, height: 1000 }

/** Where the reference shows an operation, its secret, and a path that was asked. */
const TRIED = [
  ['a key', 'tag/rates/GET/api/v1/rates/latest', '/api/v1/rates/latest', app.key],
  ['a token', 'tag/documents/GET/api/v1/documents', '/api/v1/documents', app.token],
] as const

for (const [what, place, path, secret] of TRIED) {
  test(`a request that is tried with ${what} is answered, and nothing of it is kept`, async () => {
    const seen = await visit(browser, app, { path: `/docs#${place}`, viewport: WIDE })
    const { page } = seen
    const sent: [status: number, url: string][] = []
    page.on('response', (answer) => {
      if (new URL(answer.url()).pathname === path) sent.push([answer.status(), answer.url()])
    })
    await click(seen, `Test Request\\s*\\(get ${path}\\)`)
    const field = await page.waitForSelector('[role=dialog] input[placeholder][autocomplete=off]')
    await field?.type(secret)
    await click(seen, '^Send Request')
    await until(() => sent.length > 0)
    const [[status, url]] = sent as [[number, string]]
    assert.equal(status, 200, url)
    await page.waitForFunction(() =>
      /200\s*OK/.test(document.querySelector('[role=dialog]')?.textContent ?? ''),
    )
    await isNowhere(seen, secret)
    await page.reload()
    await page.waitForFunction((path) => (document.body.textContent ?? '').includes(path), {}, path)
    await isNowhere(seen, secret)
    const values = () => page.$$eval('input', (all) => all.map(({ value }) => value))
    await click(seen, `Test Request\\s*\\(get ${path}\\)`)
    await page.waitForSelector('[role=dialog] input[placeholder][autocomplete=off]')
    assert.ok(!(await values()).some((value) => value.includes(secret.slice(4))))
    assert.doesNotMatch(await page.content(), new RegExp(secret.slice(4)))

    // Scalar asks once whether it may make a function of text, and is refused.
    const { violations, errors, requests } = seen
    assert.deepEqual(new Set(violations), new Set(['script-src: kEvalViolation']))
    assert.equal(violations.length, 2, 'one for each time that the page was opened')
    assert.deepEqual(errors, [])
    const foreign = requests.filter((one) => !one.startsWith(`${app.app.url}/`) && !/^(data|blob):/.test(one))
    assert.deepEqual(foreign, [])
  })
}

/** Nothing is stored at all, and no address has the secret. */
async function isNowhere({ page, cdp, requests }: Visit, secret: string): Promise<void> {
  const stored = await page.evaluate(async () => ({
    local: JSON.stringify(localStorage),
    session: JSON.stringify(sessionStorage),
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
    cookie: document.cookie,
    name: window.name,
  }))
  for (const place of [stored.local, stored.session, stored.cookie, stored.name, page.url(), ...requests])
    assert.ok(!place.includes(secret.slice(4)), place)
  assert.deepEqual([stored.databases, stored.caches], [[], []])
  assert.deepEqual((await cdp.send('Network.getCookies')).cookies, [])
}

/** Presses the one visible button whose words fit. */
async function click({ page }: Visit, words: string): Promise<void> {
  const find = () =>
    page.evaluateHandle((words) => {
      const all = [...document.querySelectorAll('button')].filter((one) => one.checkVisibility())
      return all.find((one) => new RegExp(words).test((one.textContent ?? '').trim())) ?? null
    }, words)
  await until(async () => (await find()).asElement() !== null)
  await ((await find()).asElement() as ElementHandle<Element> | null)?.click()
}
