// Certificates: issued, printed on one letter page, and verified by their links. Digests are computed by sha256sum.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'puppeteer-core'
import decodeQr from 'qr/decode.js'
import { asOtherProcess } from '../../api/support.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { printPage } from '../paper.ts'
import { enterSecret, openEngine, openPageApp, openVisit, type Visit, waitForText } from '../support.ts'

const run = promisify(execFile)

const browser = await openEngine()
const corrections = new Map<string, string>() // by code and day
const app = await openPageApp({
  bank: { value: (code, day) => corrections.get(`${code} ${day}`) },
})

/** Opens the rates in Spanish. A session of a person has a letterhead. */
async function open(target = app): Promise<Visit> {
  const visit = await openVisit(browser, target, {
    ...{ language: 'es', path: '/#rates?amount=1500&source=EUR&on=2026-11-15' },
  })
  await enterSecret(visit, target.key)
  return visit
}

/** Opens the address of a certificate as another visitor would. */
async function openLink({ page }: Visit, link: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(link)
  await page.waitForSelector('.certificate :is(.verdict, .notice)')
}

async function issue(visit: Visit, card: string): Promise<string> {
  await visit.page.waitForSelector(`${card} a.button`)
  await visit.page.click(`${card} a.button`)
  await visit.page.waitForSelector('.paper')
  return visit.page.url()
}

test('the converter issues a certificate whose digest, code and QR code are those of its statement', async () => {
  const visit = await open()
  const link = await issue(visit, '.converter')
  const text = await paperText(visit.page)
  const statement = await visit.page.$eval('.statement pre', ({ textContent }) => textContent)
  const [sum = ''] = execFileSync('sha256sum', { input: statement }).toString().split(' ')
  const params = new URLSearchParams(new URL(link).hash.split('?')[1])
  assert.equal(params.get('sha256'), sum)
  assert.ok(statement.includes(`as_of=${params.get('as_of')}\non=2026-11-15\namount=1500 EUR\ntype=venta\n`))
  const code = `${sum.slice(0, 4)}-${sum.slice(4, 8)}-${sum.slice(8, 12)}`.toUpperCase()
  const [, result = ''] = /result=(\d+\.\d+) CRC/.exec(statement) ?? []
  const [, rate = ''] = /rate=(\S+)/.exec(statement) ?? []
  const spanish = (figure: string) => figure.replace('.', ',').replace(/\B(?=(\d{3})+(?=,))/g, ' ')
  for (const part of [
    ...['Constancia de tipo de cambio', code, '1 500,00 EUR', 'Al domingo, 15 de noviembre de 2026, venta'],
    ...['Indicador 333 13/11/2026', 'Indicador 318 15/11/2026', 'multiplica'],
    'El 15/11/2026 no hay publicación del euro (fin de semana): se usa la del 13/11/2026, la última.',
    `1 500 × ${rate.replace('.', ',')} = ${spanish(result)}`,
    `hora de Costa Rica (${params.get('as_of')})`,
    'Emitida con datos del BCCR; no es un documento del BCCR ni lleva firma digital.',
  ]) {
    assert.ok(text.includes(part), `${part}\n${text}`)
  }
  assert.ok(text.replaceAll(' ', '').includes(sum), 'the whole digest is printed')
  const { width } = (await (await visit.page.$('.qr-code'))?.boundingBox()) ?? { width: 0 }
  assert.ok((width / 96) * 25.4 * (53 / 61) >= 25, `the code has ${width} px`)
  assert.equal(await readQrCode(visit.page), link)
  const end = await runCommand(['statement', 'verify', link, '--data-dir', app.dataDir])
  assert.equal(end.code, 0, end.out + end.err)
  assert.equal(await visit.page.title(), `Constancia ${code} · cambista`)
})

test('the QR code and the foot of a certificate have --public-url, and its link the own address', async () => {
  const publicUrl = 'https://rates.example.com/cambista/'
  const visit = await open(await openPageApp({ listen: { publicUrl } }))
  const link = await issue(visit, '.dollar')
  assert.ok(link.startsWith(`${visit.url}/#`))
  assert.equal(await readQrCode(visit.page), link.replace(`${visit.url}/`, publicUrl))
  assert.match(await paperText(visit.page), /rates\.example\.com\/cambista(?!\/)/)
})

test('the certificate of the dollar has both sides, and prints on one letter page', async (t) => {
  const visit = await open()
  await issue(visit, '.dollar')
  const statement = await visit.page.$eval('.statement pre', ({ textContent }) => textContent)
  assert.match(statement, /\namount=1 USD\ntype=both\nleg=USD\/CRC compra .*\n.*\n.*\nleg=USD\/CRC venta /)
  const file = await printPage(t, visit.page, { preferCSSPageSize: true })
  const info = (await run('pdfinfo', [file])).stdout
  assert.match(info, /^Pages: +1$/m)
  assert.match(info, /^Page size: +612 x 792 pts \(letter\)$/m)
  const { stdout } = await run('pdftotext', ['-layout', file, '-'])
  assert.match(
    stdout,
    /Constancia de tipo de cambio[\s\S]*Indicador 317[\s\S]*Indicador 318[\s\S]*Página 1 de 1/,
  )
  assert.doesNotMatch(stdout, /Consulta|Imprimir|Copiar|Texto de la constancia|Referencia de la API/)
})

test('the link of a certificate verifies it, and names a later correction of the bank', async () => {
  const visit = await open()
  const link = await issue(visit, '.converter')
  await openLink(visit, link)
  await waitForText(visit, '.verdict.good', /^Coincide: este servidor da hoy la misma respuesta\.$/)
  await openLink(visit, link.replace('amount=1500', 'amount=1501'))
  await waitForText(visit, '.verdict.bad', /^No coincide: /)
  assert.equal(await visit.page.$('.paper'), null, 'an altered certificate has no paper')
  const asOf = new URLSearchParams(new URL(link).hash.split('?')[1]).get('as_of') ?? ''
  await openLink(visit, link.replace(asOf, '2020-01-01T00:00:00.000Z'))
  await waitForText(visit, '.verdict.warn', /^El registro de este servidor comienza el 20\/11\/2026, 12:00\./)
  await openLink(visit, link.slice(0, -1))
  await waitForText(visit, '.certificate .notice', /^Este enlace no es de una constancia/)

  corrections.set('318 2026-11-15', '600.25')
  app.clock.now = new Date('2026-11-20T19:00:00Z')
  await app.sync()
  await openLink(visit, link)
  await waitForText(
    visit,
    '.verdict.good',
    /^Coincide: este servidor da hoy la misma respuesta\.El BCCR corrigió después USD\/CRC venta del 15\/11\/2026\. Hoy el resultado sería ₡1\s\d{3}\s\d{3},\d\d\..* de 490,68 a 600,25 \(el 20\/11\/2026, 13:00\)$/,
  )

  const inGap = new Date(Date.parse(asOf) - 1).toISOString()
  const times = { gap_from: Date.parse(asOf) - 60_000, gap_to: Date.parse(asOf) + 1 }
  await asOtherProcess(app, (db) => db.insertInto('record_gaps').values(times).execute())
  await openLink(visit, link.replace(asOf, inGap))
  await waitForText(
    visit,
    '.verdict.warn',
    /^Este servidor no puede comprobarla: entre 20\/11\/2026, 11:59 y 20\/11\/2026, 12:00 su registro tiene un vacío\.$/,
  )
})

test('page and certificate do not deny a publication that the server does not know', async () => {
  app.clock.now = new Date('2026-11-28T18:00:00Z')
  const visit = await openVisit(browser, app, {
    ...{ language: 'es', path: '/#rates?amount=1500&source=EUR' },
  })
  await enterSecret(visit, app.key)
  await waitForText(
    visit,
    '.dollar .caution',
    /^Este servidor aún no tiene el valor del dólar del 28\/11\/2026; el último es del \d\d\/11\/2026\.$/,
  )
  await issue(visit, '.converter')
  const text = await paperText(visit.page)
  assert.match(text, /Este servidor aún no tiene el valor del dólar del 28\/11\/2026;/)
  assert.match(text, /Este servidor aún no tiene el valor del euro del 28\/11\/2026;/)
  assert.doesNotMatch(text, /no hay publicación/)
})

test('a link for a day after tomorrow gets a reason in the language of the page', async () => {
  app.clock.now = new Date('2026-11-28T18:00:00Z')
  const visit = await open()
  const link = await issue(visit, '.converter')
  await openLink(visit, link.replace('on=2026-11-15', 'on=2026-11-30'))
  const notice = await visit.page.$eval('.certificate .notice', ({ textContent }) => textContent)
  assert.equal(
    notice,
    'Todavía no hay tipo de cambio para el 30/11/2026' +
      'Una constancia se emite a lo sumo para mañana. Revise la fecha del enlace.',
  )
})

/** Text of the paper with plain spaces. */
async function paperText(page: Page): Promise<string> {
  await until(async () => /Indicador \d/.test(await page.$eval('.paper', ({ textContent }) => textContent)))
  // biome-ignore lint/performance/useDomNodeTextContent: the text of table cells needs spaces between them
  return page.$eval('.paper', (paper) => (paper as HTMLElement).innerText.replace(/\s+/g, ' '))
}

/** Reads the QR code off a picture of the screen. */
async function readQrCode(page: Page): Promise<string> {
  const code = await page.$('.qr-code')
  const picture = await code?.screenshot({ encoding: 'base64' })
  const image = await page.evaluate(async (base64) => {
    const bitmap = await createImageBitmap(
      new Blob([Uint8Array.from(atob(base64 ?? ''), (char) => char.charCodeAt(0))]),
    )
    const { width, height } = bitmap
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context?.drawImage(bitmap, 0, 0)
    return { width, height, data: [...(context?.getImageData(0, 0, width, height).data ?? [])] }
  }, picture)
  return decodeQr({ ...image, data: Uint8Array.from(image.data) })
}
