// Converted lists and exchange differences: figures of the API, errors in words, and the data that is sent and stored.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HTTPRequest } from 'puppeteer-core'
import { openArchive } from '../../../src/formats/sheets/archive.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { openFullApp } from '../apps.ts'
import { fill, startSession, waitForIdle } from '../states.ts'
import {
  assertClean,
  chooseFile,
  listDownloads,
  nextCopy,
  openEngine,
  openVisit,
  PHONE,
  setDownloadFolder,
  type Visit,
  type VisitOptions,
} from '../support.ts'
import { spanish, toCents } from './cents.ts'

type Conversion = { rate: string; result: string }
type Entry = { id: string; amount: string; from: string; to: string; type: string; on: string }

// The day of the apps is 20/11/2026, and its sync has published the 21st at most.
const LIST = [
  'Fecha\tDetalle\tMonto\tMoneda',
  '03/11/2026\tFactura 4417\t1.250,00\tUSD',
  '07/11/2026\tHotel Madrid\t€ 312,40\tUSD',
  '12/11/2026\tFlete Yokohama\t184000\tJPY',
  '14/11/2026\tNota de crédito 88\t(150,00)\t',
  '31/11/2026\tPeaje\t45,00\tUSD',
  '\t=cmd|x\t15,125\tUSD',
  '05/05/2027\tFutura\t10,00\tUSD',
  '13/11/2026\tTexto\t12 mil\tUSD',
  '13/11/2026\tServicio Panamá\t2.300,00\tPAB',
].join('\n')
const ERRORS = [
  ['5', 'El 31/11/2026 no existe: noviembre tiene 30 días.'],
  ['6', 'Falta la fecha.'],
  ['7', 'Todavía no hay tipo de cambio para el 05/05/2027'],
  ['8', '«12 mil» no es un monto.'],
  ['9', 'El BCCR no publica PAB. Tratar como USD'],
] as const

const browser = await openEngine()
const app = await openFullApp()

async function open(fragment: string, options: VisitOptions = {}) {
  const visit = await openVisit(browser, app, { language: 'es', ...options })
  const batches: Entry[][] = []
  visit.page.on('request', (request) => {
    if (request.url().includes('/convert/batch')) batches.push(JSON.parse(request.postData() ?? '[]'))
  })
  await startSession(visit, app, 'key')
  await visit.page.goto(`${visit.url}/${fragment}`)
  await waitForIdle(visit.page)
  return { visit, batches }
}

/** Pastes text into the field, as from another program. */
async function paste({ page }: Visit, text: string): Promise<void> {
  await page.waitForSelector('textarea.pasted')
  await page.$eval(
    'textarea.pasted',
    (field, text) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', text)
      const event = new ClipboardEvent('paste', { clipboardData, cancelable: true, bubbles: true })
      if (!field.dispatchEvent(event)) return
      ;(field as HTMLTextAreaElement).value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    text,
  )
}

async function convertRows({ page }: Visit): Promise<void> {
  await page.waitForSelector('.convert-rows:enabled')
  await page.click('.convert-rows')
  await page.waitForSelector('.list-table')
  await waitForIdle(page)
}

/** Texts of the cells of each row, without those for screen readers. */
function tableRows({ page }: Visit, table: string): Promise<string[][]> {
  return page.$$eval(`${table} tbody tr`, (rows) =>
    rows.map((row) =>
      [...row.children].map((cell) => {
        const copy = cell.cloneNode(true) as Element
        for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove()
        return (copy.textContent ?? '').replace(/\s+/g, ' ').trim()
      }),
    ),
  )
}

function convert(amount: string, from: string, type: string, on: string): Promise<Conversion> {
  return app.json(`/api/v1/convert?${new URLSearchParams({ amount, from, to: 'CRC', type, on })}`)
}

test('a pasted list has the results of the API, and its copy pasted back has the same rows', async () => {
  const { visit, batches } = await open('#rates/list')
  const { page } = visit
  await paste(visit, LIST)
  await convertRows(visit)
  const conversions: [string, string, string, string, bigint][] = [
    ['1', '1250', 'USD', '2026-11-03', 1n],
    ['2', '312.4', 'EUR', '2026-11-07', 1n],
    ['3', '184000', 'JPY', '2026-11-12', 1n],
    ['4', '150', 'USD', '2026-11-14', -1n],
  ]
  let sum = 0n
  const rows = await tableRows(visit, '.list-table')
  assert.equal(rows.length, 9)
  for (const [index, [number, amount, from, on, sign]] of conversions.entries()) {
    const cents = toCents((await convert(amount, from, 'venta', on)).result, sign)
    sum += cents
    assert.deepEqual([rows[index]?.[0], rows[index]?.at(-1)], [number, spanish(cents)])
  }
  assert.match(rows[1]?.[6] ?? '', /^EUR\/USD 1,\d+ \(06\/11\) × USD\/CRC venta \d+,\d+ \(07\/11\)$/)
  assert.match(rows[2]?.[6] ?? '', /^÷ USD\/JPY /)
  assert.equal(
    await page.$eval('.list-table tfoot td', (one) => one.textContent?.replace(/\s/g, ' ')),
    `₡${spanish(sum)}`,
  )
  assert.match(
    await page.$eval('.list-result [role=status]', (one) => one.textContent ?? ''),
    /^4 convertidas · 5 con error · venta · consultado el 20\/11\/2026 a las \d\d:\d\d, hora de Costa Rica$/,
  )
  assert.deepEqual(
    batches.flat().map(({ id, amount, from, to, type, on }) => [id, amount, from, to, type, on].join(' ')),
    conversions.map(([number, amount, from, on]) => `${number} ${amount} ${from} CRC venta ${on}`),
  )

  await page.click('.list-result .segmented label:nth-of-type(2)')
  const failures = await tableRows(visit, '.list-table')
  assert.deepEqual(
    failures.map((cells, index) => [cells[0], cells[5]?.slice(0, ERRORS[index]?.[1].length)]),
    ERRORS.map(([number, text]) => [number, text]),
  )
  await page.click('.bad-row .link')
  await until(async () => (await tableRows(visit, '.list-table')).length === 4)
  await page.click('.list-result .segmented label:nth-of-type(1)')
  const treated = await tableRows(visit, '.list-table')
  assert.match(treated[8]?.[6] ?? '', / · PAB tratado como USD$/)
  assert.equal(
    treated[8]?.at(-1),
    spanish(toCents((await convert('2300', 'USD', 'venta', '2026-11-13')).result)),
  )

  await page.click('.list-result .buttons > button')
  const { text: copied } = await nextCopy(visit)
  assert.match(copied, /^6\t\t'=cmd\|x\t15,1250\tUSD\t\t\t\tFalta la fecha\.\r$/m)
  await page.click('.paste-field .link')
  await paste(visit, copied)
  await convertRows(visit)
  await page.waitForSelector('.bad-row .link')
  await page.click('.bad-row .link')
  await until(async () => (await page.$('.bad-row .link')) === null)
  assert.deepEqual(await tableRows(visit, '.list-table'), treated)
  assert.ok(batches.flat().every(({ on }) => on <= '2026-11-21'))
  assertClean(visit)
})

test('columns of a pasted list can be changed, and nothing of it is stored', async () => {
  const { visit, batches } = await open('#rates/list')
  const { page } = visit
  await paste(visit, '03/04/2026;15.000\n05/06/2026;20.000')
  await page.waitForSelector('.read-column select')
  await page.select('.read-column:nth-of-type(1) select', 'mdy')
  await page.select('.read-column:nth-of-type(2) select', 'point')
  await page.click('.list-side label:first-of-type')
  await convertRows(visit)
  assert.deepEqual(
    batches.at(-1)?.map(({ amount, type, on }) => `${amount} ${type} ${on}`),
    ['15 compra 2026-03-04', '20 compra 2026-05-06'],
  )
  await page.select('.read-column:nth-of-type(2) select', 'unused')
  await page.waitForSelector('.list-card > .refusal')
  assert.equal(await page.$('.list-table'), null)
  assert.equal(await page.evaluate(() => Object.keys(localStorage).join(' ')), 'cambista-page')
  await page.reload()
  await page.waitForSelector('textarea.pasted')
  assert.equal(await page.$eval('textarea.pasted', (field) => (field as HTMLTextAreaElement).value), '')
})

test('10,000 rows are converted on one state of the rates, and 200 are drawn', async () => {
  const { visit, batches } = await open('#rates/list')
  const { page } = visit
  const lines = Array.from(
    { length: 10_000 },
    (_, at) => `1${at % 9}/11/2026\tFactura ${at}\t${at + 1},25\tUSD`,
  )
  await paste(visit, lines.join('\r\n'))
  await convertRows(visit)
  assert.deepEqual(
    batches.map(({ length }) => length),
    [2500, 2500, 2500, 2500],
  )
  const instants = visit.requests
    .filter((url) => url.includes('/convert/batch'))
    .map((url) => new URL(url).searchParams.get('as_of'))
  assert.deepEqual([instants[0], new Set(instants.slice(1)).size], [null, 1])
  assert.match(instants[1] ?? '', /^2026-11-20T/)
  await until(async () => (await tableRows(visit, '.list-table')).length >= 200) // rows come by and by
  const rates = new Map<number, bigint>()
  for (let date = 0; date < 9; date += 1) {
    const { rate } = await convert('1', 'USD', 'venta', `2026-11-1${date}`)
    const [whole = '', fraction = ''] = rate.split('.')
    rates.set(date, BigInt(whole + fraction.padEnd(6, '0')))
  }
  const sum = lines
    .map((_, at) => (BigInt(at * 100 + 125) * (rates.get(at % 9) ?? 0n) + 500_000n) / 1_000_000n)
    .reduce((all, one) => all + one, 0n)
  assert.equal(
    await page.$eval('.list-table tfoot tr', (one) => one.textContent?.replace(/\s/g, ' ')),
    `Total de 10 000 filas₡${spanish(sum)}`,
  )
  assert.equal((await tableRows(visit, '.list-table')).length, 200)
  await paste(visit, [...lines, lines[0]].join('\n'))
  await page.waitForSelector('.paste-field .refusal:not(:empty)')
  assert.ok(await page.$('.convert-rows:disabled'))
})

test('the buttons of the positions stay in place when their differences arrive', async () => {
  const { visit } = await open('#rates/differential')
  const { page } = visit
  const requests: HTTPRequest[] = []
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (request.url().includes('/convert/batch')) requests.push(request)
    else void request.continue()
  })
  await page.click('.positions .card-head .button:nth-of-type(2)')
  await paste(visit, 'Detalle\tTipo\tSaldo\tMoneda\tFecha\nCaja\tActivo\t10,00\tUSD\t30/09/2026')
  await page.waitForSelector('.paste-positions .button.main:enabled')
  await page.click('.paste-positions .button.main')
  await page.waitForSelector('.positions-table')
  await until(async () => requests.length > 0)
  const places = () =>
    page.$$eval('.positions .card-head .button', (all) => all.map((one) => one.getBoundingClientRect().x))
  const before = await places()
  assert.equal(before.length, 3)
  assert.ok(await page.$('.positions .download .button:disabled'))
  for (const request of requests) void request.continue()
  await page.waitForSelector('.positions .download .button:enabled')
  assert.deepEqual(await places(), before)
})

test('exchange differences have the results of the API, survive a reload, and leave with the session', async (t) => {
  const { visit, batches } = await open('#rates/differential')
  const { page } = visit
  await page.click('.positions .card-head .button:nth-of-type(2)')
  await paste(
    visit,
    [
      'Detalle\tTipo\tSaldo\tMoneda\tFecha',
      'Cuenta corriente\tActivo\t42.500,00\tUSD\t30/09/2026',
      'Nota de crédito 88\tActivo\t(1.200,00)\tUSD\t18/10/2026',
      'Proveedor Iberia\tPasivo\t9.350,40\tEUR\t12/10/2026',
      'Posterior\tPasivo\t1,00\tUSD\t05/11/2026',
      'Sin saldo\tPasivo\t\tUSD\t05/11/2026',
    ].join('\n'),
  )
  await page.waitForSelector('.paste-errors')
  assert.match(await page.$eval('.paste-errors', (one) => one.textContent ?? ''), /Fila 5: Falta el monto\./)
  await page.click('.paste-positions .button.main')
  await page.waitForSelector('.positions-table')
  await page.click('.positions .card-head .button:nth-of-type(1)')
  await fill(page, '.position-detail input', 'Préstamo bancario')
  await page.click('.position-form .segmented label:last-of-type')
  await fill(page, '.position-balance input', '150000')
  await fill(page, '.position-form .date', '30/9/2026')
  await page.keyboard.press('Enter')
  await page.click('.position-form .button.main')
  const visibleRows = () => tableRows(visit, '.positions-table')
  await until(async () => (await visibleRows()).filter((cells) => cells.length === 8).length === 4)
  await waitForIdle(page)

  const positions: [string, string, string, string, bigint][] = [
    ['42500', 'USD', 'compra', '2026-09-30', 1n],
    ['1200', 'USD', 'compra', '2026-10-18', -1n],
    ['9350.4', 'EUR', 'venta', '2026-10-12', -1n],
    ['150000', 'USD', 'venta', '2026-09-30', -1n],
  ]
  const rows = (await visibleRows()).filter((cells) => cells.length === 8)
  let net = 0n
  for (const [index, [amount, from, type, on, sign]] of positions.entries()) {
    const books = toCents((await convert(amount, from, type, on)).result, sign)
    const closing = toCents((await convert(amount, from, type, '2026-10-31')).result, sign)
    net += closing - books
    const effect = closing > books ? 'ingreso' : closing < books ? 'gasto' : ''
    assert.deepEqual(
      rows[index]?.slice(5),
      [books, closing].map(spanish).concat(spanish(closing - books) + effect),
    )
  }
  const netText = await page.$eval('.positions-table tfoot', (one) => {
    for (const unseen of one.querySelectorAll('.unseen')) unseen.remove()
    return one.textContent?.replace(/\s/g, ' ')
  })
  assert.equal(netText, `Neto de 4 de 5 partidas${spanish(net)}`)
  assert.ok(
    (await visibleRows()).some((cells) => cells.includes('La fecha de registro es posterior al cierre.')),
  )

  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  await chooseFile(visit, '.positions', 'excel')
  const file = join(folder, 'bccr-diferencial-2026-10-31.xlsx')
  await until(() => listDownloads(folder).length > 0)
  const sheet = await (await openArchive(readFileSync(file))).read('xl/worksheets/sheet1.xml')
  assert.match(sheet ?? '', /<f>ROUND\(C7\*F7,2\)<\/f>/)
  assert.match(sheet ?? '', /<f>K7-J7<\/f>/)

  const requestCount = batches.length
  await fill(page, '.positions-settings .date', '05/05/2027')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.closing-words .date-error')
  assert.equal(batches.length, requestCount)
  assert.ok((await visibleRows()).every((cells) => cells.at(-1) === '—'))
  assert.deepEqual(await page.$$eval('.total dd', (all) => all.map((one) => one.textContent)), [
    '—',
    '—',
    '—',
    '—',
  ])
  assert.ok(batches.flat().every(({ on }) => on <= '2026-11-21'))

  await page.reload()
  await page.waitForSelector('.positions-table')
  await until(async () => (await visibleRows()).filter((cells) => cells.length === 8).length === 4)
  assert.doesNotMatch(page.url(), /Iberia|9350/)
  await page.click('.positions-foot .link')
  const guide = await page.$$eval('.guide li', (lines) => lines.map((one) => one.textContent))
  assert.equal(guide.length, 6)
  assert.equal(guide.at(-1), 'Es una orientación: confírmelo con quien lleva su contabilidad.')

  const countStored = () => page.evaluate(() => JSON.parse(localStorage['cambista-positions'] ?? '[]').length)
  const clickLeave = async () => {
    await page.$eval('.menu', (menu) => menu.setAttribute('open', ''))
    await page.click('.menu .button.wide')
    await page.waitForSelector('dialog[open]')
  }
  await clickLeave()
  await page.click('dialog .button:last-of-type')
  assert.equal(await countStored(), 5)
  assert.ok(await page.$('.positions-table'))
  await clickLeave()
  await page.click('dialog .button.main')
  await page.waitForSelector('.secret')
  assert.equal(await countStored(), 0)
  assertClean(visit)
})

test('lists and positions are cards on a phone', async () => {
  const { visit } = await open('#rates/list', { viewport: { ...PHONE, width: 320 } })
  const { page } = visit
  await paste(visit, LIST)
  await convertRows(visit)
  const measure = () =>
    page.evaluate(() => ({
      isCut: document.documentElement.scrollWidth > innerWidth,
      wrapped: [...document.querySelectorAll('.carded :is(tbody, tfoot) .number')].filter((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return (
          getComputedStyle(cell).whiteSpace !== 'nowrap' || range.getBoundingClientRect().right > innerWidth
        )
      }).length,
      display: getComputedStyle(document.querySelector('.carded tbody tr') as Element).display,
    }))
  assert.deepEqual(await measure(), { isCut: false, wrapped: 0, display: 'grid' })
})
