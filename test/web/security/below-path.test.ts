// Page and reference behind nginx, at the root and below a path. The lines of the manual are used to sign in.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ElementHandle } from 'puppeteer-core'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { freePort } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import {
  assertClean,
  createDocuments,
  listDownloads,
  openBrowser,
  openPageApp,
  openScreen,
  openVisit,
  setDownloadFolder,
  signIn,
  waitForText,
} from '../support.ts'

const NGINX = '/usr/sbin/nginx'
// At the end of its input the shell ends nginx, also when this process was killed.
const GUARD = '"$0" "$@" <&- & read _; kill $!; wait'
const PDF = { name: 'uno.pdf', mimetype: 'application/pdf', content: '%PDF-1.4\n%%EOF\n' }
const TLS = join(import.meta.dirname, '../../fixtures/tls')
const MANUAL = readFileSync(join(import.meta.dirname, '../../../src/manual/https.md'), 'utf8')
const [ROOT_LINES = '', PATH_LINES = ''] = [...MANUAL.matchAll(/```nginx\n([^`]*)```/g)].map(
  ([, lines]) => lines,
)

const browser = await openBrowser('--ignore-certificate-errors')
const app = await openPageApp({ listen: { proxies: parseNetworks('127.0.0.1/32') } })
const PATHS = ['/', '/cambista/', '/a/b/']

/** Returns the lines of the manual for the app, at the root or below a path. */
function manualLines(path: string): string {
  const below = PATH_LINES.trimEnd().replaceAll('/cambista', path.slice(0, -1))
  const lines = path === '/' ? ROOT_LINES : ROOT_LINES.replace(/location .*\n.*proxy_pass .*/, () => below)
  return lines.replace('http://127.0.0.1:8080', app.app.url)
}

/** Starts nginx with lines of its server, and returns its origin. */
async function startNginx(t: TestContext, lines: string, { tls }: { tls: boolean }): Promise<string> {
  const folder = temporaryDirectory(t)
  const port = await freePort()
  mkdirSync(join(folder, 'logs'))
  const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const certificate = `ssl_certificate ${TLS}/first.crt; ssl_certificate_key ${TLS}/first.key;`
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/pid;
error_log stderr; events {}
http {
access_log off;
${files.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
server {
listen 127.0.0.1:${port}${tls ? ' ssl' : ''}; ${tls ? certificate : ''}
${lines}
}
}
`,
  )
  const child = spawn('sh', [
    '-c',
    GUARD,
    NGINX,
    '-p',
    folder,
    '-c',
    join(folder, 'nginx.conf'),
    '-e',
    'stderr',
  ])
  let printed = ''
  child.stderr.on('data', (data) => {
    printed += data
  })
  const exit = once(child, 'exit')
  t.after(() => {
    child.stdin.end()
    return exit
  })
  await until(async () => {
    assert.equal(child.exitCode, null, printed)
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
  return `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
}

for (const path of PATHS) {
  test(`the page at ${path} of nginx signs in, and shows rates, documents, files and status`, async (t) => {
    const origin = await startNginx(t, manualLines(path), { tls: true })
    const visit = await openVisit(browser, app, { url: origin, path })
    const { page, requests } = visit
    await signIn(visit, app)
    const [id = 0] = await createDocuments(app, [PDF])
    await openScreen(visit, 'documents')
    await page.waitForSelector('.received')
    const folder = temporaryDirectory(t)
    await setDownloadFolder(visit, folder)
    await page.click('.send')
    await page.waitForSelector('.choose:enabled')
    writeFileSync(join(folder, 'enviado.csv'), 'a;b')
    const input = (await page.$('.drop input')) as ElementHandle<HTMLInputElement> | null
    await input?.uploadFile(join(folder, 'enviado.csv'))
    await page.waitForSelector('.sent.good')
    await page.goto(`${origin}${path}#documents?document=${id}`)
    await page.waitForSelector('.view-button')
    await page.click('.download-button')
    await until(() => listDownloads(folder).length === 2)
    await page.click('.view-button')
    await until(() => browser.targets().some((one) => one.url().startsWith(`${origin}${path}t/`)))
    await page.bringToFront()
    await openScreen(visit, 'status')
    await page.waitForSelector('.buttons button:enabled')
    await page.$$eval('.buttons button', ([button]) => (button as HTMLElement).click())
    await until(() => listDownloads(folder).length === 3)
    await page.goto(
      `${origin}${path}#rates/certificate?amount=10&source=USD&target=CRC&side=venta&on=2026-11-20`,
    )
    await page.waitForSelector('.paper')
    const foot = await page.$eval('.paper-foot', ({ textContent }) => textContent)
    assert.ok(foot?.includes(`${new URL(origin).host}${path.slice(0, -1)}`), foot ?? '')
    const [cookie] = await page.browserContext().cookies()
    assert.deepEqual([cookie?.name, cookie?.path], ['__Host-cambista', '/'])
    assert.deepEqual(
      requests.filter((one) => !one.startsWith(`${origin}${path}`) && !/^(data|blob):/.test(one)),
      [],
    )
    assertClean(visit)
    const screenshots = process.env.CAMBISTA_SCREENSHOTS
    if (screenshots)
      await page.screenshot({ path: join(screenshots, `page${path.replaceAll('/', '-')}.png`) })
  })

  test(`guides and reference at ${path}docs of an nginx without a setting`, async (t) => {
    const lines = `location ${path} { proxy_pass ${app.app.url}/; }`
    const origin = await startNginx(t, lines, { tls: false })
    const root = `${origin}${path}`
    const visit = await openVisit(browser, app, { url: origin, path, language: 'en' })
    const { page, requests } = visit
    await page.waitForSelector('form.secret')
    await Promise.all([page.waitForNavigation(), page.click('a[href=docs]')])
    assert.equal(page.url(), `${root}docs`)
    const click = (text: string) =>
      Promise.all([
        page.waitForNavigation(),
        page.$$eval(
          'header a',
          (all, name) => all.find(({ textContent }) => textContent?.includes(name))?.click(),
          text,
        ),
      ])
    for (const [link, address] of [
      ['Español', 'docs/es'],
      ['Referencia', 'docs/es/reference'],
      ['English', 'docs/reference'],
    ] as const) {
      await click(link)
      assert.equal(page.url(), root + address)
      if (!address.endsWith('reference')) continue
      await waitForText(visit, '#reference', /\/api\/v1\/rates\/latest/)
      await waitForText(visit, '#reference', new RegExp(`${root.slice(0, -1)}(?!/\\.)`))
      const screenshots = process.env.CAMBISTA_SCREENSHOTS
      const name = `docs${path}${address}`.replaceAll('/', '-')
      if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) })
    }
    await page.goto(`${root}docs#tag/rates`)
    await page.waitForFunction(() => location.pathname.endsWith('/docs/reference'))
    await click('cambista')
    assert.equal(page.url(), root)
    await page.goto(`${root}rates/nothing`)
    assert.equal(await page.$eval('nav a', (link) => (link as HTMLAnchorElement).href), `${root}#rates`)
    assert.ok(requests.every((one) => one.startsWith(root) || /^(data|blob):/.test(one)))
    const description = (await (await fetch(`${root}openapi.json`)).json()) as { servers: { url: string }[] }
    assert.equal(description.servers[0]?.url, '.')
  })
}
