// Forms with some of their bytes changed: either nothing is kept, or what is kept stands in the form as it came, between its
// boundaries, and is what was acknowledged. Repeated with CAMBISTA_SEED=17 node --test test/faults/hostile/forms.test.ts

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { fillDirectory, read, TOKENS } from '../../support/directory.ts'
import { BOUNDARY, FORM_TYPE, formOf, part, SEND, WAYS } from '../../support/documents/ways.ts'
import { type Random, randomOf } from '../../support/rates/random-bank.ts'
import { figure, SEED, scaled } from '../scale.ts'

const FORMS = scaled({ short: 1000, long: 100_000 })
const AT_ONCE = 16
const AUTH = { authorization: `Bearer ${TOKENS.all}`, 'content-type': FORM_TYPE }
const BREAK = '\r\n'
const STRANGE = [
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

function formOfAny(random: Random): Buffer {
  const bytes = () => Buffer.from(Array.from({ length: random.int(1, 300) }, () => random.int(0, 255)))
  const files = Array.from({ length: random.int(1, 4) }, (_, at) => ({
    name: `${at}.bin`,
    mimetype: 'application/octet-stream',
    bytes: bytes(),
  }))
  if (random.chance(0.8)) return WAYS.form(files).body
  const fields = ['owner_id', 'company_id', 'agent_id'].map((name) => part(`name="${name}"`, '', '1'))
  return formOf(part('name="f"; filename=""', 'Content-Type: a/b\r\n', ''), ...fields)
}

function changed(form: Buffer, random: Random): Buffer {
  const at = random.int(0, form.length)
  const end = Math.min(form.length, at + random.int(0, 40))
  const put = Buffer.from(STRANGE[random.int(0, STRANGE.length - 1)] ?? '', 'latin1')
  const other = random.int(0, form.length)
  const ways = [put, Buffer.alloc(0), Buffer.concat([form.subarray(at, end), form.subarray(at, end)])]
  if (random.chance(0.05)) return form.subarray(0, at)
  if (random.chance(0.1)) return Buffer.concat([form.subarray(0, at), form.subarray(other)])
  const middle = ways[random.int(0, ways.length - 1)] ?? put
  return Buffer.concat([form.subarray(0, at), middle, form.subarray(random.chance(0.5) ? at : end)])
}

test(`${FORMS} changed forms: what is kept is what came (seed ${SEED})`, async (t: TestContext) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const random = randomOf(SEED)
  const statuses = new Map<number, number>()
  const acknowledged = new Set<number>()
  const send = async (form: Buffer) => {
    const about = JSON.stringify(form.toString('latin1'))
    const init = { method: 'POST', headers: AUTH, body: new Uint8Array(form) }
    const response = await fetch(app.app.url + SEND, init)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    const told = (await response.json()) as { created_documents?: { id: number }[]; message: string }
    assert.ok(
      response.status === 200 || [400, 404, 413].includes(response.status),
      `${response.status} ${about}`,
    )
    for (const { id } of told.created_documents ?? []) {
      acknowledged.add(id)
      const content = Buffer.from(await (await read(app, `/api/v1/documents/${id}/content`)).bytes())
      const bounded = Buffer.concat([
        Buffer.from(BREAK.repeat(2)),
        content,
        Buffer.from(`${BREAK}--${BOUNDARY}`),
      ])
      assert.ok(form.includes(bounded), `document ${id} of ${about}`)
    }
  }
  for (let done = 0; done < FORMS; done += AT_ONCE) {
    const forms = Array.from({ length: AT_ONCE }, () => {
      let form = formOfAny(random)
      for (let times = random.int(0, 3); times > 0; times--) form = changed(form, random)
      return form
    })
    await Promise.all(forms.map(send))
  }
  const stored = new Set<number>()
  for (let after = 0, more = true; more; ) {
    const page = (await (await read(app, `/api/v1/documents?limit=200&after=${after}`)).json()) as {
      documents: { id: number }[]
      next_after: number
      has_more: boolean
    }
    for (const { id } of page.documents) stored.add(id)
    after = page.next_after
    more = page.has_more
  }
  assert.deepEqual(stored, acknowledged)
  assert.ok((statuses.get(200) ?? 0) > FORMS / 10 && (statuses.get(400) ?? 0) > FORMS / 10)
  figure(t, 'answers', JSON.stringify([...statuses]))
})
