// Every state of every screen, with the steps that lead to it.

import type { HTTPRequest, Page } from 'puppeteer-core'
import { until } from '../support/terminal.ts'
import { loginPath } from './apps.ts'
import { PROBLEMS } from './status/problems.ts'
import { enterSecret, type PageApp, type Visit, waitForText } from './support.ts'

export type State = {
  name: string
  /** Secrets of the session; `empty`: a key of the empty app. */
  session: 'nobody' | 'key' | 'token' | 'both' | 'empty'
  /** Fragment of the URL. */
  fragment?: string
  /** Runs before the URL is opened. @returns the function that undoes it */
  prepare?(page: Page): Promise<() => Promise<unknown>>
  /** Runs after the URL is opened. */
  act?(visit: Visit, app: PageApp): Promise<unknown>
  /** Element that is visible in the state. */
  selector: string
  /** True if the page never becomes idle. */
  isLoading?: boolean
  /** True for the states of the short form: each screen once. */
  isShort?: boolean
}

const BUSY = { status: 503, contentType: 'application/json', body: '{"detail":"The server is starting."}' }
const CERTIFICATE = 'amount=1500&source=EUR&target=CRC'
const FILTERED = '#documents?company=8'

/** Rows with long details, a cross, an old leg, a currency without rates, and other errors. */
const PASTED_LIST = [
  'Fecha\tDetalle\tMonto\tMoneda',
  '03/11/2026\tFactura 4417, cliente con un nombre que no es corto\t1.250,00\tUSD',
  '07/11/2026\tHotel Madrid\t€ 312,40\tEUR',
  '12/11/2026\tFlete Yokohama\t184.000.000,00\tJPY',
  '14/11/2026\tNota de crédito 88\t(150,00)\tUSD',
  '31/11/2026\tPeaje\t45,00\tUSD',
  '13/11/2026\tServicio Panamá\t2.300,00\tPAB',
].join('\n')

export const STATES: readonly State[] = [
  { name: 'signed out', isShort: true, session: 'nobody', selector: '.secret' },
  {
    name: 'no secret',
    session: 'nobody',
    selector: '.refusal:not(:empty)',
    act: (visit) => submitSecret(visit, 'clave'),
  },
  {
    name: 'wrong secret',
    session: 'nobody',
    selector: '.refusal:not(:empty)',
    act: (visit) => submitSecret(visit, 'cbk_wrong'),
  },
  {
    name: 'commands of the door',
    session: 'nobody',
    selector: '.commands[open]',
    act: async ({ page }) => {
      const summary = await page.waitForSelector('.commands summary')
      await summary?.click()
    },
  },
  { name: 'ended session', session: 'nobody', prepare: prepareEndedSession, selector: '.ended' },
  {
    name: 'one-time link',
    isShort: true,
    session: 'both',
    selector: '[aria-labelledby=one-time-link] .caution',
    act: async ({ page, url }, app) => page.goto(url + (await loginPath(app))),
  },
  {
    name: 'used link',
    session: 'nobody',
    fragment: `#login=${'x'.repeat(32)}`,
    selector: '[aria-labelledby=one-time-link]',
  },
  { name: 'needs a key', session: 'token', selector: '.secret' },
  { name: 'needs a token', isShort: true, session: 'key', fragment: '#documents', selector: '.secret' },
  {
    name: 'adding a token',
    session: 'key',
    selector: 'dialog[open] .secret',
    act: async ({ page }) => {
      await page.click('.menu summary')
      await page.click('.menu .link')
    },
  },
  {
    name: 'server is starting',
    session: 'both',
    prepare: interceptRequests(/^\/session/, BUSY),
    selector: 'main > .notice',
  },

  { name: 'rates', isShort: true, session: 'both', selector: '.statistics td' },
  {
    name: 'trend of a cross rate',
    session: 'both',
    fragment: '#rates?pair=XDR/EUR&span=1m',
    selector: '.statistics td',
  },
  {
    name: 'compared with a currency',
    isShort: true,
    session: 'both',
    fragment: '#rates?pair=EUR/CRC&compare=NIO',
    selector: '.key-other',
  },
  {
    name: 'compared with a year, as a table',
    session: 'both',
    fragment: '#rates?pair=JPY/CRC&compare=2024&table=true',
    selector: '.history-table td:nth-child(4)',
  },
  {
    name: 'unknown currency',
    session: 'both',
    fragment: '#rates?pair=PAB/CRC',
    selector: '.history .notice',
  },
  {
    name: 'all currencies',
    isShort: true,
    session: 'both',
    selector: '.currency-table tbody tr:nth-child(46)',
    async act(visit, app) {
      await showSection('.currencies')(visit, app)
      const link = await visit.page.waitForSelector('.row-count .link')
      await link?.click()
      await visit.page.click('.currency-table .column-change .sort')
    },
  },
  {
    name: 'currencies as published',
    session: 'both',
    selector: '.currency-table',
    async act(visit, app) {
      await showSection('.currencies')(visit, app)
      await visit.page.$eval('.currency-forms label:last-child input', (radio) =>
        (radio as HTMLInputElement).click(),
      )
    },
  },
  {
    name: 'day without a value',
    session: 'both',
    fragment: '#rates?on=2026-11-19',
    prepare: interceptRequests(/\/rates\/latest$/, {
      contentType: 'application/json',
      body: JSON.stringify({
        ...{ provider: 'bccr', pair: 'USD/CRC', rate_date: '2026-11-18' },
        ...{ compra: '484.98', venta: '490.84', referencia: null },
      }),
    }),
    selector: '.dollar-facts .caution',
  },
  {
    name: 'day after tomorrow',
    session: 'both',
    fragment: '#rates?on=2030-01-01',
    selector: '.dollar .date-error',
  },
  {
    name: 'day before all',
    session: 'both',
    fragment: '#rates?on=1950-01-01',
    selector: '.dollar .date-error',
  },
  {
    name: 'date that does not exist',
    isShort: true,
    session: 'both',
    selector: '.converter .date-error',
    act: async ({ page }) => {
      await fill(page, '.converter .date', '31/02/2027')
      await page.keyboard.press('Enter')
    },
  },
  {
    name: 'calendar',
    isShort: true,
    session: 'both',
    selector: '.calendar .day',
    act: ({ page }) => page.click('.converter .calendar-button'),
  },
  {
    name: 'calendar of the dollar',
    session: 'both',
    selector: '.calendar .day',
    act: ({ page }) => page.click('.dollar .calendar-button'),
  },
  {
    name: 'whole history as a table',
    session: 'both',
    fragment: '#rates?span=all&table=true',
    selector: '.history-table tbody th',
  },
  {
    name: 'one currency',
    session: 'both',
    fragment: '#rates?pair=EUR/USD&span=1m',
    selector: '.statistics td',
  },
  {
    name: 'empty span',
    session: 'both',
    fragment: '#rates?pair=EUR/USD&from=2026-11-14&to=2026-11-15',
    selector: '.history .notice',
  },
  {
    name: 'refused span',
    session: 'both',
    fragment: '#rates?from=1950-01-01&to=2026-02-01',
    selector: '.history .date-error',
  },
  {
    name: 'menu',
    isShort: true,
    session: 'both',
    selector: '.menu[open]',
    act: ({ page }) => page.click('.menu summary'),
  },
  {
    name: 'amount of two meanings',
    session: 'both',
    selector: '.reading .refusal',
    act: ({ page }) => fill(page, '.amount', '1.2,3.4'),
  },
  {
    name: '25 digits',
    session: 'both',
    fragment: '#rates?amount=1234567890123456789012345.67',
    selector: '.result output',
  },
  {
    name: 'credit note in dollars',
    session: 'both',
    fragment: '#rates?amount=-1500.5&source=EUR&target=USD',
    selector: '.result output',
  },
  {
    name: 'older legs',
    session: 'both',
    fragment: '#rates?on=2026-11-15&source=JPY',
    selector: '.outcome .legs',
  },
  { name: 'no conversion', session: 'both', fragment: '#rates?source=XXX', selector: '.outcome .refusal' },
  { name: 'months', isShort: true, session: 'both', fragment: '#rates/closes', selector: '.closes-foot' },
  {
    name: 'quarters of a small cross with all decimals',
    session: 'both',
    fragment: '#rates/closes?months=CRC/JPY&year=2025&every=quarter',
    selector: '.closes-options :checked',
    act: ({ page }) => page.click('.closes-options input'),
  },
  {
    name: 'menu of downloads',
    isShort: true,
    session: 'both',
    fragment: '#rates/closes?every=year',
    selector: '.download-item',
    act: ({ page }) => page.click('.download > button'),
  },
  {
    name: 'months of a cross',
    session: 'both',
    fragment: '#rates/closes?months=EUR/CRC&year=2025',
    selector: '.closes-foot',
  },
  {
    name: 'months without a value',
    session: 'both',
    fragment: '#rates/closes?months=EUR/USD&year=1950',
    selector: '.months .notice',
  },
  {
    name: 'months loading',
    session: 'both',
    fragment: '#rates/closes',
    prepare: interceptRequests(/^\/api\/v1\/history$/, 'never'),
    selector: '.closes-options',
    isLoading: true,
  },
  {
    name: 'months busy',
    session: 'both',
    fragment: '#rates/closes',
    prepare: interceptRequests(/^\/api\/v1\/history$/, BUSY),
    selector: '.months .notice',
  },
  { name: 'list', session: 'both', fragment: '#rates/list', selector: 'textarea.pasted' },
  {
    name: 'list read',
    session: 'both',
    fragment: '#rates/list',
    selector: '.convert-rows:enabled',
    act: (visit) => pasteRows(visit, PASTED_LIST),
  },
  {
    name: 'list converted',
    isShort: true,
    session: 'both',
    fragment: '#rates/list',
    selector: '.list-table .bad-row .link',
    async act(visit) {
      await pasteRows(visit, PASTED_LIST)
      await visit.page.click('.convert-rows:enabled')
    },
  },
  {
    name: 'list without dates',
    session: 'both',
    fragment: '#rates/list',
    selector: '.list-card > .refusal',
    act: ({ page }) => setField(page, 'textarea.pasted', 'a;b\nc;d'),
  },
  {
    name: 'list too long',
    session: 'both',
    fragment: '#rates/list',
    selector: '.paste-field .refusal:not(:empty)',
    act: ({ page }) => setField(page, 'textarea.pasted', '1;2\n'.repeat(10_001)),
  },
  {
    name: 'list busy',
    session: 'both',
    fragment: '#rates/list',
    prepare: interceptRequests(/\/convert\/batch$/, BUSY),
    selector: 'main .notice',
    async act(visit) {
      await pasteRows(visit, PASTED_LIST)
      await visit.page.click('.convert-rows:enabled')
    },
  },
  {
    name: 'no positions',
    session: 'both',
    fragment: '#rates/differential',
    selector: '.positions .list-none',
  },
  {
    name: 'positions pasted',
    session: 'both',
    fragment: '#rates/differential',
    selector: '.paste-errors',
    async act(visit) {
      await visit.page.click('.positions .card-head .button:nth-of-type(2)')
      await pasteRows(visit, PASTED_LIST)
    },
  },
  {
    name: 'positions',
    isShort: true,
    session: 'both',
    fragment: '#rates/differential?closing=2026-11-19',
    selector: '.positions-table .result-cell span',
    async act(visit) {
      await visit.page.click('.positions .card-head .button:nth-of-type(2)')
      await pasteRows(visit, PASTED_LIST)
      await visit.page.click('.paste-positions .button.main:enabled')
    },
  },
  {
    name: 'a position with the guide',
    session: 'both',
    fragment: '#rates/differential?closing=2026-11-19',
    selector: '.guide',
    async act({ page }) {
      await page.waitForSelector('.positions-table .result-cell span')
      await page.click('.positions-table .item')
      await page.click('.positions-foot .link')
    },
  },
  {
    name: 'refused closing',
    session: 'both',
    fragment: '#rates/differential',
    selector: '.closing-words .date-error',
    async act({ page }) {
      await fill(page, '.positions-settings .date', '31/02/2027')
      await page.keyboard.press('Enter')
    },
  },
  {
    name: 'leaving with positions',
    session: 'both',
    fragment: '#rates/differential',
    selector: 'dialog[open]',
    async act({ page }) {
      await page.click('.menu summary')
      await page.click('.menu .button.wide')
    },
  },
  {
    name: 'export',
    session: 'both',
    fragment: '#status',
    selector: '.export button',
    act: openExport,
  },
  {
    name: 'certificate',
    isShort: true,
    session: 'both',
    fragment: `#rates/certificate?${CERTIFICATE}&side=venta&on=2026-11-15`,
    selector: '.paper',
  },
  {
    name: 'certificate of both sides',
    session: 'both',
    fragment: '#rates/certificate?amount=1&source=USD&target=CRC&side=both&on=2026-11-20',
    selector: '.paper',
  },
  {
    name: 'certificate that does not match',
    isShort: true,
    session: 'both',
    fragment: `#rates/certificate?${CERTIFICATE}&side=compra&on=2026-11-15&as_of=2026-11-20T18:00:00.900Z&sha256=${'0'.repeat(64)}`,
    prepare: interceptRequests(/\/convert\/statement$/, {
      contentType: 'application/json',
      body: JSON.stringify({
        ...{
          statement: 'cambista-constancia/1\n',
          sha256: 'f'.repeat(64),
          as_of: '2026-11-20T18:00:00.900Z',
        },
        ...{ conversion: { legs: [] }, matches: false },
      }),
    }),
    selector: '.verdict.bad',
  },
  {
    name: 'certificate in a gap of the record',
    session: 'both',
    fragment: `#rates/certificate?${CERTIFICATE}&side=compra&on=2026-11-15&as_of=2026-11-20T18:00:00.000Z&sha256=${'0'.repeat(64)}`,
    prepare: interceptRequests(/\/convert\/statement$/, {
      ...{ status: 404, contentType: 'application/json' },
      body: '{"detail":"lost","gap":{"from":"2026-11-20T17:00:00.000Z","to":"2026-11-20T19:00:00.000Z"}}',
    }),
    selector: '.verdict.warn',
  },
  {
    name: 'damaged link of a certificate',
    session: 'both',
    fragment: '#rates/certificate?amount=1',
    selector: '.certificate .notice',
  },
  {
    name: 'export refused',
    session: 'both',
    fragment: '#status',
    prepare: interceptRequests(/^\/session\/ticket$/, BUSY),
    selector: '.export .refusal',
    async act(visit) {
      await openExport(visit)
      await visit.page.click('.export button')
    },
  },
  {
    name: 'no currency is found',
    session: 'both',
    selector: '.currencies .notice',
    async act(visit, app) {
      await showSection('.currencies')(visit, app)
      await visit.page.waitForSelector('.row-count')
      await fill(visit.page, '.search input', 'zzz')
    },
  },
  {
    name: 'rates loading',
    session: 'both',
    prepare: interceptRequests(/^\/api/, 'never'),
    selector: '.dollar',
    isLoading: true,
  },
  {
    name: 'rates busy',
    session: 'both',
    prepare: interceptRequests(/^\/api/, BUSY),
    selector: 'main .notice',
  },
  {
    name: 'rates offline',
    isShort: true,
    session: 'both',
    selector: '.banner',
    act: async ({ page }) => {
      await page.waitForSelector('.statistics td')
      await page.setOfflineMode(true)
      await page.evaluate(() => dispatchEvent(new Event('offline'))) // setOfflineMode does not fire it
    },
  },

  { name: 'documents', isShort: true, session: 'both', fragment: '#documents', selector: '.document' },
  {
    name: 'filters of documents',
    isShort: true,
    session: 'both',
    fragment: '#documents?state=waiting&since=2026-11-20&search=factura',
    selector: '.filters .field',
    async act({ page }) {
      await page.$eval('.filters-button', (button) => (button as HTMLElement).click())
    },
  },
  {
    name: 'refused period of documents',
    session: 'both',
    fragment: '#documents',
    selector: '.received .list-none',
    async act({ page }) {
      await page.$eval('.filters-button', (button) => (button as HTMLElement).click())
      await fill(page, '.filter-day .date', '31/02/2026')
      await page.keyboard.press('Enter')
    },
  },
  {
    name: 'deleted document',
    session: 'both',
    fragment: '#documents?document=999',
    selector: '.panel .notice',
  },
  { name: 'sending', isShort: true, session: 'both', fragment: '#documents?send=true', selector: '.drop' },
  { name: 'no documents', session: 'both', fragment: FILTERED, selector: '.received .notice' },
  {
    name: 'documents loading',
    session: 'both',
    fragment: '#documents',
    prepare: interceptRequests(/^\/api/, 'never'),
    selector: '.received .loading',
    isLoading: true,
  },
  {
    name: 'documents busy',
    session: 'both',
    fragment: '#documents',
    prepare: interceptRequests(/^\/api/, BUSY),
    selector: '.received .notice',
  },
  ...(
    [
      ['text', 'xml', '.preview .text'],
      ['markup', 'onerror', '.preview .text'],
      ['image', 'png', '.preview img'],
      ['PDF', 'pdf', '.preview .notice'],
      ['another type', 'zip', '.preview .notice'],
    ] as const
  ).map(([content, name, selector]) => ({
    name: `preview of ${content}`,
    isShort: content === 'text',
    session: 'both' as const,
    fragment: '#documents',
    selector,
    act: async ({ page }: Visit) => {
      const row = await page.waitForSelector(`.document-open::-p-text(${name})`)
      await row?.evaluate((button) => (button as HTMLElement).click())
    },
  })),
  {
    name: 'upload under way',
    session: 'both',
    fragment: '#documents?company=8&send=true',
    prepare: interceptRequests(/\/documents\/create$/, 'never'),
    selector: '.sending progress',
    act: ({ page }) => selectFile(page, 'escaneo.png'),
  },
  {
    name: 'upload refused',
    session: 'both',
    fragment: '#documents?company=8&send=true',
    prepare: interceptRequests(/\/documents\/create$/, { ...BUSY, status: 413 }),
    selector: '.sent.bad',
    act: ({ page }) => selectFile(page, 'demasiado-grande-y-con-un-nombre-que-tampoco-es-corto.png'),
  },
  { name: 'status', isShort: true, session: 'both', fragment: '#status', selector: '.runs .pill' },
  {
    name: 'status with problems',
    isShort: true,
    session: 'both',
    fragment: '#status',
    prepare: interceptRequests(/\/api\/v1\/(status|revisions|documents\/summary)$/, ({ pathname }) => ({
      contentType: 'application/json',
      body: JSON.stringify(PROBLEMS[pathname.slice('/api/v1/'.length)]),
    })),
    selector: '.run-message',
  },
  {
    name: 'status loading',
    session: 'both',
    fragment: '#status',
    prepare: interceptRequests(/status$/, 'never'),
    selector: 'main .loading',
    isLoading: true,
  },
  {
    name: 'status busy',
    session: 'both',
    fragment: '#status',
    prepare: interceptRequests(/status$/, BUSY),
    selector: 'main .notice',
  },

  { name: 'empty database', isShort: true, session: 'empty', selector: '.commands' },
  { name: 'empty database, status', session: 'empty', fragment: '#status', selector: '.runs .quiet' },
  {
    name: 'empty database, documents',
    session: 'empty',
    fragment: '#documents',
    selector: '.received .notice',
  },
]

/** Brings a page to a state. @returns the function that undoes it */
export async function openState(visit: Visit, app: PageApp, state: State): Promise<() => Promise<void>> {
  const { page, url } = visit
  await page.goto('about:blank')
  const undo = await state.prepare?.(page)
  await page.goto(`${url}/${state.fragment ?? '#rates'}`)
  if (!state.isLoading && state.session !== 'nobody' && !state.prepare) await waitForIdle(page)
  await state.act?.(visit, app)
  await page.waitForSelector(state.selector, { visible: true })
  if (!state.isLoading) await waitForIdle(page)
  return async () => {
    await page.setOfflineMode(false)
    await undo?.()
  }
}

/** Waits until there is a screen, its text is stable, and nothing is loading. */
export async function waitForIdle(page: Page): Promise<void> {
  let [previousText, repeats] = ['', 0]
  await until(async () => {
    const [text, isBusy] = await page.evaluate(() => [
      document.body.textContent,
      !document.querySelector('main *') ||
        [
          ...document.querySelectorAll(
            'main :is([aria-busy="true"], .loading, .awaited:empty, .preview-wait)',
          ),
        ].some((element) => element.checkVisibility()),
    ])
    repeats = previousText === text && text !== '' ? repeats + 1 : 0
    previousText = String(text)
    return repeats >= 3 && !isBusy // a query of `until` each 20 ms
  })
}

/** Sets half of a session that the server has ended. */
async function prepareEndedSession(page: Page): Promise<() => Promise<unknown>> {
  const sessionEnd = { reason: 'idle', remember: true }
  const body = JSON.stringify({ key: null, token: null, open: false, ended: sessionEnd })
  const { identifier } = await page.evaluateOnNewDocument(() => {
    if (location.protocol === 'http:') localStorage.setItem('cambista-page', 'x'.repeat(32))
  })
  const undo = await interceptRequests(/^\/session$/, { contentType: 'application/json', body })(page)
  return async () => {
    await page.removeScriptToEvaluateOnNewDocument(identifier)
    await undo()
    await page.evaluate(() => localStorage.removeItem('cambista-page'))
  }
}

type Answer = Parameters<HTTPRequest['respond']>[0] | 'never'

/** Intercepts requests of some paths, and answers or never answers them. */
function interceptRequests(path: RegExp, response: Answer | ((url: URL) => Answer)) {
  return async (page: Page) => {
    const pending: HTTPRequest[] = []
    const handle = (request: HTTPRequest) => {
      const url = new URL(request.url())
      const answer = typeof response === 'function' ? response(url) : response
      if (!path.test(url.pathname)) void request.continue()
      else if (answer === 'never') pending.push(request)
      else void request.respond(answer)
    }
    page.on('request', handle)
    await page.setRequestInterception(true)
    return async () => {
      page.off('request', handle)
      await Promise.allSettled(pending.map((request) => request.abort())) // otherwise the server would get them now
      await page.setRequestInterception(false)
    }
  }
}

/** Opens the export on the screen of the server's state. */
export async function openExport({ page }: Visit): Promise<void> {
  const summary = await page.waitForSelector('.export summary')
  await summary?.click()
  await page.waitForSelector('.export button', { visible: true })
}

/** Scrolls to a section below the first screen, and waits until it is rendered. */
export function showSection(selector: string): NonNullable<State['act']> {
  return async ({ page }) => {
    // Repeats, since data that load above the section move it.
    const hasContent = (selector: string) => {
      const section = document.querySelector(selector)
      section?.scrollIntoView()
      return section?.querySelector('.data, .notice, .button') != null
    }
    await page.waitForFunction(hasContent, { polling: 100 }, selector)
  }
}

async function submitSecret(visit: Visit, secret: string): Promise<void> {
  await fill(visit.page, '.secret [type=password]', secret)
  await visit.page.click('.secret [type=submit]')
  await waitForText(visit, '.refusal', /./)
}

export async function fill(page: Page, selector: string, text: string): Promise<void> {
  const field = await page.waitForSelector(selector, { visible: true })
  await field?.evaluate((input) => (input as HTMLInputElement).select())
  await field?.type(text)
}

/** Sets the text of a field at once. */
async function setField(page: Page, selector: string, text: string): Promise<void> {
  await page.waitForSelector(selector)
  const set = (field: Element, value: string) => {
    ;(field as HTMLTextAreaElement).value = value
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  await page.$eval(selector, set, text)
}

/** Pastes rows, and waits until they are read. */
async function pasteRows({ page }: Visit, text: string): Promise<void> {
  await setField(page, 'textarea.pasted', text)
  await page.waitForSelector(':is(.convert-rows, .convert-rows .button.main):enabled')
}

/** Selects a file to upload, as from the dialog of the browser. */
async function selectFile(page: Page, name: string): Promise<void> {
  await page.waitForSelector('.choose:enabled')
  await page.$eval(
    '.drop input',
    (input, name) => {
      const files = new DataTransfer()
      files.items.add(new File([new Uint8Array(100_000)], name, { type: 'image/png' }))
      const field = input as HTMLInputElement
      field.files = files.files
      field.dispatchEvent(new Event('change', { bubbles: true }))
    },
    name,
  )
}

/** Signs in with the secrets of a state. */
export async function startSession(visit: Visit, app: PageApp, session: State['session']): Promise<void> {
  const { page, url } = visit
  if (session === 'nobody') return
  await fill(page, '.secret [type=password]', session === 'token' ? app.token : app.key)
  await page.click('.secret [type=submit]')
  await page.waitForSelector('.tabs')
  if (session === 'key' || session === 'token') return
  await page.goto(`${url}/#documents`)
  await enterSecret(visit, app.token)
}
