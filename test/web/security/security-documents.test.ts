// Hostile documents and names, with markup and scripts, in the list, the preview and the download.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DOCUMENT } from '../../../src/web/i18n/document.ts'
import { inLanguage } from '../../../src/web/i18n/table-texts.ts'
import { visibleText } from '../../../src/web/model/visible.ts'
import { temporaryDirectory } from '../../support/app.ts'
import { until } from '../../support/terminal.ts'
import {
  assertClean,
  createDocuments,
  enterSecret,
  listDownloads,
  openBrowser,
  openPageApp,
  openVisit,
  setDownloadFolder,
  waitForText,
} from '../support.ts'
import { openWebsite } from './attacker.ts'

const browser = await openBrowser()
const app = await openPageApp()
const website = await openWebsite()
const REMOTE = `http://127.0.0.1:${website.port}/pixel.png`
const SCRIPT = `window.taken=1;fetch('${REMOTE}')`
const WORDS = inLanguage(DOCUMENT, 'en').preview
const NAMES = [
  `<img src=${REMOTE} onerror="${SCRIPT}">.txt`,
  `"><script>${SCRIPT}</script>.md`,
  "=HYPERLINK('x').csv",
  '\u202egnp.exe',
  '{{constructor.constructor("window.taken=1")()}}',
]
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}"><image href="${REMOTE}"/><script>${SCRIPT}</script></svg>`
const HTML = `<!doctype html><img src="${REMOTE}"><script>${SCRIPT}</script><meta http-equiv=refresh content="0;${REMOTE}">`
const MARKDOWN = `![x](${REMOTE}) <img src=x onerror="${SCRIPT}"> [y](javascript:${encodeURIComponent(SCRIPT)})`
const PDF = `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL("${REMOTE}"))>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/AA<</O<</S/URI/URI(${REMOTE})>>>>>>endobj
trailer<</Root 1 0 R>>\n%%EOF\n`

/** Hostile documents, and their preview: the text, or a notice. */
const HOSTILE: [name: string, mimetype: string, content: string, preview: 'text' | RegExp][] = [
  ['drawing.svg', 'image/svg+xml', SVG, 'text'],
  ['page.html', 'text/html', HTML, 'text'],
  ['page.xhtml', 'application/xhtml+xml', HTML, 'text'],
  ['notes.md', 'text/markdown', MARKDOWN, 'text'],
  ['data.json', 'application/json', '{"__proto__":{"taken":1}}', 'text'],
  ['drawing.png', 'image/png', SVG, new RegExp(WORDS.notAnImage)],
  ['page.gif', 'image/gif', `GIF87b${HTML}`, new RegExp(WORDS.notAnImage)],
  ['script.pdf', 'application/pdf', PDF, new RegExp(WORDS.pdfText)],
  ['fake.pdf', 'application/pdf', HTML, new RegExp(WORDS.pdfText)],
  ['macro.docm', 'application/vnd.ms-word.document.macroEnabled.12', HTML, new RegExp(WORDS.notShown)],
  ['what.bin', 'text/html; charset=utf-7', '+ADw-script+AD4-', 'text'],
  ...NAMES.map((name): (typeof HOSTILE)[number] => [name, 'text/html', HTML, 'text']),
]

for (const [name, mimetype, content, preview] of HOSTILE) {
  test(`${JSON.stringify(name)} of the type ${mimetype} does no harm in list, preview and download`, async (t) => {
    await createDocuments(app, [{ name, mimetype, content }])
    const visit = await openVisit(browser, app, { path: '/#documents' })
    const { page } = visit
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => visit.errors.push('a dialog')))
    await enterSecret(visit, app.token)
    await page.waitForSelector('.document')
    assert.equal(await page.$eval('.document h3 bdi', (found) => found.textContent), visibleText(name))
    await page.click('.document-open')
    if (preview === 'text') {
      await page.waitForSelector('.preview pre')
      assert.equal(await page.$eval('.preview pre', (found) => found.textContent), content)
    } else {
      await waitForText(visit, '.preview .notice', preview)
      assert.equal(await page.$('.preview :is(pre, img, iframe, object, embed)'), null)
    }
    assert.equal(await page.$eval('#panel-title', (found) => found.textContent), visibleText(name))
    const folder = temporaryDirectory(t)
    await setDownloadFolder(visit, folder)
    await page.click('.download-button')
    await until(() => listDownloads(folder).length > 0)
    const [file = ''] = listDownloads(folder)
    assert.equal(readFileSync(join(folder, file), 'utf8'), content)
    assert.equal(await page.evaluate(() => 'taken' in window || 'taken' in {}), false)
    assertClean(visit)
    await page.browserContext().close()
  })
}

after(() => assert.deepEqual(website.requests, []))

test('a PDF with a script opens in its own tab without an opener', async () => {
  await createDocuments(app, [{ name: 'script.pdf', mimetype: 'application/pdf', content: PDF }])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, app.token)
  await visit.page.waitForSelector('.document')
  await visit.page.click('.document-open')
  const isTab = (url: string) => new URL(url).pathname.startsWith('/t/')
  const newTarget = browser.waitForTarget((target) => target.type() === 'page' && isTab(target.url()))
  await visit.page.waitForSelector('.view-button')
  await visit.page.click('.view-button')
  const tab = await (await newTarget).page()
  assert.ok(tab)
  assert.equal(await tab.evaluate(() => window.opener), null)
  assert.match(await tab.evaluate(() => location.pathname), /^\/t\//)
  assertClean(visit)
})

test('a document that is falsely declared a PDF opens no tab but a notice', async () => {
  await createDocuments(app, [{ name: 'fake.pdf', mimetype: 'application/pdf', content: HTML }])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, app.token)
  await visit.page.waitForSelector('.document')
  await visit.page.click('.document-open')
  await visit.page.waitForSelector('.view-button')
  const before = (await browser.pages()).length
  await visit.page.click('.view-button')
  await waitForText(visit, '.details .refusal', new RegExp(WORDS.notAPdf))
  assert.equal((await browser.pages()).length, before)
})
