// The open list of documents follows new ones, also after it lost the connection or the server restarted.

import assert from 'node:assert/strict'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { DOCUMENTS } from '../../src/web/i18n/documents-texts.ts'
import { PAGE } from '../../src/web/i18n/page.ts'
import { inLanguage } from '../../src/web/i18n/table-texts.ts'
import { temporaryDirectory } from '../support/app.ts'
import { makeDirectory, runJson } from '../support/company.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/terminal.ts'
import {
  assertClean,
  createDocuments,
  enterSecret,
  openEngine,
  openPageApp,
  openScreen,
  openVisit,
  type PageApp,
  signIn,
  type Visit,
  waitForText,
} from './support.ts'

const browser = await openEngine()
const app = await openPageApp()
const text = (name: string) => ({ name, mimetype: 'text/plain', content: `the text of ${name}` })
const readNames = ({ page }: Visit) =>
  page.$$eval('.document h3', (elements) => elements.map((one) => one.textContent ?? ''))
const waitForNames = (visit: Visit, names: string[]) =>
  until(async () => String(await readNames(visit)) === String(names))
const WORDS = inLanguage(DOCUMENTS, 'en').documents
const { failures } = inLanguage(PAGE, 'en')

test('the open list adds documents of another client at its top', async () => {
  const visit = await openVisit(browser, app)
  await signIn(visit, app)
  await openScreen(visit, 'documents')
  await waitForText(visit, '.notice', new RegExp(WORDS.none))
  await createDocuments(app, [text('one.txt')])
  await waitForNames(visit, ['one.txt'])
  await waitForText(visit, '.live', new RegExp(WORDS.fresh(1)))
  await createDocuments(app, [text('two.txt'), text('three.txt')])
  await waitForNames(visit, ['three.txt', 'two.txt', 'one.txt'])
  await waitForText(visit, '.live', new RegExp(WORDS.fresh(3)))
  assertClean(visit)
})

test('the list reports a lost connection, and adds documents created before it returned', async (t) => {
  const line = await openLine(t, new URL(app.app.url))
  const visit = await openVisit(browser, app, { url: line.url, path: '/#documents' })
  await enterSecret(visit, app.token)
  await until(async () => (await readNames(visit)).length > 0)
  const before = await readNames(visit)
  await line.cut()
  await waitForText(visit, '.live', new RegExp(WORDS.waiting))
  await waitForText(visit, '.received .refusal', new RegExp(failures.kinds.offline))
  assert.deepEqual(await readNames(visit), before) // loaded documents stay
  await createDocuments(app, [text('meanwhile.txt'), text('meanwhile-too.txt')])
  await line.mend()
  await waitForNames(visit, ['meanwhile-too.txt', 'meanwhile.txt', ...before])
  await until(async () => (await visit.page.$('.received .refusal')) === null)
})

test('the list reports a killed server, and is complete and signed in after a restart', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const allow = ['--allow', 'documents:GET', '--allow', 'documents:POST']
  const { token } = await runJson<{ token: string }>(dataDir, 'token', 'create', 'facturas', ...allow)
  const words = ['serve', '--no-scheduler', '--data-dir', dataDir, '--port']
  const first = startProgram(t, [...words, '0'])
  const [url = ''] = await first.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)
  const restarted: PageApp = { ...app, app: { ...app.app, url }, token }
  await createDocuments(restarted, [text('before.txt')])
  const visit = await openVisit(browser, restarted, { path: '/#documents' })
  await enterSecret(visit, token)
  await waitForNames(visit, ['before.txt'])
  first.child.kill('SIGKILL')
  await first.waitForExit()
  await waitForText(visit, '.live', new RegExp(WORDS.waiting))
  await waitForText(visit, '.received .refusal', new RegExp(failures.kinds.offline))
  assert.deepEqual(await readNames(visit), ['before.txt'])
  const second = startProgram(t, [...words, new URL(url).port])
  await second.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)
  await createDocuments(restarted, [text('after.txt')])
  await waitForNames(visit, ['after.txt', 'before.txt'])
  await createDocuments(restarted, [text('later.txt')])
  await waitForNames(visit, ['later.txt', 'after.txt', 'before.txt'])
})

/** Starts a TCP proxy before the app, with its own port, that can be closed and reopened. */
async function openLine(t: TestContext, { port }: URL) {
  const sockets = new Set<Socket>()
  let server: Server
  const listen = async (at: number) => {
    server = createServer((near) => {
      const far = connect(Number(port), '127.0.0.1')
      for (const end of [near, far]) {
        sockets.add(end)
        end.on('close', () => sockets.delete(end)).on('error', () => {})
      }
      near.on('close', () => far.destroy())
      far.on('close', () => near.destroy())
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  }
  const cut = () => {
    const close = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    return close
  }
  const own = await listen(0)
  t.after(cut)
  return { url: `http://127.0.0.1:${own}`, cut, mend: () => listen(own) }
}
