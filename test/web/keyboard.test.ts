// A whole visit without a pointer: each step is keys alone, and where they go is seen.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KeyInput, Page } from 'puppeteer-core'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullBox } from './box.ts'
import { rest } from './states.ts'
import { assertClean, openBrowser, textOf, visit } from './support.ts'

const MOST_STEPS = 150

const browser = await openBrowser()
const box = await openFullBox()

test('a whole visit by keyboard: sign in, day, span, cursor, amount, files, a document, sign out', async (t) => {
  const seen = await visit(browser, box, { language: 'es' })
  const { page, cdp } = seen
  const downloads = temporaryDirectory(t)
  await cdp.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads })
  const press = async (...keys: KeyInput[]) => {
    for (const key of keys) await page.keyboard.press(key)
    await rest(page)
  }

  await page.waitForSelector('.secret')
  await rest(page)
  assert.equal(await focused(page), 'Clave de la API o token', 'the field has the focus')
  await page.keyboard.type(box.key)
  await press('Enter')
  await page.waitForSelector('.currency')

  await tabTo(page, 'Ir al contenido', 'Shift')
  await press('Enter')
  assert.equal(
    await page.evaluate(() => document.activeElement?.id),
    'main',
    'the skip link leads to the content',
  )

  const day = await textOf(seen, '.dollar-day')
  assert.match(day, /20 de noviembre/)
  await tabTo(page, 'Día anterior')
  await press('Enter', 'Space')
  assert.match(await textOf(seen, '.dollar-day'), /18 de noviembre/)
  const { venta } = await box.json<{ venta: string }>('/api/v1/rates/latest?on=2026-11-18')
  assert.equal(await textOf(seen, '.side-venta .side-value'), `₡${venta.replace('.', ',')}`)
  assert.equal(await focused(page), 'Día anterior', 'the focus stays')

  await tabTo(page, 'Monto')
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await page.keyboard.type('15.000,50')
  await tabTo(page, 'De')
  await page.keyboard.type('JPY')
  await rest(page)
  const { result } = await box.json<{ result: string }>(
    '/api/v1/convert?amount=15000.50&from=JPY&to=CRC&type=venta&on=2026-11-18',
  )
  await until(
    async () => (await textOf(seen, '.result-facts dd')).replace(/\s/g, '') === result.replace('.', ','),
  )

  await tabTo(page, 'Un año')
  await press('ArrowRight')
  assert.equal(await focused(page), 'Cinco años', 'arrows choose the span')
  await press('ArrowLeft', 'ArrowLeft')
  assert.equal(await focused(page), 'Seis meses')
  const { points } = await box.json<{ points: { rate_date: string; value: string }[] }>(
    '/api/v1/series/2/history?from=2026-05-21&to=2026-11-21',
  )

  await tabTo(page, 'Día que se lee en el gráfico')
  await press('ArrowLeft', 'ArrowLeft', 'ArrowLeft')
  const third = points.at(-4)
  const spoken = await page.evaluate(() => document.activeElement?.getAttribute('aria-valuetext') ?? '')
  assert.ok(
    spoken.endsWith(`Venta ${third?.value.replace('.', ',')}`),
    `${spoken} is the value of ${third?.rate_date}`,
  )
  assert.match(spoken, /^18 nov 2026, Compra /)
  assert.ok((await textOf(seen, '.readout')).includes(third?.value.replace('.', ',') ?? '?'), 'and is shown')

  await tabTo(page, 'CSV')
  await press('Enter')
  await until(() => readdirSync(downloads).some((name) => name.endsWith('.csv')))
  const [csv = ''] = readdirSync(downloads).filter((name) => name.endsWith('.csv'))
  await until(() => readFileSync(join(downloads, csv), 'utf8').includes(third?.rate_date ?? '?'))
  assert.equal(readFileSync(join(downloads, csv), 'utf8').trim().split('\n').length, points.length + 1)

  await tabTo(page, 'Documentos', 'Shift')
  await press('Enter')
  await page.waitForSelector('.secret')
  assert.equal(await focused(page), 'Clave de la API o token')
  await page.keyboard.type(box.token)
  await press('Enter')
  await page.waitForSelector('.document')
  await tabTo(page, 'Ver Factura 2026-11.txt')
  await press('Enter')
  await page.waitForSelector('dialog[open] .text')
  assert.equal(await textOf(seen, '.preview pre'), 'Factura 118: 15.000,00 CRC')
  await press('Escape')
  assert.equal(await page.$('dialog[open]'), null)
  assert.equal(await focused(page), 'Ver Factura 2026-11.txt', 'the focus is where it was')

  await tabTo(page, 'Sesión', 'Shift')
  await press('Enter')
  await press('Escape')
  assert.equal(await page.$('.menu[open]'), null, 'Escape closes the menu')
  await press('Enter')
  await tabTo(page, 'Salir')
  const half = await page.evaluate(() => localStorage.getItem('cambista-page') ?? '')
  await press('Enter')
  await page.waitForSelector('.secret')
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), null)
  const held = await page.evaluate(async (half) => {
    const answer = await fetch('/session', { headers: { 'X-Cambista-Page': half } })
    return answer.json()
  }, half)
  assert.ok(half.length > 20 && !held.key && !held.token, `the session is over: ${JSON.stringify(held)}`)
  assertClean(seen)
})

/** Presses Tab until what is called so has the focus. Whatever has it on the way must be seen to have it. */
async function tabTo(page: Page, name: string, modifier?: 'Shift'): Promise<void> {
  if (modifier) await page.keyboard.down(modifier)
  const passed: string[] = []
  for (let step = 0; step < MOST_STEPS && (await focused(page)) !== name; step++) {
    await page.keyboard.press('Tab')
    const isSeen = await page.evaluate(isFocusSeen)
    passed.push(await focused(page))
    assert.ok(isSeen, `the focus is seen on ${passed.at(-1)}`)
  }
  if (modifier) await page.keyboard.up(modifier)
  assert.equal(await focused(page), name, `Tab leads there, not only to ${passed}`)
}

/** The name of what has the focus, as a screen reader says it. */
async function focused(page: Page): Promise<string> {
  const cdp = await page.createCDPSession()
  try {
    const { result } = await cdp.send('Runtime.evaluate', { expression: 'document.activeElement' })
    const { nodes } = await cdp.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId ?? '',
      fetchRelatives: false,
    })
    return String(nodes[0]?.name?.value ?? '').trim()
  } finally {
    await cdp.detach()
  }
}

/** Runs in the page. */
function isFocusSeen(): boolean {
  const { activeElement: active } = document
  if (!active || active === document.body) return true // the browser's own controls
  if ((active as HTMLInputElement).type === 'date') return true // the browser marks its parts
  const box = active.getBoundingClientRect()
  const shown = active.matches('input.unseen') ? active.nextElementSibling : active
  return shown !== null && (getComputedStyle(shown).outlineStyle !== 'none' || box.width <= 2)
}
