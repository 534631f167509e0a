// Tabs of one browser: each follows the session that another tab opens, leaves, or finds ended.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { makeLoginLink } from '../../../src/domain/access/login-links.ts'
import { findActiveApiKeyByName } from '../../../src/store/access/api-keys.ts'
import { findActiveTokenByName } from '../../../src/store/access/tokens.ts'
import { asOtherProcess } from '../../api/support.ts'
import { runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { fill } from '../states.ts'
import { createDocuments, enterSecret, openEngine, openPageApp, openVisit, type Visit } from '../support.ts'

const browser = await openEngine()
const app = await openPageApp()
const LIST = '20/11/2026;1500,00;Salario Juan Mora'

test('a tab shows the person and the documents of the session that another tab opened', async () => {
  const visit = await openPerson('María')
  const other = await openTab(visit, '#documents')
  await other.waitForSelector('.received')
  assert.equal(await readName(other), 'María')
  await enter(visit.page, 'Pedro')
  await until(async () => (await readName(other)) === 'Pedro')
  await createDocuments(app, [{ name: 'later.txt', mimetype: 'text/plain', content: 'x' }])
  await other.waitForSelector('.document')
})

test('signing out in a tab shows the door in another, and removes its pasted list', async () => {
  const visit = await openPerson('María')
  const other = await openList(visit)
  await visit.page.click('.menu summary')
  await visit.page.click('.menu-inside > .button')
  await other.waitForSelector('form.secret')
  await visit.page.waitForSelector('form.secret')
  await enterSecret(visit, app.key)
  await other.waitForSelector('textarea.pasted')
  assert.equal(await readList(other), '')
})

test('a session that a tab finds ended shows the door in another, whose pasted list stays', async () => {
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'brief')
  const visit = await openVisit(browser, app)
  await enterSecret(visit, key)
  await visit.page.waitForSelector('.side-value')
  const other = await openList(visit)
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  const headers = { 'x-api-key': key }
  await until(async () => (await fetch(`${app.app.url}/api/v1/series`, { headers })).status === 401)
  await visit.page.click('.day-picker button')
  await visit.page.waitForSelector('.ended')
  await other.waitForSelector('.ended')
  await enterSecret(visit, app.key)
  await other.waitForSelector('textarea.pasted')
  assert.equal(await readList(other), LIST)
})

test('an answer to the old session does not end the session that another tab opened since', async () => {
  const visit = await openPerson('María')
  const other = await openTab(visit, '#rates')
  await other.waitForSelector('.menu')
  let release: (() => void) | undefined
  await other.setRequestInterception(true)
  other.on('request', (request) => {
    const proceed = () => void request.continue()
    if (!release && request.url().endsWith('/session')) release = proceed
    else proceed()
  })
  await other.reload()
  await until(() => release !== undefined)
  await enter(visit.page, 'Pedro')
  release?.()
  await other.waitForSelector('.menu')
  assert.equal(await readName(other), 'Pedro')
  assert.equal(await readName(visit.page), 'Pedro')
})

/** Opens the page with the session of a person. */
async function openPerson(person: string): Promise<Visit> {
  const visit = await openVisit(browser, app)
  await visit.page.waitForSelector('form.secret')
  await enter(visit.page, person)
  return visit
}

/** Signs in with a one-time link for key and token. */
async function enter(page: Page, person: string): Promise<void> {
  const code = await asOtherProcess(app, async (db) => {
    const keyId = (await findActiveApiKeyByName(db, 'erp'))?.id
    const tokenId = (await findActiveTokenByName(db, 'facturas'))?.id
    return (await makeLoginLink(db, { keyId, tokenId, person }, app.clock.read)).code
  })
  await page.evaluate((code) => {
    location.hash = `login=${code}`
  }, code)
  const button = await page.waitForSelector('.door-card .buttons .main')
  await button?.click()
  await page.waitForSelector('.door-card', { hidden: true })
  assert.equal(await readName(page), person)
}

async function openTab({ page, url }: Visit, fragment: string): Promise<Page> {
  const other = await page.browserContext().newPage()
  await other.goto(`${url}/${fragment}`)
  return other
}

/** Opens a tab with a pasted list, behind the tab of the visit. */
async function openList(visit: Visit): Promise<Page> {
  const other = await openTab(visit, '#rates/list')
  await other.waitForSelector('textarea.pasted')
  await fill(other, 'textarea.pasted', LIST)
  assert.equal(await readList(other), LIST)
  await visit.page.bringToFront()
  return other
}

function readList(page: Page): Promise<string> {
  return page.$eval('textarea.pasted', (field) => (field as HTMLTextAreaElement).value)
}

/** Name in the menu of the session; undefined: there is none. */
async function readName(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.querySelector('.menu-name')?.textContent)
}
