// Every screen and state of the page, and how a visitor comes there. The looks of each are held by the tests beside this.

import type { HTTPRequest, Page } from 'puppeteer-core'
import { until } from '../support/terminal.ts'
import { loginPath } from './box.ts'
import { enter, type PageApp, says, type Visit } from './support.ts'

export type State = {
  name: string
  /** Which session it needs; `empty`: one with a box without rates. */
  as: 'nobody' | 'key' | 'token' | 'both' | 'empty'
  /** The fragment of its address. */
  at?: string
  /** What is done before the address is opened; it is undone afterwards. */
  before?(page: Page): Promise<() => Promise<unknown>>
  /** What is done then. */
  after?(seen: Visit, box: PageApp): Promise<unknown>
  /** What tells that it is reached. */
  shows: string
  /** The page is not at rest in it. */
  isWaiting?: boolean
}

const BUSY = { status: 503, contentType: 'application/json', body: '{"detail":"The server is starting."}' }
const FILTERED = '#documents?company=8'

export const STATES: readonly State[] = [
  { name: 'signed out', as: 'nobody', shows: '.secret' },
  {
    name: 'no secret',
    as: 'nobody',
    shows: '.refusal:not(:empty)',
    after: (seen) => tryToEnter(seen, 'clave'),
  },
  {
    name: 'wrong secret',
    as: 'nobody',
    shows: '.refusal:not(:empty)',
    after: (seen) => tryToEnter(seen, 'cbk_wrong'),
  },
  {
    name: 'one-time link',
    as: 'both',
    shows: '[aria-labelledby=one-time-link] .caution',
    after: async ({ page, url }, box) => page.goto(url + (await loginPath(box))),
  },
  {
    name: 'used link',
    as: 'nobody',
    at: `#login=${'x'.repeat(32)}`,
    shows: '[aria-labelledby=one-time-link]',
  },
  { name: 'needs a key', as: 'token', shows: '.secret' },
  { name: 'needs a token', as: 'key', at: '#documents', shows: '.secret' },
  {
    name: 'adding a token',
    as: 'key',
    shows: 'dialog[open] .secret',
    after: async ({ page }) => {
      await page.click('.menu summary')
      await page.click('.menu .link')
    },
  },
  { name: 'server is starting', as: 'both', before: answering(/^\/session/, BUSY), shows: 'main > .notice' },

  { name: 'rates', as: 'both', shows: '.currency' },
  {
    name: 'day without a value',
    as: 'both',
    at: '#rates?on=2026-11-19',
    before: answering(/\/rates\/latest$/, {
      contentType: 'application/json',
      body: JSON.stringify({
        ...{ provider: 'bccr', pair: 'USD/CRC', rate_date: '2026-11-18' },
        ...{ compra: '484.98', venta: '490.84', referencia: null },
      }),
    }),
    shows: '.dollar-facts .caution',
  },
  { name: 'day after tomorrow', as: 'both', at: '#rates?on=2030-01-01', shows: '.dollar .notice' },
  { name: 'day before all', as: 'both', at: '#rates?on=1950-01-01', shows: '.dollar .notice' },
  {
    name: 'whole history as a table',
    as: 'both',
    at: '#rates?span=all&table=true',
    shows: '.history-table tbody th',
  },
  { name: 'one currency', as: 'both', at: '#rates?pair=EUR/USD&span=1m', shows: '.statistics td' },
  { name: 'empty span', as: 'both', at: '#rates?from=1950-01-01&to=1950-02-01', shows: '.history .notice' },
  { name: 'menu', as: 'both', shows: '.menu[open]', after: ({ page }) => page.click('.menu summary') },
  {
    name: 'amount of two meanings',
    as: 'both',
    shows: '.reading.refusal',
    after: ({ page }) => fill(page, '.amount', '1.2,3.4'),
  },
  {
    name: '25 digits',
    as: 'both',
    at: '#rates?amount=1234567890123456789012345.67',
    shows: '.result output',
  },
  { name: 'no conversion', as: 'both', at: '#rates?source=XXX', shows: '.outcome .refusal' },
  { name: 'months', as: 'both', shows: '.months .last', after: scrollTo('.months') },
  {
    name: 'months of a cross',
    as: 'both',
    at: '#rates?months=EUR/CRC&year=2025',
    shows: '.months .last',
    after: scrollTo('.months'),
  },
  {
    name: 'months without a value',
    as: 'both',
    at: '#rates?months=EUR/USD&year=1950',
    shows: '.months .notice',
    after: scrollTo('.months'),
  },
  {
    name: 'months loading',
    as: 'both',
    before: answering(/^\/api\/v1\/history$/, 'never'),
    shows: '.months .awaited',
    after: scrollTo('.months'),
    isWaiting: true,
  },
  {
    name: 'months busy',
    as: 'both',
    before: answering(/^\/api\/v1\/history$/, BUSY),
    shows: '.months .notice',
    after: scrollTo('.months'),
  },
  { name: 'export', as: 'both', shows: '.export button', after: scrollTo('.export') },
  {
    name: 'export refused',
    as: 'both',
    before: answering(/^\/session\/ticket$/, BUSY),
    shows: '.export .refusal',
    async after(seen, box) {
      await scrollTo('.export')(seen, box)
      await seen.page.click('.export button')
    },
  },
  {
    name: 'no currency is found',
    as: 'both',
    shows: '.currencies .notice',
    after: ({ page }) => fill(page, '.search input', 'zzz'),
  },
  {
    name: 'rates loading',
    as: 'both',
    before: answering(/^\/api/, 'never'),
    shows: '.dollar',
    isWaiting: true,
  },
  { name: 'rates busy', as: 'both', before: answering(/^\/api/, BUSY), shows: 'main .notice' },
  {
    name: 'rates offline',
    as: 'both',
    shows: '.banner',
    after: async ({ page }) => {
      await page.waitForSelector('.currency')
      await page.setOfflineMode(true)
      await page.evaluate(() => dispatchEvent(new Event('offline'))) // which the switch of the tools does not fire
    },
  },

  { name: 'documents', as: 'both', at: '#documents', shows: '.document' },
  { name: 'no documents', as: 'both', at: FILTERED, shows: '.received .notice' },
  {
    name: 'documents loading',
    as: 'both',
    at: '#documents',
    before: answering(/^\/api/, 'never'),
    shows: '.received .loading',
    isWaiting: true,
  },
  {
    name: 'documents busy',
    as: 'both',
    at: '#documents',
    before: answering(/^\/api/, BUSY),
    shows: '.received .notice',
  },
  ...(
    [
      ['text', 'xml', '.preview .text'],
      ['markup', 'onerror', '.preview .text'],
      ['image', 'png', '.preview img'],
      ['PDF', 'pdf', '.preview .notice'],
      ['another type', 'zip', '.preview .notice'],
    ] as const
  ).map(([what, name, shows]) => ({
    name: `preview of ${what}`,
    as: 'both' as const,
    at: '#documents',
    shows,
    after: async ({ page }: Visit) => {
      const row = await page.waitForSelector(`.document-tools button[aria-label*="${name}"]`)
      await row?.evaluate((button) => (button as HTMLElement).click())
    },
  })),
  {
    name: 'upload under way',
    as: 'both',
    at: '#documents?company=8',
    before: answering(/\/documents\/create$/, 'never'),
    shows: '.sending progress',
    after: ({ page }) => choose(page, 'escaneo.png'),
  },
  {
    name: 'upload refused',
    as: 'both',
    at: '#documents?company=8',
    before: answering(/\/documents\/create$/, { ...BUSY, status: 413 }),
    shows: '.sent.bad',
    after: ({ page }) => choose(page, 'demasiado-grande-y-con-un-nombre-que-tampoco-es-corto.png'),
  },
  { name: 'status', as: 'both', at: '#status', shows: '.runs .pill' },
  {
    name: 'status loading',
    as: 'both',
    at: '#status',
    before: answering(/status$/, 'never'),
    shows: '.status .loading',
    isWaiting: true,
  },
  {
    name: 'status busy',
    as: 'both',
    at: '#status',
    before: answering(/status$/, BUSY),
    shows: '.status .notice',
  },

  { name: 'empty box', as: 'empty', shows: '.command' },
  { name: 'empty box, status', as: 'empty', at: '#status', shows: '.runs .quiet' },
  { name: 'empty box, documents', as: 'empty', at: '#documents', shows: '.received .notice' },
]

/** Brings a page to a state, and answers with what brings it back. */
export async function reach(seen: Visit, box: PageApp, state: State): Promise<() => Promise<void>> {
  const { page, url } = seen
  await page.goto('about:blank')
  const undo = await state.before?.(page)
  await page.goto(`${url}/${state.at ?? '#rates'}`)
  if (!state.isWaiting && state.as !== 'nobody' && !state.before) await rest(page)
  await state.after?.(seen, box)
  await page.waitForSelector(state.shows, { visible: true })
  if (!state.isWaiting) await rest(page)
  return async () => {
    await page.setOfflineMode(false)
    await undo?.()
  }
}

/** Waits until what is shown changes no more. */
export async function rest(page: Page): Promise<void> {
  let before = ''
  await until(async () => {
    const [now, isBusy] = await page.evaluate(() => [
      document.body.textContent,
      document.querySelector('main :is([aria-busy="true"], .loading, .awaited:empty, .preview-wait)') !==
        null,
    ])
    const isSame = before === now && now !== ''
    before = String(now)
    if (!isSame) await new Promise((resolve) => setTimeout(resolve, 50))
    return isSame && !isBusy
  })
}

/** Answers requests of some paths in place of the server, or never. */
function answering(path: RegExp, answer: Parameters<HTTPRequest['respond']>[0] | 'never') {
  return async (page: Page) => {
    const held: HTTPRequest[] = []
    const handle = (request: HTTPRequest) => {
      if (!path.test(new URL(request.url()).pathname)) void request.continue()
      else if (answer === 'never') held.push(request)
      else void request.respond(answer)
    }
    page.on('request', handle)
    await page.setRequestInterception(true)
    return async () => {
      page.off('request', handle)
      await Promise.allSettled(held.map((request) => request.abort())) // else the server would get them now
      await page.setRequestInterception(false)
    }
  }
}

/** What lies below the first screen is made when it is scrolled to. */
export function scrollTo(selector: string): NonNullable<State['after']> {
  return async ({ page }) => {
    // Again and again: what arrives above it moves it away.
    const isThere = (selector: string) => {
      const place = document.querySelector(selector)
      place?.scrollIntoView()
      return place?.querySelector('.data, .notice, .button') != null
    }
    await page.waitForFunction(isThere, { polling: 100 }, selector)
  }
}

async function tryToEnter(seen: Visit, secret: string): Promise<void> {
  await fill(seen.page, '.secret input', secret)
  await seen.page.click('.secret [type=submit]')
  await says(seen, '.refusal', /./)
}

export async function fill(page: Page, selector: string, text: string): Promise<void> {
  const field = await page.waitForSelector(selector, { visible: true })
  await field?.evaluate((input) => (input as HTMLInputElement).select())
  await field?.type(text)
}

/** Chooses a file to send, as from the dialog of the browser. */
async function choose(page: Page, name: string): Promise<void> {
  await page.waitForSelector('.drop .button:enabled')
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

/** Signs a page in with what a state needs. */
export async function enterAs(seen: Visit, box: PageApp, as: State['as']): Promise<void> {
  const { page, url } = seen
  if (as === 'nobody') return
  await fill(page, '.secret input', as === 'token' ? box.token : box.key)
  await page.click('.secret [type=submit]')
  await page.waitForSelector('.tabs')
  if (as === 'key' || as === 'token') return
  await page.goto(`${url}/#documents`)
  await enter(seen, box.token)
}
