// Documents of an earlier version. The server reads the invoices among them in the background, through kills, while
// uploads and claims go on. The end has the same facts as an upload.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase, openReads } from '../../src/store/sqlite/database.ts'
import { runJson } from '../support/company.ts'
import { CREATE, fillDatabase, TOKENS } from '../support/directory.ts'
import { createClave, sampleInvoice } from '../support/documents/invoice-xml.ts'
import { type Program, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const COUNT = scaled({ short: 200, long: 100_000 })
const KILLS = scaled({ short: 2, long: 10 })
const AT_ONCE = 200
const START_MS = 120_000
const READ_A_SECOND = 50

const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/json' }

test(`${COUNT} older documents are read in the background, through ${KILLS} kills`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { key } = await runJson<{ key: string }>(dataDir, 'key', 'create', 'state')
  const first = await serve(t, dataDir)
  for (let at = 0; at < COUNT; at += AT_ONCE) await upload(first.url, at)
  await end(first.server, 'SIGTERM')
  const expected = await readFacts(dataDir)
  assert.equal(expected.length, COUNT / 2)
  await forgetFacts(dataDir)

  const startMs = performance.now()
  let [uploads, claims] = [0, 0]
  for (let kill = 0; kill < KILLS; kill++) {
    const { server, url } = await serve(t, dataDir)
    const endMs = performance.now() + (COUNT / READ_A_SECOND / (KILLS + 1)) * 1000
    while (performance.now() < endMs) {
      await upload(url, COUNT + uploads, 2)
      uploads += 2
      claims += await claim(url)
      await wait(200)
    }
    await end(server, 'SIGKILL')
  }
  const { server, url } = await serve(t, dataDir)
  while ((await readProgress(url, key)) !== undefined) await wait(500)
  figure(t, 'seconds', Math.round((performance.now() - startMs) / 1000))
  figure(t, 'uploads and claims meanwhile', `${uploads} ${claims}`)
  assert.ok(uploads > 0 && claims > 0)
  await end(server, 'SIGTERM')
  assert.deepEqual((await readFacts(dataDir)).slice(0, COUNT / 2), expected)

  const before = await readFacts(dataDir)
  const again = await runJson(dataDir, 'document', 'recognise', '--again')
  const counts = { documents: COUNT + uploads, invoices: (COUNT + uploads) / 2 }
  assert.deepEqual(again, { ...counts, faults: 0, unreadable: 0 })
  assert.deepEqual(await readFacts(dataDir), before)
})

/** Uploads documents from a number on: each second one is an invoice. */
async function upload(url: string, start: number, count = AT_ONCE): Promise<void> {
  const documents = Array.from({ length: count }, (_, at) => {
    const number = start + at
    const text =
      number % 2 === 0
        ? sampleInvoice({ clave: createClave('FacturaElectronica', number) })
        : `nota ${number}`
    return { name: `${number}.xml`, mimetype: 'text/xml', base64: Buffer.from(text).toString('base64') }
  })
  const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents })
  const response = await fetch(url + CREATE, { method: 'POST', headers, body })
  assert.equal(response.status, 200, await response.text())
}

/** Claims a document and finishes it; returns how many were claimed. */
async function claim(url: string): Promise<number> {
  const worker = { ...headers, authorization: `Bearer ${TOKENS.work}` }
  const post = (path: string, body: object) =>
    fetch(`${url}/api/v1/documents/${path}`, {
      method: 'POST',
      headers: worker,
      body: JSON.stringify(body),
    })
  const reply = (await (await post('claim', { agent_id: 1 })).json()) as {
    documents: { id: number; claim_id: string }[]
  }
  for (const { id, claim_id } of reply.documents) {
    const response = await post(`${id}/finish`, { claim_id, outcome: 'done' })
    assert.equal(response.status, 200, await response.text())
  }
  return reply.documents.length
}

async function readProgress(url: string, key: string): Promise<number | undefined> {
  const response = await fetch(`${url}/api/v1/status`, { headers: { 'x-api-key': key } })
  const { invoices } = (await response.json()) as { invoices?: { unread_before: number } }
  return invoices?.unread_before
}

/** Facts by document. */
async function readFacts(dataDir: string): Promise<object[]> {
  const db = openReads(dataDir)
  const rows = await db.selectFrom('invoices').selectAll().orderBy('document_id').execute()
  await db.destroy()
  return rows
}

/** Makes the database as an earlier version left it. */
async function forgetFacts(dataDir: string): Promise<void> {
  const db = openDatabase(dataDir)
  await db.deleteFrom('invoices').execute()
  await db.updateTable('meta').set({ invoice_reader: null, unread_before: null }).execute()
  await db.destroy()
}

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const args = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const server = startProgram(t, args, {}, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/listening url=(\S+)/, START_MS)
  return { server, url }
}

async function end({ child }: Program, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
