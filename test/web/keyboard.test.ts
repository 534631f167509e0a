// Uses the page by keyboard only. The focus is visible at each step.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KeyInput } from 'puppeteer-core'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { focusName, press as pressKeys, pressTab, retype } from './keys.ts'
import { waitForIdle } from './states.ts'
import { assertClean, elementText, openEngine, openVisit } from './support.ts'

const browser = await openEngine()
const app = await openFullApp()

test('the page works by keyboard: sign in, day, span, cursor, amount, files, a document, sign out', async (t) => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page, cdp } = visit
  const downloads = temporaryDirectory(t)
  await cdp.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads })
  const press = (...keys: KeyInput[]) => pressKeys(page, ...keys)

  await page.waitForSelector('.secret')
  await waitForIdle(page)
  assert.equal(await focusName(page), 'Clave de acceso', 'the field has the focus')
  await page.keyboard.type(app.key)
  await press('Enter')
  await page.waitForSelector('.statistics td')

  await pressTab(page, 'Ir al contenido', 'Shift')
  await press('Enter')
  assert.equal(
    await page.evaluate(() => document.activeElement?.id),
    'main',
    'the skip link leads to the content',
  )

  const day = await elementText(visit, '.dollar-day')
  assert.match(day, /20 de noviembre/)
  await pressTab(page, 'Día anterior')
  await press('Enter', 'Space')
  assert.match(await elementText(visit, '.dollar-day'), /18 de noviembre/)
  const { venta } = await app.json<{ venta: string }>('/api/v1/rates/latest?on=2026-11-18')
  assert.equal(await elementText(visit, '.side-venta .side-value'), `₡${venta.replace('.', ',')}`)
  assert.equal(await focusName(page), 'Día anterior', 'the focus stays')

  await pressTab(page, 'Monto')
  await retype(page, '15.000,50')
  await pressTab(page, 'De')
  await page.keyboard.type('JPY')
  await waitForIdle(page)
  const { result } = await app.json<{ result: string }>(
    '/api/v1/convert?amount=15000.50&from=JPY&to=CRC&type=venta&on=2026-11-18',
  )
  await until(async () =>
    (await elementText(visit, '.digits'))
      .replace(/\s/g, '')
      .startsWith(`Sinredondear:${result.replace('.', ',')}·`),
  )

  await pressTab(page, 'Un año')
  await press('ArrowRight')
  assert.equal(await focusName(page), 'Cinco años', 'arrows choose the span')
  await press('ArrowLeft', 'ArrowLeft')
  assert.equal(await focusName(page), 'Seis meses')
  const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
    '/api/v1/series/2/history?from=2026-05-21&to=2026-11-21',
  )

  await pressTab(page, 'Día elegido')
  await press('ArrowLeft', 'ArrowLeft', 'ArrowLeft')
  const third = points.at(-4)
  const spoken = await page.evaluate(() => document.activeElement?.getAttribute('aria-valuetext') ?? '')
  assert.ok(
    spoken.endsWith(`Venta ${third?.value.replace('.', ',')}`),
    `${spoken} is the value of ${third?.rate_date}`,
  )
  assert.match(spoken, /^18\/11\/2026, Compra /)
  assert.ok(
    (await elementText(visit, '.readout')).includes(third?.value.replace('.', ',') ?? '?'),
    'and is shown',
  )

  await pressTab(page, 'Descargar')
  await press('ArrowUp')
  await page.waitForFunction(() =>
    /^CSV/.test(document.activeElement?.querySelector('strong')?.textContent ?? ''),
  )
  await press('Escape')
  assert.equal(await focusName(page), 'Descargar', 'Escape returns the focus')
  await press('Enter')
  await page.waitForFunction(() => document.activeElement?.querySelector('strong')?.textContent === 'Excel')
  await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'End', 'Home', 'ArrowUp')
  await press('Enter')
  assert.equal(await page.$('.download-list'), null)
  await until(() => readdirSync(downloads).some((name) => name.endsWith('.csv')))
  const [csv = ''] = readdirSync(downloads).filter((name) => name.endsWith('.csv'))
  await until(() => readFileSync(join(downloads, csv), 'utf8').includes(third?.rate_date ?? '?'))
  assert.equal(readFileSync(join(downloads, csv), 'utf8').trim().split('\n').length, points.length + 1)

  await pressTab(page, 'Documentos', 'Shift')
  await press('Enter')
  await page.waitForSelector('.secret')
  assert.equal(await focusName(page), 'Clave de acceso')
  await page.keyboard.type(app.token)
  await press('Enter')
  await page.waitForSelector('.document')
  await pressTab(page, 'Factura 2026-11.txt')
  await press('Enter')
  await page.waitForSelector('dialog[open] .text')
  assert.equal(await focusName(page), 'Factura 2026-11.txt', 'the title of the panel has the focus')
  assert.equal(await elementText(visit, '.preview pre'), 'Factura 118: 15.000,00 CRC')
  await press('Escape')
  assert.equal(await page.$('dialog[open]'), null)
  assert.ok(
    await page.evaluate(() => document.activeElement?.matches('.document-open')),
    'the row has the focus',
  )

  await pressTab(page, 'Sesión', 'Shift')
  await press('Enter')
  await press('Escape')
  assert.equal(await page.$('.menu[open]'), null, 'Escape closes the menu')
  await press('Enter')
  await pressTab(page, 'Salir')
  const half = await page.evaluate(() => localStorage.getItem('cambista-page') ?? '')
  await press('Enter')
  await page.waitForSelector('.secret')
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), null)
  const session = await page.evaluate(async (half) => {
    const answer = await fetch('/session', { headers: { 'X-Cambista-Page': half } })
    return answer.json()
  }, half)
  assert.ok(
    half.length > 20 && !session.key && !session.token,
    `the session is over: ${JSON.stringify(session)}`,
  )
  assertClean(visit)
})
