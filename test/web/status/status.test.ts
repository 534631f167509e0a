// Screen of the server's state: each card, failures of runs in words, corrections, and a server that is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFullApp } from '../apps.ts'
import { openState, STATES, startSession, waitForIdle } from '../states.ts'
import { openEngine, openVisit, type Visit, waitForText } from '../support.ts'
import { FAILURES, MAILBOXES } from './problems.ts'

const browser = await openEngine()
const app = await openFullApp()
/** English words that the texts of the server or a forgotten translation would have. */
const ENGLISH =
  /\b(the|of|and|was|is|are|were|failed|failing|refused|rejected|answered|value|values|since|run|runs|sync|server|request|because|retry|retrying|last|next|backup|data|loading|ago|disk|free|unknown|error:|ok|up to date|behind)\b/i

const problems = STATES.find(({ name }) => name === 'status with problems')
assert.ok(problems)

test('Estado has no English word for any reason and failure of the server', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  await startSession(visit, app, 'both')
  const undo = await openState(visit, app, problems)
  const lines = await readLines(visit, 'main')
  assert.deepEqual(
    lines.filter((line) => ENGLISH.test(line)),
    [],
  )
  const notes = lines.filter((line) => /BCCR|certificado|rechaz|interrumpió|espacio en|Otra causa/.test(line))
  assert.ok(notes.length >= FAILURES.length, notes.join('\n'))
  assert.ok(
    lines.includes(
      'El BCCR corrigió 5 valores: USD/CRC venta del 12/11/2026, USD/NIO del 13/11/2026, USD/NIO del 16/11/2026 y 2 más.',
    ),
    notes.join('\n'),
  )
  const details = await visit.page.$$eval('.run-message .details p', (texts) =>
    texts.map((one) => [one.lang, one.textContent]),
  )
  assert.deepEqual(details, [['en', 'the request failed because of something']])
  assert.ok(ENGLISH.test(details[0]?.[1] ?? ''), 'the list finds the English text of the server')
  const pills = await readLines(visit, '.status > .card:not(.runs) .pill')
  assert.deepEqual(pills, ['Atrasado', 'Hay fallos', 'Con error', 'Con error'])
  const causes = await visit.page.$$eval('[aria-labelledby="mail"] dd', (cells) =>
    cells.map(({ firstChild }) => firstChild?.textContent?.split(', desde')[0]),
  )
  assert.equal(new Set(causes).size, MAILBOXES.length - 1, 'each known cause has a text of its own')
  assert.equal(causes.filter((text) => text === 'Otra causa').length, 2)
  await undo()
})

test('a card without its right is absent, and each has a sentence', async () => {
  for (const [session, titles] of [
    ['key', ['Actualización de los datos', 'Servidor y respaldos', 'Últimas sincronizaciones']],
    [
      'both',
      ['Actualización de los datos', 'Documentos', 'Servidor y respaldos', 'Últimas sincronizaciones'],
    ],
  ] as const) {
    const visit = await openVisit(browser, app, { language: 'es' })
    await startSession(visit, app, session)
    await visit.page.goto(`${visit.url}/#status`)
    await visit.page.waitForSelector('.runs .pill')
    await waitForIdle(visit.page)
    assert.deepEqual(await readLines(visit, '.status h2'), titles)
    assert.ok((await readLines(visit, '.sentence')).every((text) => text.endsWith('.')))
    await visit.page.browserContext().close()
  }
})

test('no pill of a lost server contradicts another, and its facts are timed', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await startSession(visit, app, 'both')
  await page.goto(`${visit.url}/#status`)
  await page.waitForSelector('.runs .pill')
  await waitForIdle(page)
  await page.evaluate(() => {
    const records: string[] = []
    Object.assign(globalThis, { records })
    const read = () =>
      [...document.querySelectorAll('.header .pill, .status > .card:not(.runs) .pill')]
        .map((pill) => pill.textContent)
        .join('|')
    new MutationObserver(() => records.push(read())).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    })
  })
  await page.setOfflineMode(true)
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await waitForText(
    visit,
    '.banner',
    /Sin conexión con el servidor\. Se ven los valores recibidos a las 12:0\d/,
  )
  assert.deepEqual(new Set(await readLines(visit, '.sentence')).size, 1)
  const records = await page.evaluate(() => (globalThis as unknown as { records: string[] }).records)
  assert.ok(records.length > 0)
  for (const pills of records)
    assert.ok(new Set(pills.split('|')).size === 1 || !pills.includes('Sin conexión'), pills)
  assert.equal(records.at(-1), Array(4).fill('Sin conexión').join('|'))
  await page.setOfflineMode(false)
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.waitForSelector('.banner', { hidden: true })
  assert.ok((await readLines(visit, '.pill')).every((pill) => pill !== 'Sin conexión'))
})

/** Lines of the text of elements as it is painted. */
async function readLines({ page }: Visit, selector: string): Promise<string[]> {
  const texts = await page.$$eval(selector, (elements) =>
    // biome-ignore lint/performance/useDomNodeTextContent: text of closed details is not painted
    elements.map((element) => (element as HTMLElement).innerText),
  )
  return texts.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '')
}
