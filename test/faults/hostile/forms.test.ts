// Forms with altered bytes: a stored document is acknowledged, and its bytes are between boundaries of the sent form.
// To repeat a run: CAMBISTA_SEED=17 node --test test/faults/hostile/forms.test.ts

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { fillDirectory, read, TOKENS } from '../../support/directory.ts'
import { BOUNDARY, FORM_TYPE, formBody, part, SEND, UPLOAD_FORMS } from '../../support/documents/ways.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { figure, scaled } from '../scale.ts'

const FORMS = scaled({ short: 250, long: 100_000 })
const AT_ONCE = 16
const AUTH = { authorization: `Bearer ${TOKENS.all}`, 'content-type': FORM_TYPE }
const BREAK = '\r\n'
const INSERTIONS = [
  `--${BOUNDARY}`,
  `${BREAK}--${BOUNDARY}${BREAK}`,
  `${BREAK}--${BOUNDARY}--`,
  BREAK.repeat(2),
  '\r',
  '\n',
  '\0',
  '"',
  ';',
  'filename="x"',
  'Content-Type: text/plain\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  '\xff',
]

function randomForm(random: Random): Buffer {
  const bytes = () => Buffer.from(Array.from({ length: random.int(1, 300) }, () => random.int(0, 255)))
  const files = Array.from({ length: random.int(1, 4) }, (_, at) => ({
    name: `${at}.bin`,
    mimetype: 'application/octet-stream',
    bytes: bytes(),
  }))
  if (random.chance(0.8)) return UPLOAD_FORMS.form(files).body
  const fields = ['owner_id', 'company_id', 'agent_id'].map((name) => part(`name="${name}"`, '', '1'))
  return formBody(part('name="f"; filename=""', 'Content-Type: a/b\r\n', ''), ...fields)
}

function alterForm(form: Buffer, random: Random): Buffer {
  const at = random.int(0, form.length)
  const end = Math.min(form.length, at + random.int(0, 40))
  const insertion = Buffer.from(INSERTIONS[random.int(0, INSERTIONS.length - 1)] ?? '', 'latin1')
  const other = random.int(0, form.length)
  const middles = [
    insertion,
    Buffer.alloc(0),
    Buffer.concat([form.subarray(at, end), form.subarray(at, end)]),
  ]
  if (random.chance(0.05)) return form.subarray(0, at)
  if (random.chance(0.1)) return Buffer.concat([form.subarray(0, at), form.subarray(other)])
  const middle = middles[random.int(0, middles.length - 1)] ?? insertion
  return Buffer.concat([form.subarray(0, at), middle, form.subarray(random.chance(0.5) ? at : end)])
}

test(`${FORMS} altered forms store only bytes of the form (seed ${SEED})`, async (t: TestContext) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const random = createRandom(SEED)
  const statuses = new Map<number, number>()
  const isComplete = () => [200, 400].every((status) => (statuses.get(status) ?? 0) > FORMS / 10)
  const acknowledged = new Set<number>()
  const send = async (form: Buffer) => {
    const formText = JSON.stringify(form.toString('latin1'))
    const init = { method: 'POST', headers: AUTH, body: new Uint8Array(form) }
    const response = await fetch(app.app.url + SEND, init)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    const reply = (await response.json()) as { created_documents?: { id: number }[]; message: string }
    assert.ok(
      response.status === 200 || [400, 404, 413].includes(response.status),
      `${response.status} ${formText}`,
    )
    for (const { id } of reply.created_documents ?? []) {
      acknowledged.add(id)
      const content = Buffer.from(await (await read(app, `/api/v1/documents/${id}/content`)).bytes())
      const bounded = Buffer.concat([
        Buffer.from(BREAK.repeat(2)),
        content,
        Buffer.from(`${BREAK}--${BOUNDARY}`),
      ])
      assert.ok(form.includes(bounded), `document ${id} of ${formText}`)
    }
  }
  for (let count = 0; count < FORMS || (!isComplete() && count < 5 * FORMS); count += AT_ONCE) {
    const forms = Array.from({ length: AT_ONCE }, () => {
      let form = randomForm(random)
      for (let times = random.int(0, 3); times > 0; times--) form = alterForm(form, random)
      return form
    })
    await Promise.all(forms.map(send))
  }
  const storedIds = new Set<number>()
  for (let after = 0, more = true; more; ) {
    const page = (await (await read(app, `/api/v1/documents?limit=200&after=${after}`)).json()) as {
      documents: { id: number }[]
      next_after: number
      has_more: boolean
    }
    for (const { id } of page.documents) storedIds.add(id)
    after = page.next_after
    more = page.has_more
  }
  assert.deepEqual(storedIds, acknowledged)
  assert.ok(isComplete(), JSON.stringify([...statuses]))
  figure(t, 'answers', JSON.stringify([...statuses]))
})
