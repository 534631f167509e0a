// Electronic invoices on the page: rows with marks, the panel with facts and companions, filters, hostile names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGENT, COMPANY, runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { axe, geometry, MIN_TARGET } from '../looks/looks.ts'
import {
  assertClean,
  createDocuments,
  DESKTOP,
  elementText,
  enterSecret,
  openBrowser,
  openPageApp,
  openVisit,
  PHONE,
  type Visit,
  waitForText,
} from '../support.ts'
import { CLAVE, createAnswer, createInvoices, HOSTILE_NAME, readExample, readFixture } from './files.ts'

const browser = await openBrowser()
const app = await openPageApp({ backfillFrom: '2026-03-01' })
const ids = await createInvoices(app, app.token, '485.38000') // the venta of the day is 484.38
const NARROW = { ...PHONE, width: 320, height: 640 }
const SHOWN_NAME = HOSTILE_NAME.replace('\u202e', '') // the server drops the direction character

async function openDocuments(options: Partial<Parameters<typeof openVisit>[2]> = {}): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', path: '/#documents', ...options })
  await enterSecret(visit, app.token)
  await visit.page.waitForSelector('.document, .received .notice')
  return visit
}

/** Texts of an invoice in its row: parts of the line, then marks. */
const readRow = ({ page }: Visit, id: number) =>
  page.$$eval(`[data-id="${id}"] :is(.invoice-line, .invoice-marks) > *`, (parts) =>
    parts.map((one) => one.textContent?.replaceAll('\u00a0', ' ')),
  )
const readFacts = ({ page }: Visit) =>
  page.$$eval('.details-part .facts > div', (facts) =>
    Object.fromEntries(
      facts.map((fact) => [
        fact.querySelector('dt')?.textContent,
        fact.querySelector('dd')?.textContent?.replaceAll('\u00a0', ' '),
      ]),
    ),
  )
const readIds = ({ page }: Visit) =>
  page.$$eval('.document-list > li', (rows) => rows.map((one) => Number(one.dataset.id)))
const readTitle = ({ page }: Visit, id: number) =>
  page.$eval(`#document-${id}`, (button) => (button as HTMLElement).title)

async function openDocument(visit: Visit, id: number): Promise<void> {
  await visit.page.goto(`${visit.url}/#documents?document=${id}`)
  await visit.page.waitForSelector('.events li')
}

test('the row of an invoice has kind, issuer, date and total, and marks in words', async () => {
  const visit = await openDocuments()
  const invoice = ['Factura electrónica', 'Ferretería El Roble & Hijos S.A.', '24/03/2026', '1 130,00 USD']
  const rate = 'Tipo de cambio: no es la venta (+1,00)'
  const hacienda = 'Hacienda: rechazada, según el mensaje recibido; la firma no se verifica'
  const twice = 'otro documento de la clave tiene otro contenido'
  assert.deepEqual(await readRow(visit, ids.usd), [...invoice, hacienda, twice, rate])
  assert.equal(
    await readTitle(visit, ids.usd),
    'Tipo de cambio: no es la venta del BCCR (publicada 484,38 para el 24/03/2026; diferencia +1,00; +0,21\u00a0%)',
  )
  assert.deepEqual(await readRow(visit, ids.copy), [
    ...invoice,
    ...[hacienda, `copia de ${ids.usd}`, 'contenido distinto', rate],
  ])
  assert.deepEqual(await readRow(visit, ids.answer), [
    ...['Respuesta de Hacienda', 'Ferretería El Roble & Hijos S.A.', '1 130,00'],
    'rechazada, según el mensaje recibido; la firma no se verifica',
  ])
  assert.deepEqual(await readRow(visit, ids.pdf), ['de un comprobante'])
  assert.deepEqual(await readRow(visit, ids.fault), ['Factura electrónica', 'no se pudo leer'])
  assert.deepEqual(await readRow(visit, ids.hostile), [
    ...['Nota de crédito', SHOWN_NAME, '24/03/2026', '113 000,00 CRC'],
  ])
  assert.equal(await readTitle(visit, ids.hostile), '', 'an invoice in colones has no mark')
  await visit.page.click('.language')
  assert.deepEqual(await readRow(visit, ids.copy), [
    ...['Electronic invoice', 'Ferretería El Roble & Hijos S.A.', '24/03/2026', '1,130.00 USD'],
    'Hacienda: rejected, by the received message; the signature is not verified',
    ...[`copy of ${ids.usd}`, 'different content'],
    'Exchange rate: not the sell rate (+1.00)',
  ])
  assert.equal(await visit.page.evaluate(() => 'taken' in window), false)
  assertClean(visit)
})

test('the panel has the facts of an invoice, its companions and its mail', async () => {
  const visit = await openDocuments()
  const { page } = visit
  await page.browserContext().overridePermissions(visit.url, ['clipboard-read', 'clipboard-sanitized-write'])
  await openDocument(visit, ids.usd)
  await page.waitForSelector('.companion')
  assert.deepEqual(await readFacts(visit), {
    'Tipo de comprobante': 'Factura electrónica, versión 4.4',
    Emisor: 'Ferretería El Roble & Hijos S.A.Cédula jurídica 3101123456',
    Receptor: 'Acme S.A.Cédula jurídica 3101654321',
    Total: '1 130,00 USD',
    Impuesto: '130,00 USD',
    Fecha: '24/03/2026',
    'Tipo de cambio': '485,38',
    'Comparado con el BCCR':
      'No es la venta del BCCR (publicada 484,38 para el 24/03/2026; diferencia +1,00; +0,21 %)',
    'Respuesta de Hacienda': 'rechazada, según el mensaje recibido; la firma no se verifica',
    Consecutivo: '00100001010000000043',
    Clave: CLAVE,
    De: 'Ferretería El Roble <facturas@ejemplo.invalid>',
    Asunto: '<b>Factura 43</b>',
    Recibido: '20/11/2026, 11:58',
  })
  assert.equal(await page.$$eval('.clave code span', (groups) => groups.length), 6)
  await page.bringToFront()
  await page.click('.clave button')
  await waitForText(visit, '.clave [role=status]', /Copiado/)
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), CLAVE)
  const companions = () =>
    page.$$eval('.companion', (all) => all.map((one) => one.querySelector('span')?.textContent))
  assert.deepEqual(await companions(), ['Factura electrónica', 'Respuesta de Hacienda: rechazada', 'PDF'])
  await page.click('.companions li:last-child button')
  await waitForText(visit, '#panel-title', /\.pdf$/)
  assert.equal(new URL(page.url()).hash, `#documents?document=${ids.pdf}`)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'panel-title')
  await until(async () => (await companions()).length === 3)
  assert.deepEqual(await readFacts(visit), {
    'Archivo de un comprobante': 'La clave está en el nombre del archivo.',
    Clave: CLAVE,
  })

  await openDocument(visit, ids.fault)
  const fault = /^Factura electrónica: no se pudo leer\. El archivo está guardado\. .*Clave stands twice$/
  assert.match(await elementText(visit, '.details-part .refusal'), fault)
  await openDocument(visit, ids.hostile)
  const { Emisor, 'Se refiere a': reference } = await readFacts(visit)
  assert.equal(Emisor, `${SHOWN_NAME}Cédula jurídica 3101123456`)
  assert.match(reference ?? '', /^\d{50}$/)
  await waitForText(visit, '.details-part > .quiet', /^No hay otros documentos de esta clave\.$/)
  assert.equal(await page.evaluate(() => 'taken' in window), false)
  assertClean(visit)
})

test('the field of invoices filters by issuer or clave, and the link has them', async () => {
  const visit = await openDocuments()
  const { page } = visit
  const field = '.invoice-filter input'
  const search = async (text: string) => {
    await page.$eval(field, (input) => (input as HTMLInputElement).select())
    await page.type(field, text)
    await page.keyboard.press('Enter')
  }
  await search('3-101-123456')
  await until(async () => (await readIds(visit)).length === 4)
  assert.equal(new URL(page.url()).hash, '#documents?issuer=3101123456')
  await search(CLAVE.replace(/(?=(.{10})+$)/g, ' '))
  await until(async () => String(await readIds(visit)) === `${[ids.copy, ids.answer, ids.pdf, ids.usd]}`)
  assert.equal(new URL(page.url()).hash, `#documents?clave=${CLAVE}`)
  assert.equal(await page.$eval(field, (input) => (input as HTMLInputElement).value), CLAVE)

  const requests = visit.requests.length
  await search(CLAVE.slice(1))
  await waitForText(
    visit,
    '.invoice-filter [role=alert]',
    /^Una clave tiene 50 dígitos; aquí hay 49\. Quitar$/,
  )
  assert.deepEqual(await readIds(visit), [])
  await search('El Roble')
  await waitForText(visit, '.invoice-filter [role=alert]', /^Escriba la cédula del emisor o los 50 dígitos/)
  const lists = visit.requests.slice(requests).filter((url) => /documents\?/.test(url))
  assert.ok(
    lists.every((url) => url.includes(CLAVE)),
    'no refused text is sent',
  )
  await page.click('.invoice-filter [role=alert] button')
  await until(async () => (await readIds(visit)).length === 6)
  assert.equal(new URL(page.url()).hash, '#documents')

  await page.goto(`${visit.url}/#documents?issuer=3999999999&search=enero`)
  await waitForText(visit, '.received .searched', /^Nombre: enero · Emisor 3999999999$/)
  await page.click('.received .notice .button')
  await until(async () => (await readIds(visit)).length === 6)
  assertClean(visit)
})

for (const [device, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE, 'narrow phone': NARROW })) {
  test(`axe and geometry find nothing in invoices on a ${device}`, async () => {
    const minTarget = viewport === PHONE ? MIN_TARGET : 0 // as for the other states
    const findings: string[] = []
    for (const [language, colours] of [
      ['es', 'light'],
      ['en', 'dark'],
    ] as const) {
      const visit = await openDocuments({ language, colours, viewport })
      const check = async (state: string) => {
        const problems = [...(await visit.page.evaluate(geometry, minTarget)), ...(await axe(visit.page))]
        findings.push(...problems.map((one) => `${state}, ${language}: ${one}`))
      }
      await check('list')
      await visit.page.goto(`${visit.url}/#documents?clave=${'5'.repeat(50)}`)
      await visit.page.waitForSelector('.searched')
      await check('nothing found')
      for (const id of [ids.usd, ids.fault]) {
        await openDocument(visit, id)
        await check(`panel of ${id}`)
        await visit.page.keyboard.press('Escape')
      }
    }
    assert.deepEqual(findings, [])
  })
}

test('a mark names the published value that a rate is, and the panel has direction and warnings', async () => {
  await runJson(app.dataDir, 'company', 'update', String(COMPANY), '--tax-id', '3101654321')
  const usd = readExample('v44-factura-usd')
  const create = async (content: string) =>
    (await createDocuments(app, [{ name: 'f.xml', mimetype: 'application/xml', content }]))[0] ?? 0
  const rated = (rate: string) => create(usd.replace('509.25000', rate))
  const readRate = async (type: string, day: string) => {
    const query = `amount=1&from=USD&to=CRC&type=${type}&on=${day}`
    const headers = { 'X-API-Key': app.key }
    const response = await fetch(`${app.app.url}/api/v1/convert?${query}`, { headers })
    return ((await response.json()) as { rate: string }).rate
  }
  const venta = await rated(await readRate('venta', '2026-03-24'))
  const compra = await rated(await readRate('compra', '2026-03-24'))
  const earlier = await rated(await readRate('venta', '2026-03-23'))
  const old = await create(
    usd.replace(/(?<=<Clave>506)\d{6}/, '240319').replace(/(?<=<FechaEmision>)[\d-]+/, '2019-03-24'),
  )
  const odd = await create(readFixture('deviations/no-namespace'))
  const visit = await openDocuments()
  const readMark = async (id: number) =>
    (await readRow(visit, id)).filter((text) => text?.startsWith('Tipo de cambio')).join()
  assert.equal(await readMark(venta), '')
  assert.equal(await readTitle(visit, venta), '')
  assert.equal(await readMark(compra), 'Tipo de cambio: es la compra')
  assert.match(
    await readTitle(visit, compra),
    /^Tipo de cambio: es la compra del BCCR, no la venta \(publicada /,
  )
  assert.equal(await readMark(earlier), 'Tipo de cambio: es la venta de otro día')
  assert.equal(await readMark(old), 'Tipo de cambio: sin valor para comparar')
  await openDocument(visit, venta)
  const facts = await readFacts(visit)
  assert.equal(facts['Comparado con el BCCR'], 'Es la venta del BCCR (publicada 484,38 para el 24/03/2026)')
  assert.equal(facts['Para la empresa'], 'Recibido: la empresa es el receptor')
  await openDocument(visit, odd)
  const warning = 'El XML no indica su versión del formato de Hacienda.'
  assert.equal(await elementText(visit, '.invoice-warnings li'), warning)
  assertClean(visit)
})

test('the panel names other answers, and the row an answer that fits no invoice', async () => {
  const create = async (content: string) =>
    (await createDocuments(app, [{ name: 'r.xml', mimetype: 'application/xml', content }]))[0] ?? 0
  const late = createAnswer('v44-mensaje-hacienda-aceptado')
  const accepted = await create(late)
  const wrong = await create(late.replace('>1130.00000<', '>7.00000<'))
  const visit = await openDocuments()
  const marks = ['no concuerda con el comprobante', `copia de ${ids.answer}`, 'contenido distinto']
  assert.deepEqual((await readRow(visit, wrong)).slice(-3), marks)
  await openDocument(visit, ids.usd)
  const facts = await readFacts(visit)
  const unverified = 'según el mensaje recibido; la firma no se verifica'
  assert.equal(facts['Respuesta de Hacienda'], `rechazada, ${unverified}`)
  assert.equal(facts['Otras respuestas'], `aceptada, ${unverified} (documento ${accepted})`)
  await openDocument(visit, accepted)
  assert.equal((await readFacts(visit))['Respuesta de Hacienda'], `aceptada, ${unverified}`)
  await openDocument(visit, wrong)
  const warning = /^El emisor, el total o el impuesto no son los del comprobante/
  assert.match(await elementText(visit, '.invoice-warnings li'), warning)
  assertClean(visit)
})

test('the row of an invoice stays whole after a retry', async () => {
  const allow = ['GET', 'CLAIM', 'RETRY'].flatMap((action) => ['--allow', `documents:${action}`])
  const { token } = await runJson<{ token: string }>(app.dataDir, 'token', 'create', 'lector', ...allow)
  const work = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${app.app.url}/api/v1/documents/${path}`, init)).json()) as unknown
  }
  const { documents } = (await work('claim', { agent_id: AGENT })) as {
    documents: { id: number; claim_id: string }[]
  }
  const { id = 0, claim_id = '' } = documents[0] ?? {}
  await work(`${id}/finish`, { claim_id, outcome: 'failed', note: 'Ilegible' })
  const visit = await openVisit(browser, app, { language: 'es', path: '/#documents' })
  await enterSecret(visit, token)
  const row = `[data-id="${id}"]`
  await visit.page.waitForSelector(`${row} .document-note .button`)
  // Lists that are read again would have the invoice in any case.
  await visit.page.setRequestInterception(true)
  visit.page.on('request', (request) => {
    if (!request.url().includes('/documents?')) void request.continue()
  })
  await visit.page.click(`${row} .document-note .button`)
  await waitForText(visit, `${row} .chip`, /En espera/)
  assert.equal((await readRow(visit, id))[0], 'Factura electrónica')
})
