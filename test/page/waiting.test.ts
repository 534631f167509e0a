// What arrives appears by itself in the list that is open, also after the server or the line to it was gone.

import assert from 'node:assert/strict'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { EN } from '../../src/web/texts/en.ts'
import { EN_DOCUMENTS } from '../../src/web/texts/en-documents.ts'
import { temporaryDirectory } from '../support/app.ts'
import { makeDirectory, runJson } from '../support/company.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/terminal.ts'
import {
  assertClean,
  enter,
  openBrowser,
  openPageApp,
  openScreen,
  type PageApp,
  post,
  says,
  signIn,
  type Visit,
  visit,
} from './support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const text = (name: string) => ({ name, mimetype: 'text/plain', content: `the text of ${name}` })
const namesIn = ({ page }: Visit) =>
  page.$$eval('.document h3', (found) => found.map((one) => one.textContent ?? ''))
const shows = (seen: Visit, names: string[]) =>
  until(async () => String(await namesIn(seen)) === String(names))
const WORDS = EN_DOCUMENTS.documents

test('a document that another client sends joins the open list by itself, newest first', async () => {
  const seen = await visit(browser, app)
  await signIn(seen, app)
  await openScreen(seen, 'documents')
  await says(seen, '.notice', new RegExp(WORDS.none))
  await post(app, [text('one.txt')])
  await shows(seen, ['one.txt'])
  await says(seen, '.live', new RegExp(WORDS.fresh(1)))
  await post(app, [text('two.txt'), text('three.txt')])
  await shows(seen, ['three.txt', 'two.txt', 'one.txt'])
  await says(seen, '.live', new RegExp(WORDS.fresh(3)))
  assertClean(seen)
})

test('a line that is cut is said in words, and nothing that came meanwhile is missed', async (t) => {
  const line = await openLine(t, new URL(app.app.url))
  const seen = await visit(browser, app, { url: line.url, path: '/#documents' })
  await enter(seen, app.token)
  await until(async () => (await namesIn(seen)).length > 0)
  const before = await namesIn(seen)
  await line.cut()
  await says(seen, '.live', new RegExp(WORDS.waiting))
  await says(seen, '.received .refusal', new RegExp(EN.failures.offline))
  assert.deepEqual(await namesIn(seen), before) // what is known stays
  await post(app, [text('meanwhile.txt'), text('meanwhile-too.txt')])
  await line.mend()
  await shows(seen, ['meanwhile-too.txt', 'meanwhile.txt', ...before])
  await until(async () => (await seen.page.$('.received .refusal')) === null)
})

test('a server that is killed and started again is said in words; signed in again, nothing is missing', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const allow = ['--allow', 'documents:GET', '--allow', 'documents:POST']
  const { token } = await runJson<{ token: string }>(dataDir, 'token', 'create', 'facturas', ...allow)
  const words = ['serve', '--no-scheduler', '--data-dir', dataDir, '--port']
  const first = startProgram(t, [...words, '0'])
  const [url = ''] = await first.says(/http:\/\/127\.0\.0\.1:\d+/)
  const box: PageApp = { ...app, app: { ...app.app, url }, token }
  await post(box, [text('before.txt')])
  const seen = await visit(browser, box, { path: '/#documents' })
  await enter(seen, token)
  await shows(seen, ['before.txt'])
  first.child.kill('SIGKILL')
  await first.ended()
  await says(seen, '.live', new RegExp(WORDS.waiting))
  await says(seen, '.received .refusal', new RegExp(EN.failures.offline))
  assert.deepEqual(await namesIn(seen), ['before.txt'])
  const second = startProgram(t, [...words, new URL(url).port])
  await second.says(/http:\/\/127\.0\.0\.1:\d+/)
  await post(box, [text('after.txt')])
  await says(seen, '.door-card', new RegExp(EN.session.ended)) // sessions live as long as the server
  await enter(seen, token)
  await shows(seen, ['after.txt', 'before.txt'])
  await post(box, [text('later.txt')])
  await shows(seen, ['later.txt', 'after.txt', 'before.txt'])
})

/** A line to the app that can be cut: an address of its own, and bytes to and fro. */
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
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    return closed
  }
  const own = await listen(0)
  t.after(cut)
  return { url: `http://127.0.0.1:${own}`, cut, mend: () => listen(own) }
}
