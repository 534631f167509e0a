// The ten errands of an accountant, by keyboard alone, with the words of the Spanish manual.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { openArchive } from '../../src/formats/sheets/archive.ts'
import { AGENT, runJson } from '../support/company.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { focusName, press, pressTab, retype } from './keys.ts'
import { printedText } from './paper.ts'
import { spanish, toCents } from './rates/cents.ts'
import { waitForIdle } from './states.ts'
import {
  assertClean,
  createDocuments,
  elementText,
  listDownloads,
  openBrowser,
  openVisit,
  setDownloadFolder,
  type Visit,
  waitForText,
} from './support.ts'

type Conversion = { rate: string; result: string }

const browser = await openBrowser()
const app = await openFullApp()
const ACTIONS = ['GET', 'POST', 'CLAIM', 'RETRY'].flatMap((action) => ['--allow', `documents:${action}`])
const { token } = await runJson<{ token: string }>(app.dataDir, 'token', 'create', 'Contabilidad', ...ACTIONS)

/** Opens the page and signs in by keyboard. */
async function open(secret = app.key, path = '/'): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', path })
  const { page } = visit
  await page.waitForSelector('.secret')
  await waitForIdle(page)
  await pressTab(page, 'Clave de acceso')
  await page.keyboard.type(secret)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.tabs')
  await waitForIdle(page)
  return visit
}

async function openView(view: string): Promise<Visit> {
  const visit = await open()
  await pressTab(visit.page, view)
  await press(visit.page, 'Enter')
  return visit
}

function convert(amount: string, from: string, type: string, on: string): Promise<Conversion> {
  return app.json(`/api/v1/convert?${new URLSearchParams({ amount, from, to: 'CRC', type, on })}`)
}

/** Puts text into the clipboard, as another program does. */
async function copyText(page: Page, text: string): Promise<void> {
  const other = await page.browserContext().newPage()
  await other.evaluate((text) => {
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.focus()
  }, text)
  await other.keyboard.press('a', { commands: ['SelectAll'] })
  await other.keyboard.press('c', { commands: ['Copy'] })
  await other.close()
  await page.bringToFront()
}

/** Text of the clipboard, as another program receives it. */
async function clipboardText(page: Page): Promise<string> {
  const other = await page.browserContext().newPage()
  await other.evaluate(() => {
    const field = document.createElement('textarea')
    document.body.append(field)
    field.focus()
  })
  await other.keyboard.press('v', { commands: ['Paste'] })
  const text = await other.$eval('textarea', (field) => field.value)
  await other.close()
  await page.bringToFront()
  return text
}

/** Adds a call of the page's print to a list. A headless browser has no dialog. */
async function countPrints(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => Object.assign(window, { prints: 0, print: () => (window as Counting).prints++ }))
  return () => page.evaluate(() => (window as Counting).prints)
}
type Counting = Window & typeof globalThis & { prints: number }

const comma = (figure: string) => figure.replace('.', ',')
const plain = (text: string) => text.replace(/\s/g, ' ')

test('errand 1: the dollar of 12/03/2019', async () => {
  const visit = await open()
  const { page } = visit
  await pressTab(page, 'Fecha')
  await retype(page, '12/03/2019')
  await press(page, 'Enter')
  const latest = await app.json<{ compra: string; venta: string }>('/api/v1/rates/latest?on=2019-03-12')
  assert.equal(await elementText(visit, '.dollar-day'), 'Martes, 12 de marzo de 2019')
  assert.equal(await elementText(visit, '.side-compra .side-value'), `₡${comma(latest.compra)}`)
  assert.equal(await elementText(visit, '.side-venta .side-value'), `₡${comma(latest.venta)}`)
  assertClean(visit)
})

test('errand 2: 1 500 EUR on 28/02/2026 with its legs, copied', async () => {
  const visit = await open()
  const { page } = visit
  await pressTab(page, 'Monto')
  await retype(page, '1500 EUR')
  await pressTab(page, 'Fecha')
  await retype(page, '28/02/2026')
  await press(page, 'Enter')
  const { rate, result } = await convert('1500', 'EUR', 'venta', '2026-02-28')
  await until(async () => (await elementText(visit, '.digits')).includes(comma(rate)))
  assert.match(plain(await elementText(visit, '.legs')), /EUR\/USD.*USD\/CRC venta.*EUR\/CRC/)
  await pressTab(page, 'Copiar con todos los dígitos')
  await press(page, 'Enter')
  assert.equal(await clipboardText(page), comma(result.replace(/\.\d{3}$/, '$&0')))
  await pressTab(page, 'Copiar como sustento')
  await press(page, 'Enter')
  assert.match(
    await clipboardText(page),
    /^1 500,00 EUR = [\d ]+,\d\d CRC · EUR\/USD 1,\d+ \(27\/02\/2026\) × USD\/CRC venta \d+,\d+ \(28\/02\/2026\) · BCCR/,
  )
  assertClean(visit)
})

test('errand 3: a credit note of −150 USD', async () => {
  const visit = await open()
  const { page } = visit
  await pressTab(page, 'Monto')
  await retype(page, '-150')
  await waitForIdle(page)
  const cents = toCents((await convert('150', 'USD', 'venta', '2026-11-20')).result)
  await until(async () => plain(await elementText(visit, '.result output')) === `(₡${spanish(cents)})`)
  assert.match(plain(await elementText(visit, '.reading')), /^Monto interpretado: \(150,00\) USD/)
  assertClean(visit)
})

test('errand 4: the closes of EUR/CRC 2025 to Excel', async (t) => {
  const visit = await openView('Cierres y promedios')
  const { page } = visit
  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  await pressTab(page, 'Descargar')
  await pressTab(page, 'De')
  await page.keyboard.type('EUR')
  await waitForIdle(page)
  await pressTab(page, 'Año')
  await page.keyboard.type('2025')
  await waitForIdle(page)
  await pressTab(page, 'Descargar', 'Shift')
  await press(page, 'Enter')
  await page.waitForFunction(() => document.activeElement?.querySelector('strong')?.textContent === 'Excel')
  await press(page, 'Enter')
  const file = join(folder, 'bccr-cierres-EUR-CRC-2025.xlsx')
  await until(() => listDownloads(folder).length > 0)
  const sheet = await (await openArchive(readFileSync(file))).read('xl/worksheets/sheet1.xml')
  const { points } = await app.json<{ points: { last: { value: string } }[] }>(
    '/api/v1/history?base=EUR&quote=CRC&type=venta&from=2025-01-01&to=2025-12-31&every=month&stat=all&details=true',
  )
  assert.equal(points.length, 12)
  for (const { last } of points) assert.ok(sheet?.includes(`<v>${last.value}</v>`), last.value)
  assertClean(visit)
})

test('errand 5: the means of EUR/CRC by quarter of 2025, printed', async (t) => {
  const visit = await openView('Cierres y promedios')
  const { page } = visit
  await pressTab(page, 'De')
  await page.keyboard.type('EUR')
  await waitForIdle(page)
  await pressTab(page, 'Mes')
  await press(page, 'ArrowRight')
  await pressTab(page, 'Año')
  await page.keyboard.type('2025')
  await waitForIdle(page)
  const prints = await countPrints(page)
  await pressTab(page, 'Imprimir', 'Shift')
  await press(page, 'Enter')
  await until(async () => (await prints()) === 1)
  const text = await printedText(t, page)
  const { points } = await app.json<{ points: { mean: { value: string } }[] }>(
    '/api/v1/history?base=EUR&quote=CRC&type=venta&from=2025-01-01&to=2025-12-31&every=quarter&stat=all&details=true',
  )
  assert.equal(points.length, 4)
  for (const { mean } of points) assert.ok(text.includes(spanish(toCents(mean.value))), mean.value)
  assert.match(text, /Euro en colones \(EUR\/CRC\), 2025, por trimestre/)
  assertClean(visit)
})

test('errand 6: 20 pasted rows, two of them bad', async () => {
  const visit = await openView('Convertir una lista')
  const { page } = visit
  const rows = Array.from({ length: 20 }, (_, at) => ({
    day: String((at % 9) + 10),
    amount: `${at * 75 + 12},50`,
  }))
  const lines = rows.map(({ day, amount }, at) => {
    if (at === 4) return `31/11/2026\tPeaje\t${amount}\tUSD`
    return `${day}/11/2026\tFactura ${at + 1}\t${at === 11 ? 'doce mil' : amount}\tUSD`
  })
  await copyText(page, ['Fecha\tDetalle\tMonto\tMoneda', ...lines].join('\n'))
  await pressTab(page, 'Filas copiadas de Excel')
  await page.keyboard.press('v', { commands: ['Paste'] })
  await waitForIdle(page)
  await pressTab(page, 'Convertir 20 filas')
  await press(page, 'Enter')
  await page.waitForSelector('.list-table')
  await waitForIdle(page)
  let sum = 0n
  for (const [at, { day, amount }] of rows.entries()) {
    if (at === 4 || at === 11) continue
    sum += toCents((await convert(amount.replace(',', '.'), 'USD', 'venta', `2026-11-${day}`)).result)
  }
  assert.match(
    await elementText(visit, '.list-result [role=status]'),
    /^18 convertidas · 2 con error · venta/,
  )
  assert.equal(plain(await elementText(visit, '.list-table tfoot td')), `₡${spanish(sum)}`)
  assert.deepEqual(
    await page.$$eval('.bad-row .refusal', (cells) => cells.map((one) => one.textContent?.trim())),
    ['El 31/11/2026 no existe: noviembre tiene 30 días.', '«doce mil» no es un monto.'],
  )
  assertClean(visit)
})

test('errand 7: the exchange difference of three positions', async () => {
  const visit = await openView('Diferencial cambiario')
  const { page } = visit
  const positions = [
    ['Cuenta corriente', 'Activo', '42500', 'USD', '30/09/2026'],
    ['Proveedor Iberia', 'Pasivo', '9350,40', 'EUR', '12/10/2026'],
    ['Préstamo', 'Pasivo', '150000', 'USD', '15/08/2026'],
  ] as const
  await pressTab(page, 'Agregar')
  await press(page, 'Enter')
  for (const [detail, type, balance, currency, day] of positions) {
    await pressTab(page, 'Detalle')
    await page.keyboard.type(detail)
    await pressTab(page, /^(Activo|Pasivo)$/)
    if ((await focusName(page)) !== type) await press(page, type === 'Pasivo' ? 'ArrowRight' : 'ArrowLeft')
    await pressTab(page, 'Saldo')
    await page.keyboard.type(balance)
    await pressTab(page, 'Moneda')
    await page.keyboard.type(currency)
    await pressTab(page, 'Registro o última valuación')
    await retype(page, day)
    await press(page, 'Enter')
  }
  let net = 0n
  for (const [, type, balance, currency, day] of positions) {
    const [amount, side] = [balance.replace(',', '.'), type === 'Activo' ? 'compra' : 'venta']
    const sign = type === 'Activo' ? 1n : -1n
    const on = day.split('/').reverse().join('-')
    net += toCents((await convert(amount, currency, side, '2026-10-31')).result, sign)
    net -= toCents((await convert(amount, currency, side, on)).result, sign)
  }
  await until(async () => plain(await elementText(visit, '.total-net dd')).replace('₡', '') === spanish(net))
  assert.equal(await elementText(visit, '.total-net dt'), 'Neto al 31/10/2026')
  assertClean(visit)
})

test('errand 8: a certificate, printed and verified', async (t) => {
  const visit = await open()
  const { page } = visit
  await pressTab(page, 'Constancia')
  await press(page, 'Enter')
  await page.waitForSelector('.paper')
  await waitForIdle(page)
  const prints = await countPrints(page)
  await pressTab(page, 'Imprimir o guardar como PDF')
  await press(page, 'Enter')
  await until(async () => (await prints()) === 1)
  const text = await printedText(t, page)
  const { venta } = await app.json<{ venta: string }>('/api/v1/rates/latest')
  assert.match(text, /Constancia de tipo de cambio/)
  assert.ok(text.includes(comma(venta)))
  await pressTab(page, 'Copiar enlace')
  await press(page, 'Enter')
  const link = await clipboardText(page)
  await page.goto('about:blank')
  await page.goto(link)
  await waitForText(visit, '.verdict.good', /^Coincide: este servidor da hoy la misma respuesta\.$/)
  assertClean(visit)
})

test('errand 9: a failed document retried', async () => {
  const name = 'Peaje ilegible.pdf'
  const [id = 0] = await createDocuments(
    app,
    [{ name, mimetype: 'application/pdf', content: '%PDF-1.4' }],
    token,
  )
  await failDocument(id)
  const visit = await open(token, '/#documents')
  const { page } = visit
  await page.waitForSelector('.document')
  await waitForIdle(page)
  await pressTab(page, /^Fallaron/)
  await press(page, 'Enter')
  await pressTab(page, name)
  await press(page, 'Enter')
  await page.waitForSelector('dialog[open] .events li')
  await pressTab(page, `Reintentar ${name}`)
  await press(page, 'Enter')
  await waitForText(visit, '.details-state', /^En espera/)
  const { state } = await request<{ state: string }>(String(id))
  assert.equal(state, 'new')
  assertClean(visit)
})

test('errand 10: signed out elsewhere', async () => {
  const [visit, other] = [await open(), await open()]
  const { page } = visit
  await pressTab(other.page, 'Día anterior')
  await page.bringToFront()
  await pressTab(page, 'Sesión')
  await press(page, 'Enter')
  await pressTab(page, 'Salir en los demás equipos')
  await press(page, 'Enter')
  await other.page.bringToFront()
  await other.page.keyboard.press('Enter')
  await waitForText(other, '.ended', /^Su sesión terminó: se cerró en otro equipo\./)
  await page.bringToFront()
  await page.reload()
  await page.waitForSelector('.side-venta .side-value')
  assertClean(visit)
})

async function request<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${app.app.url}/api/v1/documents/${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  assert.equal(response.status, 200, path)
  return (await response.json()) as T
}

/** Claims every new document, reports the given one as failed, and releases the others. */
async function failDocument(id: number): Promise<void> {
  type Claim = { id: number; claim_id: string }
  const { documents } = await request<{ documents: Claim[] }>('claim', { agent_id: AGENT, limit: 20 })
  for (const { id: one, claim_id } of documents) {
    if (one === id) await request(`${one}/finish`, { claim_id, outcome: 'failed', note: 'Ilegible' })
    else await request(`${one}/release`, { claim_id })
  }
}
