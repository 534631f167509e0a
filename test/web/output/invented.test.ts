// The page of a store with invented values: no screen, print, file or copy names the bank as their source.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { printedText } from '../paper.ts'
import { fill, startSession, waitForIdle } from '../states.ts'
import {
  assertClean,
  chooseFile,
  listDownloads,
  nextCopy,
  openBrowser,
  openPageApp,
  openVisit,
  setDownloadFolder,
  type Visit,
} from '../support.ts'
import { openInCalc } from './calc.ts'

const BANK = /BCCR|Banco Central|Central Bank/
const CERTIFICATE = '#rates/certificate?amount=1500&source=EUR&target=CRC&side=venta&on=2026-11-18'
const SCREENS = [
  '#rates?span=3m&table=true&amount=10.04&source=JPY',
  '#rates/closes?months=EUR/CRC&year=2026',
  ...['#rates/list', '#rates/differential', CERTIFICATE, '#documents', '#status'],
]
const WORDS = {
  es: { band: 'Valores inventados: demostración', source: 'Fuente: Valores inventados' },
  en: { band: 'Invented values: demonstration', source: 'Source: Invented values' },
}
type Language = keyof typeof WORDS

const browser = await openBrowser()
const app = await openPageApp({ providers: [{ ...bccr, isInvented: true }] })

async function show(language: Language, fragment: string): Promise<Visit> {
  const visit = await openVisit(browser, app, { language })
  await startSession(visit, app, 'both')
  await visit.page.goto(`${visit.url}/${fragment}`)
  await waitForIdle(visit.page)
  return visit
}

/** Visible text of the screen, without the law that names the bank. */
async function screenText({ page }: Visit): Promise<string> {
  return page.$eval('#app', (root) =>
    // biome-ignore lint/performance/useDomNodeTextContent: hidden text is no part of the screen
    (root as HTMLElement).innerText.replaceAll(/^.*(?:Ley|Law) \d.*$/gm, ''),
  )
}

for (const language of ['es', 'en'] as const) {
  const { band, source } = WORDS[language]

  test(`each screen has the band of invented values, ${language}`, async () => {
    const visit = await openVisit(browser, app, { language })
    await visit.page.waitForSelector('form.secret')
    const texts = [await screenText(visit)]
    await startSession(visit, app, 'both')
    for (const fragment of SCREENS) {
      await visit.page.goto(`${visit.url}/${fragment}`)
      await waitForIdle(visit.page)
      await visit.page.evaluate(() => scrollTo(0, document.body.scrollHeight))
      await waitForIdle(visit.page) // a section that comes into view loads
      const top = await visit.page.$eval('.invented', (one) => one.getBoundingClientRect().top)
      assert.equal(top, 0, `the band of ${fragment} stays in view`)
      texts.push(await screenText(visit))
    }
    for (const text of texts) {
      assert.equal(text.split('\n')[0], band)
      assert.ok(text.includes(source), text)
      assert.doesNotMatch(text, BANK)
    }
    assertClean(visit)
  })

  test(`each printed page has the watermark of invented values, ${language}`, async (t) => {
    for (const fragment of [SCREENS[0] ?? '', SCREENS[1] ?? '', CERTIFICATE, '#documents']) {
      const visit = await show(language, fragment)
      const pages = (await printedText(t, visit.page)).split('\f').slice(0, -1)
      for (const page of pages) {
        assert.ok(page.replace(/\s+/g, ' ').includes(band.split(':')[0] ?? ''), `${fragment}: ${page}`)
        assert.doesNotMatch(page, BANK)
      }
    }
  })

  test(`workbooks and copies name invented values, ${language}`, async (t) => {
    const folder = temporaryDirectory(t)
    for (const [fragment, selector] of [
      [SCREENS[0], '.history-tools'],
      [SCREENS[1], '.months'],
      [SCREENS[0], '.currencies'],
    ] as const) {
      const visit = await show(language, fragment ?? '')
      await visit.page.$eval('.below, .months', (one) => one.scrollIntoView({ block: 'end' }))
      const target = join(folder, selector)
      mkdirSync(target)
      await setDownloadFolder(visit, target)
      await chooseFile(visit, selector, 'excel')
      await until(() => listDownloads(target).length === 1)
      const [sheet = ''] = await openInCalc(
        t,
        'fods',
        [join(target, listDownloads(target)[0] ?? '')],
        'es-CR',
      )
      const xml = readFileSync(sheet, 'utf8')
      assert.match(xml, new RegExp(`<text:p>${source}`))
      assert.doesNotMatch(xml.replaceAll(/xmlns:\S+/g, ''), BANK)
    }
    const closes = await show(language, SCREENS[1] ?? '')
    await closes.page.waitForSelector('.months .buttons button:enabled')
    await closes.page.click('.months .buttons button')
    const { text, html } = await nextCopy(closes)
    assert.equal(text.trimEnd().split('\r\n').at(-1), source)
    assert.match(html, new RegExp(`>${source}</td></tr></table>$`))
    const list = await show(language, '#rates/list')
    await fill(list.page, 'textarea.pasted', '03/04/2026\t4133,544\tUSD\n12/11/2026\t184\tJPY')
    await list.page.waitForSelector('.convert-rows:enabled')
    await list.page.click('.convert-rows')
    await list.page.waitForSelector('.list-table')
    await waitForIdle(list.page)
    assert.doesNotMatch(await screenText(list), BANK)
    await list.page.click('.list-result .buttons > button')
    assert.equal((await nextCopy(list)).text.trimEnd().split('\r\n').at(-1), source)
  })
}
