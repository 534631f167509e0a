// Documents while workers of an agent change them: states, notes, history, filters, retry, deletion and sending.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ElementHandle } from 'puppeteer-core'
import { AGENT, runJson } from '../support/company.ts'
import { until } from '../support/terminal.ts'
import {
  assertClean,
  createDocuments,
  elementText,
  enterSecret,
  openEngine,
  openPageApp,
  openScreen,
  openVisit,
  PHONE,
  type Visit,
  waitForText,
} from './support.ts'

const browser = await openEngine()
const app = await openPageApp({ backfillFrom: '2026-11-20' })
const MARKUP = '<img src=x onerror="window.taken=1">'
const ACTIONS = ['GET', 'POST', 'CLAIM', 'RETRY', 'DELETE']
const allow = (...actions: string[]) => actions.flatMap((action) => ['--allow', `documents:${action}`])
const makeToken = async (name: string, ...actions: string[]) =>
  (await runJson<{ token: string }>(app.dataDir, 'token', 'create', name, ...allow(...actions))).token
const token = await makeToken('Contabilidad', ...ACTIONS)
const workerToken = await makeToken('lector-1', 'CLAIM', 'GET')

type Claim = { id: number; claim_id: string }

async function work<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`${app.app.url}/api/v1/documents/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workerToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(response.status, 200, path)
  return (await response.json()) as T
}

async function claim(): Promise<Claim> {
  const { documents } = await work<{ documents: Claim[] }>('claim', { agent_id: AGENT })
  const [first] = documents
  assert.ok(first, 'a document is new')
  return first
}

/** Claims documents until the one with the id. */
async function claimDocument(id: number): Promise<Claim> {
  for (;;) {
    const { documents } = await work<{ documents: Claim[] }>('claim', { agent_id: AGENT, limit: 50 })
    const own = documents.find((one) => one.id === id)
    if (own) return own
    assert.ok(documents.length > 0, `document ${id} is new`)
  }
}

async function newestId(): Promise<number> {
  const path = `${app.app.url}/api/v1/documents?order=desc&limit=1`
  const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } })
  const { documents } = (await response.json()) as { documents: { id: number }[] }
  return documents[0]?.id ?? 0
}

function finish(
  { id, claim_id }: Claim,
  outcome: 'done' | 'failed',
  note: string,
  more: object = {},
): Promise<unknown> {
  return work(`${id}/finish`, { claim_id, outcome, note, ...more })
}

async function openDocuments(secret: string, path = '/#documents'): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', path })
  await enterSecret(visit, secret)
  await visit.page.waitForSelector('.document, .received .notice')
  return visit
}

const readNames = ({ page }: Visit) =>
  page.$$eval('.document h3', (titles) => titles.map((one) => one.textContent ?? ''))
const readEvents = ({ page }: Visit) =>
  page.$$eval('.events li p:first-child', (texts) => texts.map((one) => one.textContent ?? ''))
const readStates = ({ page }: Visit) =>
  page.$$eval('.sent-state', (states) => states.map((one) => one.textContent ?? ''))
const focusId = ({ page }: Visit) => page.evaluate(() => document.activeElement?.id ?? '')
/** Chooses files of the panel for sending, by name and text. */
const chooseFiles = ({ page }: Visit, texts: Record<string, string>) =>
  page.$eval(
    '.drop input',
    (input, texts) => {
      const files = new DataTransfer()
      for (const [name, text] of Object.entries(texts)) files.items.add(new File([text], name))
      const field = input as HTMLInputElement
      field.files = files.files
      field.dispatchEvent(new Event('change', { bubbles: true }))
    },
    texts,
  )
const text = (name: string) => ({ name, mimetype: 'text/plain', content: `the text of ${name}` })

test('an open list shows each state that a worker gives a document, and the focus stays on the row', async () => {
  const [id = 0] = await createDocuments(app, [text(`${MARKUP}.txt`)], token)
  const visit = await openDocuments(token)
  const { page } = visit
  const row = `document-${id}`
  const waitForState = (state: string, note: string) =>
    until(async () => {
      const texts = await page.$eval(`[data-id="${id}"]`, (element) => [
        element.querySelector('.chip')?.textContent,
        element.querySelector('.document-note p')?.textContent ?? '',
      ])
      return String(texts) === String([state, note])
    })
  await page.focus(`#${row}`)
  await waitForState('En espera', '')
  const polls = () => visit.requests.filter((url) => url.includes('/documents/summary')).length
  const before = polls()
  const first = await claim()
  await waitForState('En proceso', '')
  assert.ok(polls() - before <= 2, 'at the next poll')
  assert.equal(await elementText(visit, '.queue-figure:nth-of-type(2) strong'), '1')
  await work(`${id}/release`, { claim_id: first.claim_id })
  await waitForState('En espera', '')
  await finish(await claim(), 'failed', MARKUP)
  await waitForState('Falló', MARKUP)
  assert.equal(await focusId(visit), row)

  await page.keyboard.press('Enter')
  await page.waitForSelector('.events li')
  assert.deepEqual(await readEvents(visit), [
    'Falló: lo informó el agente',
    'Lo tomó el agente',
    'Volvió a la espera: lo soltó el agente',
    'Lo tomó el agente',
    'Llegó',
  ])
  assert.equal(
    await elementText(visit, '.events li'),
    'Falló: lo informó el agentehoy, 12:00 · lector-1 · intento 2',
  )
  assert.equal(await elementText(visit, '.details-note'), MARKUP)
  assert.equal(await elementText(visit, '.details-state'), 'Fallódespués de 2 intentos')
  assert.equal(await focusId(visit), 'panel-title')
  await page.click('.details .button.main')
  await waitForState('En espera', '')
  await until(async () => (await readEvents(visit))[0] === 'Se puso de nuevo en espera')
  await finish(await claim(), 'done', 'Asiento 1742.')
  await waitForState('Listo', 'Asiento 1742.')
  await until(async () => (await readEvents(visit))[0] === 'Listo')
  assert.equal(await focusId(visit), 'panel-title')

  await page.goBack()
  await page.waitForFunction(() => !document.querySelector('dialog[open]'))
  assert.equal(await focusId(visit), row)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.delete-button')
  await page.click('.delete-button')
  await waitForText(visit, '.delete-question', /¿Eliminar este documento\? No se puede deshacer\./)
  await page.click('.delete-question .danger')
  await page.waitForSelector('.received .notice')
  await page.waitForFunction(() => !document.querySelector('dialog[open]'))
  assert.equal(await page.evaluate(() => 'taken' in window), false)
  assertClean(visit)
})

test('the details of a document have the result of its worker as text', async () => {
  const [id = 0] = await createDocuments(app, [text('recibo.txt')], token)
  const result = { emisor: MARKUP, total: '11300.10', líneas: [{ detalle: 'Café', monto: '11300.10' }] }
  await finish(await claim(), 'done', '', { result })
  const visit = await openDocuments(token)
  const { page } = visit
  await page.click(`#document-${id}`)
  await page.waitForSelector('.events .worker-result')
  assert.match(await elementText(visit, '.worker-result summary'), /^Resultado \(\d+ bytes\)$/)
  await page.click('.worker-result summary')
  await waitForText(visit, '.worker-result pre', /Café/)
  assert.equal(await elementText(visit, '.worker-result pre'), JSON.stringify(result))
  assert.equal(await page.evaluate(() => 'taken' in window), false)
  await page.keyboard.press('Escape')
  assertClean(visit)
})

test('figures of the queue and filters select documents, and the link has them', async () => {
  const names = ['Peaje Ñandú 1.pdf', 'peaje ñandú 2.pdf', 'otra.pdf'].concat(
    Array.from({ length: 55 }, (_, index) => `Lote ${index}.txt`),
  )
  await createDocuments(app, names.map(text), token)
  await finish(await claim(), 'failed', 'Ilegible')
  const visit = await openDocuments(token)
  const { page } = visit
  await page.click('.queue-figure:nth-of-type(3)')
  await until(async () => String(await readNames(visit)) === 'Peaje Ñandú 1.pdf')
  assert.equal(await page.$eval('.queue-figure:nth-of-type(3)', (one) => one.ariaPressed), 'true')
  await page.click('.queue-figure:nth-of-type(3)')
  await page.type('.document-search input', 'NANDU peaje')
  await until(async () => String(await readNames(visit)) === 'peaje ñandú 2.pdf,Peaje Ñandú 1.pdf')
  assert.equal(new URL(page.url()).hash, '#documents?search=NANDU+peaje')
  await page.type('.filter-day .date', '31/02/2026')
  await page.keyboard.press('Enter')
  await waitForText(visit, '.filter-day .date-error', /^El 31\/02\/2026 no existe\. Quitar la fecha$/)
  assert.deepEqual(await readNames(visit), [])
  await page.click('.filter-day .date-error button')
  await until(async () => (await readNames(visit)).length === 2)
  await page.goto(`${visit.url}/#documents?state=failed&search=peaje&until=2026-11-20`)
  await page.reload()
  await until(async () => String(await readNames(visit)) === 'Peaje Ñandú 1.pdf')
  await page.goto(`${visit.url}/#documents?since=2026-11-20&search=lote`)
  await waitForText(visit, '.list-foot .link', /^Seguir buscando antes del 20\/11\/2026$/)
  assert.equal((await readNames(visit)).length, 50)
  await page.click('.list-foot .link')
  await until(async () => (await readNames(visit)).length === 55)
  assert.equal(await page.$('.list-foot .link'), null)
  assertClean(visit)

  const reader = await openDocuments(await makeToken('Consulta', 'GET'), '/#documents?state=failed')
  await reader.page.click('.document-open')
  await reader.page.waitForSelector('.events li')
  const labels = await reader.page.$$eval('.received .document .button, .details button', (buttons) =>
    buttons.map((one) => one.textContent),
  )
  assert.deepEqual(labels, ['Ver', 'Descargar'])
  await reader.page.keyboard.press('Escape')
  await reader.page.click('.send')
  const words = /^Con este acceso no puede enviar documentos\. Pídalo a quien administra cambista\.$/
  await waitForText(reader, '.panel > p', words)
})

test('a phone sends photos and files, and shows what becomes of each', async () => {
  const visit = await openVisit(browser, app, { language: 'es', path: '/#documents', viewport: PHONE })
  const { page } = visit
  await enterSecret(visit, token)
  await page.waitForSelector('.document')
  await page.click('.send')
  await page.waitForSelector('.choose:enabled')
  assert.deepEqual(
    await page.$$eval('.drop :is(p, button)', (parts) => parts.map((one) => one.textContent)),
    [
      'Tome una foto o elija archivos',
      'PDF, XML, imágenes, Word o Excel',
      'Tomar una foto',
      'Elegir archivos',
    ],
  )
  assert.equal(await page.$('.upload-to .field'), null, 'there is no choice')
  await chooseFiles(visit, { 'recibo.txt': 'hola', 'vacía.xlsx': '' })
  await until(
    async () =>
      String(await readStates(visit)) ===
      'Recibido · en espera del agente,No se envió: el archivo está vacío.',
  )
  const last = await claimDocument(await newestId())
  await until(async () => (await readStates(visit))[0] === 'En proceso')
  await finish(last, 'done', 'Asiento 1743.')
  await until(async () => (await readStates(visit))[0] === 'Listo')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !document.querySelector('dialog[open]'))
  assert.equal(await focusId(visit), 'send')
  assert.equal((await readNames(visit))[0], 'recibo.txt')
  assertClean(visit)
})

test('files are sent while another screen is open, and the browser warns before it closes the page', async () => {
  const visit = await openDocuments(token)
  const { page } = visit
  const delayed: (() => void)[] = []
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (request.url().endsWith('/documents/create')) delayed.push(() => void request.continue())
    else void request.continue()
  })
  const warnsBeforeUnload = () =>
    page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  await page.click('.send')
  await page.waitForSelector('.choose:enabled')
  assert.equal(await warnsBeforeUnload(), false)
  await chooseFiles(visit, { 'uno.txt': 'uno', 'dos.txt': 'dos' })
  await until(() => delayed.length === 1)
  assert.equal(await warnsBeforeUnload(), true)
  await openScreen(visit, 'status')
  delayed[0]?.()
  await until(() => delayed.length === 2)
  delayed[1]?.()
  await openScreen(visit, 'documents')
  await page.click('.send')
  await until(
    async () =>
      String(await readStates(visit)) === 'Recibido · en espera del agente,Recibido · en espera del agente',
  )
  assert.equal(await warnsBeforeUnload(), false)
  assert.deepEqual((await readNames(visit)).slice(0, 2), ['dos.txt', 'uno.txt'])
  assertClean(visit)
})

test('a file that changes before it is read is named, and is not sent again', async () => {
  const visit = await openDocuments(token)
  const { page } = visit
  await page.click('.send')
  await page.waitForSelector('.choose:enabled')
  const file = join(app.dataDir, 'changing.csv')
  writeFileSync(file, 'a;b')
  await page.evaluate(() => {
    const { readAsDataURL } = FileReader.prototype
    FileReader.prototype.readAsDataURL = function (piece) {
      Object.assign(globalThis, { read: () => readAsDataURL.call(this, piece) })
    }
  })
  const input = (await page.$('.drop input')) as ElementHandle<HTMLInputElement>
  await input.uploadFile(file)
  await page.waitForFunction(() => 'read' in globalThis)
  writeFileSync(file, 'a;b;c')
  await page.evaluate(() => (globalThis as unknown as { read: () => void }).read())
  await waitForText(
    visit,
    '.sent-state',
    /^No se envió: el archivo cambió o no se puede leer\. Elíjalo otra vez\.$/,
  )
  assert.deepEqual([await page.$('.sent .link'), await page.$('.lost')], [null, null])
  assertClean(visit)
})

test('a list with more than a page stays whole when the connection is back', async () => {
  await createDocuments(
    app,
    Array.from({ length: 60 }, (_, index) => text(`${index}.txt`)),
    token,
  )
  const visit = await openDocuments(token)
  const { page } = visit
  const rowCount = () => page.$$eval('.document', (rows) => rows.length)
  assert.equal(await rowCount(), 50)
  await page.click('.list-foot .link')
  await until(async () => (await rowCount()) > 50)
  const before = await readNames(visit)
  const reads = () => visit.requests.filter((url) => url.includes('order=desc')).length
  const firstReads = reads()
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await until(() => reads() > firstReads)
  await page.waitForNetworkIdle({ concurrency: 1 }) // the request of later documents waits
  assert.deepEqual(await readNames(visit), before)
  assertClean(visit)
})

test('a document that is deleted elsewhere is gone from its panel', async () => {
  const [id = 0] = await createDocuments(app, [text('viejo.txt')], token)
  const visit = await openDocuments(token, `/#documents?until=2026-11-01&document=${id}`)
  await visit.page.waitForSelector('.details')
  await fetch(`${app.app.url}/api/v1/documents/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })
  await waitForText(visit, '.panel .notice', /^Este documento ya no existe/)
  assert.equal(await elementText(visit, '.panel h2'), 'Documentos')
  assertClean(visit)
})

test('events and sent files of an agent are current beside a list of another agent', async () => {
  const words = ['agent', 'create', '--name', 'Archivista', '--company', '7']
  const other = await runJson<{ id: number }>(app.dataDir, ...words)
  const [id = 0] = await createDocuments(app, [text('aparte.txt')], token)
  const visit = await openDocuments(token, `/#documents?agent=${other.id}&document=${id}`)
  const { page } = visit
  await page.waitForSelector('.events li')
  await finish(await claimDocument(id), 'done', 'Asiento 7')
  await waitForText(visit, '.details-state', /^Listo/)
  await until(async () => String(await readEvents(visit)) === 'Listo,Lo tomó el agente,Llegó')
  await page.keyboard.press('Escape')
  await page.click('.send')
  await page.waitForSelector('.upload-to select')
  await page.select('.upload-to select', String(AGENT))
  await page.waitForSelector('.choose:enabled')
  await chooseFiles(visit, { 'enviado.txt': 'enviado' })
  await until(async () => (await readStates(visit))[0] === 'Recibido · en espera del agente')
  await finish(await claimDocument(await newestId()), 'failed', 'Ilegible')
  await until(async () => (await readStates(visit))[0] === 'Falló')
  assertClean(visit)
})
