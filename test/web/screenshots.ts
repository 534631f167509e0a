// npm run screenshots: captures the picture of the README from the demo. With a folder as argument it captures all
// screens: both languages and themes, desk, phone and the narrowest one. Requires Debian's chromium and pngquant.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, launch, type Page } from 'puppeteer-core'
import { startProgram } from '../support/program.ts'
import { waitForIdle } from './states.ts'
import { CHROMIUM, DESKTOP, PHONE } from './support.ts'

const NARROW = { ...PHONE, width: 320, height: 640 }
const README_IMAGE = join(import.meta.dirname, '../../.github/page.png')
const LINK = /http:\S+\/#login=[\w-]+/
const SCREENS = {
  rates: 'rates',
  closes: 'rates/closes?months=EUR/CRC',
  list: 'rates/list',
  differential: 'rates/differential',
  certificate: 'rates/certificate?amount=1500&source=EUR&target=CRC&side=venta&on=2026-11-20',
  documents: 'documents',
  status: 'status',
}
const [folder] = process.argv.slice(2)

const ends: (() => unknown)[] = []
const program = startProgram({ after: (end) => ends.push(end as () => unknown) }, ['demo', '--port', '0'])
try {
  const [link] = await program.waitForOutput(LINK)
  const [upload = ''] = program.printed.out.match(/curl .*documents\/create'$/m) ?? []
  await program.waitForOutput(/History complete/)
  const browser = await launch({
    executablePath: CHROMIUM,
    pipe: true, // the browser ends with this process
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  ends.push(() => browser.close())
  const page = await signIn(browser, link)
  await fillDocuments(upload)
  if (folder === undefined) {
    await page.setViewport({ width: 1280, height: 846 })
    await open(page, { fragment: 'rates', language: 'en', colours: 'light' })
    writeFileSync(README_IMAGE, await page.screenshot())
    execFileSync('pngquant', [
      '--quality=80-98',
      '--speed=1',
      '--strip',
      '--force',
      '--ext=.png',
      README_IMAGE,
    ])
  } else {
    mkdirSync(folder, { recursive: true })
    await captureScreens(page, folder)
  }
} finally {
  for (const end of ends.reverse()) await end()
}

async function signIn(browser: Browser, link: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(link)
  await page.waitForSelector('.door .main')
  await page.click('.door .main')
  await page.waitForSelector('.statistics td')
  return page
}

type Look = { fragment: string; language: string; colours: string }

async function open(page: Page, { fragment, language, colours }: Look): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
  await page.evaluate((language) => localStorage.setItem('cambista-language', language), language)
  const address = new URL(page.url())
  await page.goto('about:blank')
  await page.goto(`${address.origin}/#${fragment}`)
  await page.waitForSelector('.statistics td, .document, .runs .pill, .months td, .paste, .positions, .paper')
  await page.keyboard.press('Shift') // renders the sections below
  await waitForIdle(page)
}

async function captureScreens(page: Page, folder: string): Promise<void> {
  for (const [place, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE, narrow: NARROW })) {
    await page.setViewport(viewport)
    for (const [screen, fragment] of Object.entries(SCREENS)) {
      for (const language of ['es', 'en']) {
        for (const colours of ['light', 'dark']) {
          await open(page, { fragment, language, colours })
          const name = `${[place, screen, language, colours].join('-')}.png`
          writeFileSync(join(folder, name), await page.screenshot({ fullPage: true }))
        }
      }
    }
  }
}

/** Creates documents with the request that the demo prints. */
async function fillDocuments(curl: string): Promise<void> {
  const [, authorization = '', body = '', url = ''] =
    /-H 'Authorization: (.*?)' -d '(\{.*\})' '(http.*?)'/.exec(curl) ?? []
  const [, ids = ''] = /^(\{.*?)"documents"/.exec(body) ?? []
  for (const [name, mimetype] of [
    ['Contrato de arrendamiento.pdf', 'application/pdf'],
    ['sello.png', 'image/png'],
    ['Estado de cuenta octubre.csv', 'text/csv'],
    ['FE-00100001010000000123.xml', 'application/xml'],
  ]) {
    const documents = JSON.stringify([{ name, mimetype, base64: btoa(`${name}\n`) }])
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: `${ids}"documents":${documents}}` })
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
  }
}
