// Doors: sessions over a restart or a lost request, ended elsewhere or withdrawn; open networks; a lost server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { makeLoginLink } from '../../src/domain/access/login-links.ts'
import { parseNetworks } from '../../src/http/listener/networks.ts'
import { findActiveApiKeyByName } from '../../src/store/access/api-keys.ts'
import { asOtherProcess } from '../api/support.ts'
import { runJson } from '../support/company.ts'
import { startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { axe, geometry, MIN_TARGET } from './looks/looks.ts'
import { openProxy } from './security/attacker.ts'
import { fill, waitForIdle } from './states.ts'
import {
  assertClean,
  elementText,
  enterSecret,
  openEngine,
  openPageApp,
  openVisit,
  PHONE,
  signIn,
  type Visit,
  waitForText,
} from './support.ts'

const NAME = 'rates.example'
const UNENDED = /^Salió en este equipo, pero el servidor todavía no cerró la sesión\. .* se reintenta/
const browser = await openEngine(`--host-resolver-rules=MAP ${NAME} 127.0.0.1`)
const app = await openPageApp({
  listen: {
    openPage: parseNetworks('192.168.1.0/24'),
    proxies: parseNetworks('127.0.0.1'),
    hostNames: [NAME],
    organization: { name: 'Comercial Ejemplo, S. A.', taxId: undefined },
  },
})

/** Path of a one-time link for a person with the key. */
const personPath = (person: string) =>
  asOtherProcess(app, async (db) => {
    const keyId = (await findActiveApiKeyByName(db, 'erp'))?.id
    return `/#login=${(await makeLoginLink(db, { keyId, tokenId: undefined, person }, app.clock.read)).code}`
  })

test('a link names the person and its rights, and the session is remembered until it is ended elsewhere', async () => {
  const visits: Visit[] = []
  for (const _ of ['office', 'home']) {
    const visit = await openVisit(browser, app, { language: 'es', path: await personPath('Contabilidad') })
    visits.push(visit)
    await waitForText(visit, '#one-time-link', /^Entrar como Contabilidad$/)
    assert.equal(await elementText(visit, '#one-time-link + p'), 'Con este enlace verá los tipos de cambio.')
    const text = await elementText(visit, '.door-card')
    assert.match(text, /Vence el 21\/11\/2026 a las 12:00, hora de Costa Rica\./)
    assert.doesNotMatch(text, /key|token|erp/)
    assert.equal(await visit.page.$eval('.remember input', (box) => (box as HTMLInputElement).checked), true)
    await visit.page.click('.door-card .main')
    await visit.page.waitForSelector('.side-value')
  }
  const [office, home] = visits as [Visit, Visit]
  const { cookies } = await office.cdp.send('Network.getCookies')
  assert.equal(cookies[0]?.session, false, 'the cookie outlives the browser')
  await home.page.goto(`${home.url}/#rates?on=2026-11-12&amount=77`)
  await waitForIdle(home.page)
  await office.page.click('.menu summary')
  assert.equal(await elementText(office, '.menu-name'), 'Contabilidad')
  await office.page.click('.menu-inside > .button + .button')
  await waitForText(office, '.menu-inside [role=status]', /Se cerró la sesión en los demás equipos/)
  await home.page.click('.day-picker button')
  await waitForText(
    home,
    '.ended',
    /^Su sesión terminó: se cerró en otro equipo. Lo que estaba viendo se conserva.$/,
  )
  assert.equal(await home.page.$eval('.remember input', (box) => (box as HTMLInputElement).checked), true)
  await enterSecret(home, app.key)
  await waitForIdle(home.page)
  const fields = ['.dollar .date', '.amount'].map((name) =>
    home.page.$eval(name, (field) => (field as HTMLInputElement).value),
  )
  assert.deepEqual(await Promise.all(fields), ['11/11/2026', '77'], 'the view is the same')
  assertClean(office)
})

test('a password manager finds a name and a password in the form, and a wrong key has one sentence', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  await visit.page.waitForSelector('.secret')
  const fields = await visit.page.$$eval('form.secret input:not([type=checkbox])', (inputs) =>
    inputs.map((input) => [(input as HTMLInputElement).autocomplete, (input as HTMLInputElement).value]),
  )
  assert.deepEqual(fields, [
    ['username', `cambista ${new URL(visit.url).host}`],
    ['current-password', ''],
  ])
  assert.equal(await visit.page.$eval('.remember input', (box) => (box as HTMLInputElement).checked), false)
  for (const secret of ['clave', 'cbk_wrong', 'cbt_wrong']) {
    await fill(visit.page, '.secret [type=password]', secret)
    await visit.page.click('.secret [type=submit]')
    await waitForText(visit, '.refusal', /^Esa clave no sirve. Revise que esté completa o pida otra.$/)
  }
})

test('a session outlives a restart of the server, whose values stay until it is back', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { key } = await runJson<{ key: string }>(dataDir, 'key', 'create', 'erp')
  const words = ['serve', '--no-scheduler', '--data-dir', dataDir, '--port']
  const first = startProgram(t, [...words, '0'])
  const [url = ''] = await first.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)
  const visit = await openVisit(browser, app, { language: 'es', url })
  const { page } = visit
  await enterSecret(visit, key)
  await waitForText(visit, '.door-card', /La sincronización automática está desactivada: avise/)
  first.child.kill('SIGKILL')
  await first.waitForExit()
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await waitForText(visit, '.banner', /^Sin conexión con el servidor\..* Se reintenta automáticamente\.$/)
  assert.equal(await elementText(visit, '.header .pill'), 'Sin conexión')
  const second = startProgram(t, [...words, new URL(url).port])
  await second.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.waitForSelector('.banner', { hidden: true })
  await page.reload()
  await waitForText(visit, '.door-card', /La sincronización automática está desactivada: avise/)
})

test('a session stays open when a connection that was lost while the page loaded is back', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await signIn(visit, app)
  await loseOnce(page, 'GET')
  await page.reload()
  await waitForText(visit, '.banner', /^Sin conexión con el servidor\./)
  await page.waitForSelector('.side-value')
  await waitForIdle(page)
  assert.equal(await page.$('form.secret'), null)
})

test('a session whose other requests get 401 ends, and is not loaded for ever', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  await page.waitForSelector('.side-value')
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/')) void request.respond({ status: 401 })
    else void request.continue()
  })
  await page.click('.day-picker button')
  await page.waitForSelector('.ended')
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), null)
})

test('a link signs in also if the first request of its session is lost', async () => {
  const visit = await openVisit(browser, app, { language: 'es', path: await personPath('Contabilidad') })
  const { page } = visit
  await page.waitForSelector('.door-card .main')
  await loseOnce(page, 'GET')
  await page.click('.door-card .main')
  await page.waitForSelector('.side-value')
  assert.equal(await page.$('.door-card'), null)
})

test('signing out without an answer shows the door and a warning, until the server has ended the session', async () => {
  const visit = await openVisit(browser, app, { language: 'es', viewport: PHONE })
  const { page, cdp } = visit
  await enterSecret(visit, app.key)
  await page.waitForSelector('.side-value')
  const half = await page.evaluate(() => localStorage.getItem('cambista-page') ?? '')
  const [cookie] = (await cdp.send('Network.getCookies')).cookies
  const readKey = async () => {
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, 'x-cambista-page': half }
    return ((await (await fetch(`${app.app.url}/session`, { headers })).json()) as { key: unknown }).key
  }
  await loseOnce(page, 'DELETE')
  await leave(page)
  await waitForText(visit, '.banner', UNENDED)
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), null)
  assert.deepEqual(await readKey(), { name: 'erp' })
  assert.deepEqual([...(await axe(page)), ...(await page.evaluate(geometry, MIN_TARGET))], [])
  await page.waitForSelector('.banner', { hidden: true })
  assert.equal(await readKey(), null)
})

test('a sign-in after signing out without an answer removes the warning', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  await page.waitForSelector('.side-value')
  await loseOnce(page, 'DELETE')
  await leave(page)
  await waitForText(visit, '.banner', UNENDED)
  await enterSecret(visit, app.key)
  await page.waitForSelector('.side-value')
  assert.equal(await page.$('.banner'), null)
})

test('cards of a lost server have their values with a time, and other answers wait', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await signIn(visit, app)
  await page.waitForSelector('.chart canvas')
  await waitForIdle(page)
  const value = await elementText(visit, '.side-venta .side-value')
  const ink = () => page.$eval('.side-value', (one) => getComputedStyle(one).color)
  const before = await ink()
  await page.setOfflineMode(true)
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await waitForText(visit, '.side-venta .change', /^recibido a las 12:0\d$/)
  assert.equal(await elementText(visit, '.side-venta .side-value'), value)
  assert.notEqual(await ink(), before)
  assert.equal((await page.$$('.banner')).length, 1)
  assert.deepEqual(await axe(page), [])
  await fill(page, '.amount', '55')
  await waitForText(visit, '.outcome', /^Se calculará al volver la conexión\.$/)
  await page.click('.day-picker button')
  await waitForText(visit, '.dollar .notice', /^Se calculará al volver la conexión\.$/)
  await page.setOfflineMode(false)
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.waitForSelector('.banner', { hidden: true })
  await page.waitForSelector('.result output')
})

test('rates are open by name over plain HTTP to the network alone, and documents need signing in', async () => {
  const openPort = await openProxy(app.app.url, () => forwarded('192.168.1.7'))
  const visit = await openVisit(browser, app, { language: 'es', url: `http://${NAME}:${openPort}` })
  const { page } = visit
  await page.waitForSelector('.chart canvas')
  await waitForIdle(page)
  assert.equal(
    await elementText(visit, '.open-network'),
    'Consulta abierta en su red: tipos de cambio sin clave. Los documentos piden entrar.',
  )
  assert.deepEqual(await page.$$eval('.tabs a', (links) => links.map(({ textContent }) => textContent)), [
    'Tipos de cambio',
  ])
  assert.equal(await elementText(visit, '.header .pill'), 'Al día')
  assert.ok(!visit.requests.some((one) => /status|health|documents/.test(one)), String(visit.requests))
  const statuses = await page.evaluate(async () => {
    const headers = { 'X-Cambista-Page': 'open' }
    const paths = ['/api/v1/status', '/api/v1/documents', '/api/v1/rates']
    return Promise.all(paths.map(async (path) => (await fetch(path, { headers })).status))
  })
  assert.deepEqual(statuses, [401, 401, 200])
  await page.setViewport(PHONE)
  assert.deepEqual([...(await axe(page)), ...(await page.evaluate(geometry, MIN_TARGET))], [])
  await page.click('.sign-in')
  await page.waitForSelector('.secret')
  await page.click('.door-card > .link')
  await page.waitForSelector('.side-value')
  await page.goto(`${visit.url}/#documents`)
  await page.waitForSelector('.secret')

  const outsidePort = await openProxy(app.app.url, () => forwarded('10.0.0.7'))
  const outside = await openVisit(browser, app, { language: 'es', url: `http://${NAME}:${outsidePort}` })
  await outside.page.waitForSelector('.secret')
  assert.deepEqual(
    outside.requests.filter((one) => /\/(api|session)/.test(one)),
    [],
    'no request before sign-in',
  )
})

async function leave(page: Page): Promise<void> {
  await page.click('.menu summary')
  await page.click('.menu-inside > .button')
  await page.waitForSelector('form.secret')
}

/** Loses the next request of a method to the session. */
async function loseOnce(page: Page, method: string): Promise<void> {
  let isLost = false
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (isLost || request.method() !== method || !request.url().endsWith('/session'))
      return void request.continue()
    isLost = true
    void request.abort('failed')
  })
}

function forwarded(client: string): Record<string, string> {
  return { 'x-forwarded-for': client, 'x-forwarded-proto': 'http' }
}
