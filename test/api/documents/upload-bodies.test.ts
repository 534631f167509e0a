// Bodies that are strange but valid, and false ones: from careless or hostile clients.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const IDS = '"owner_id":1,"company_id":1,"agent_id":1'
const DOCUMENT = '{"name":"a","mimetype":"a/b","base64":"aG9sYQ=="}'
const whole = (documents: string) => `{${IDS},"documents":${documents}}`
const VALID = whole(`[${DOCUMENT}]`)
const MISSING = 'Fields owner_id, company_id, agent_id, documents are required'

async function refuses(body: string | Uint8Array, message: string | RegExp): Promise<void> {
  const response = await post(app, CREATE, body)
  const answer = (await response.json()) as { status: string; message: string }
  assert.equal(response.status, 400)
  assert.equal(answer.status, 'error')
  if (typeof message === 'string') assert.equal(answer.message, message)
  else assert.match(answer.message, message)
  assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
}

/** The text of the documents that a body with status 200 has made. */
async function uploadTexts(body: string): Promise<string[]> {
  const response = await post(app, CREATE, body)
  const answer = (await response.json()) as { created_documents: { id: number }[] }
  assert.equal(response.status, 200, JSON.stringify(answer))
  const contents = answer.created_documents.map(({ id }) => read(app, `/api/v1/documents/${id}/content`))
  return Promise.all(contents.map(async (response) => (await response).text()))
}

const numbers: [string, boolean][] = [
  ['1', true],
  ['1.0', false],
  ['1e0', false],
  ['10e-1', false],
  ['1.0000000000000000001', false],
  ['"1"', true],
  ['"0001"', true],
  ['0', false],
  ['-0', false],
  ['-1', false],
  ['1.5', false],
  ['9007199254740992', false],
  ['1e400', false],
  ['"1.0"', false],
  ['" 1"', false],
  ['"1e0"', false],
  ['"-1"', false],
  ['"١"', false],
  ['"000000000000000000001"', false],
  ['true', false],
  ['{}', false],
  ['[1]', false],
]
for (const [literal, isId] of numbers) {
  test(`${literal} is ${isId ? 'the id 1' : 'no id'}`, async () => {
    for (const field of ['owner_id', 'company_id', 'agent_id']) {
      const body = VALID.replace(`"${field}":1`, `"${field}":${literal}`)
      if (isId) assert.deepEqual(await uploadTexts(body), ['hola'])
      else await refuses(body, `${field} must be an integer`)
    }
  })
}

for (const literal of [
  '01',
  '+1',
  '.5',
  '1.',
  '0x1',
  'NaN',
  'Infinity',
  '1_000',
  "'1'",
  'undefined',
  'True',
]) {
  test(`${literal} is not JSON`, () =>
    refuses(VALID.replace('"owner_id":1', `"owner_id":${literal}`), /^Request body must be valid JSON: /))
}

test('fields with names of Object.prototype are ordinary fields', async () => {
  const parties = '{"owner_id":1,"company_id":1,"agent_id":1}'
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
    await refuses(`{"${name}":${parties},"documents":[${DOCUMENT}]}`, MISSING)
    const inside = DOCUMENT.replace('{', `{"${name}":{"base64":"?","name":""},`)
    assert.deepEqual(await uploadTexts(`{"${name}":${parties},${IDS},"documents":[${inside}]}`), ['hola'])
  }
  assert.equal(({} as Record<string, unknown>).owner_id, undefined)
})

test('the last value of a repeated field counts', async () => {
  const other = DOCUMENT.replace('aG9sYQ==', 'YWRpb3M=')
  assert.deepEqual(await uploadTexts(`{"owner_id":9,${IDS},"documents":[{}],"documents":[${other}]}`), [
    'adios',
  ])
  assert.deepEqual(await uploadTexts(whole(`[${DOCUMENT.replace('{', '{"base64":"?",')}]`)), ['hola'])
  await refuses(whole(`[${DOCUMENT.replace('}', ',"base64":"?"}')}]`), 'Invalid base64 content')
  await refuses(VALID.replace(/}$/, ',"documents":[]}'), MISSING)
  await refuses(VALID.replace(/}$/, ',"agent_id":null}'), MISSING)
})

test('any number of documents is accepted, and every bad one is counted', async () => {
  const count = 12_000
  assert.equal((await uploadTexts(whole(`[${Array.from({ length: 300 }, () => DOCUMENT)}]`))).length, 300)
  const many = await post(app, CREATE, whole(`[${Array.from({ length: count }, () => DOCUMENT)}]`))
  const { created_documents, ...rest } = (await many.json()) as { created_documents: { id: number }[] }
  assert.deepEqual(rest, {
    status: 'success',
    message: '12000 documents created successfully',
    total_created: count,
    agent_id: 1,
    company_id: 1,
    owner_id: 1,
  })
  const first = created_documents[0]?.id ?? 0
  assert.deepEqual(
    created_documents.map(({ id }) => id),
    Array.from({ length: count }, (_, at) => first + at),
  )
  const documents = Array.from({ length: count }, () => '{}')
  const response = await post(app, CREATE, whole(`[${documents}]`))
  const { errors, errors_total } = (await response.json()) as { errors: unknown[]; errors_total: number }
  assert.deepEqual([errors.length, errors_total], [1000, count])
})

const skipped: [string, string][] = [
  ['nests deeply', `{"a":${'['.repeat(5000)}${']'.repeat(5000)},`],
  ['has a huge key', `{"${'k'.repeat(1_000_000)}":1,`],
  ['has a huge string', `{"x":"${'n'.repeat(2_000_000)}",`],
  ['has a huge number', `{"x":${'1'.repeat(1_000_000)},`],
  ['has much beside the content', `{"x":[${'1,'.repeat(5_000_000)}1],`],
  ['has much white space', `${' '.repeat(10_000_000)}{`],
]
for (const [what, begin] of skipped) {
  test(`a body that ${what} in an unknown field is valid`, async () => {
    assert.deepEqual(await uploadTexts(VALID.replace('{', begin)), ['hola'])
    assert.deepEqual(await uploadTexts(whole(`[${DOCUMENT.replace('{', begin)}]`)), ['hola'])
  })
}

const bounded: [string, string, RegExp][] = [
  ['does not end what it nests', `{"a":${'['.repeat(5000)}`, /unexpected end/],
  ['has a huge name', whole(`[{"name":"${'n'.repeat(2_000_000)}"}]`), /^Invalid documents$/],
  [
    'has a huge id',
    `{"owner_id":${'1'.repeat(1_000_000)},"company_id":1,"agent_id":1,"documents":[1]}`,
    /^owner_id must be/,
  ],
  ['has two values', `${VALID}{}`, /unexpected "{"/],
  ['has a comma too many', VALID.replace(']}', '],}'), /unexpected "}"/],
  ['has a comment', VALID.replace('{', '{/* */'), /unexpected "\/"/],
  ['has a line break in a string', VALID.replace('"a"', '"a\n"'), /control character/],
  ['has a raw line break in its base64', VALID.replace('aG9s', 'aG9s\n'), /control character/],
  ['has an unknown escape', VALID.replace('"a"', '"\\x61"'), /bad escape/],
  ['has an unknown escape in its base64', VALID.replace('aG9s', 'aG\\x39s'), /bad escape/],
]
for (const [what, body, message] of bounded) {
  test(`a body that ${what} is rejected`, () => refuses(body, message))
}

test('invalid UTF-8 is rejected, in names and between them', async () => {
  for (const bytes of ['ff', 'c3', 'eda080', 'c0af', 'f5808080', 'e282']) {
    for (const place of ['"a"', 'a/b', 'aG9s']) {
      const [head = '', tail = ''] = VALID.split(place)
      await refuses(
        Buffer.concat([Buffer.from(`${head}"`), Buffer.from(bytes, 'hex'), Buffer.from(tail)]),
        /UTF-8/,
      )
    }
  }
  assert.deepEqual(await uploadTexts(`\ufeff${VALID}`), ['hola'])
  await refuses(`\ufeff\ufeff${VALID}`, /unexpected byte 0xef at byte 3/)
  await refuses(Buffer.from(VALID, 'utf16le'), /unexpected byte 0x0/)
})

test('half a surrogate is rejected in a name, and harmless in an ignored field', async () => {
  for (const half of ['\\ud800', '\\udc00', 'a\\ud83d', '\\ude00\\ud83d']) {
    await refuses(VALID.replace('"a"', `"${half}"`), 'Invalid documents')
    assert.deepEqual(await uploadTexts(VALID.replace('{', `{"${half}":"${half}",`)), ['hola'])
  }
  const response = await post(app, CREATE, VALID.replace('"a"', '"\\ud83d\\ude00"'))
  const { created_documents } = (await response.json()) as { created_documents: { name: string }[] }
  assert.equal(created_documents[0]?.name, '😀')
})

test('names that are paths or markup are stored unchanged, and name no file', async () => {
  const names = [
    '..',
    '/',
    '../../../etc/passwd',
    'a/',
    '.',
    '%2e%2e',
    ' .',
    'CON',
    '<b>',
    '"\\;',
    '\u202efdp',
    'x'.repeat(255),
  ]
  names.push('😀'.repeat(255))
  const response = await post(app, CREATE, batch(...names.map((name) => pdf('uno', name))))
  const { created_documents } = (await response.json()) as {
    created_documents: { id: number; name: string }[]
  }
  assert.deepEqual(
    created_documents.map(({ name }) => name),
    names,
  )
  for (const { id } of created_documents) {
    const { status, headers } = await read(app, `/api/v1/documents/${id}/content`)
    assert.equal(status, 200)
    const disposition = headers.get('content-disposition') ?? ''
    assert.match(disposition, /^attachment; filename="?(?![\s."])/)
    assert.doesNotMatch(disposition.replace(/\\(["\\])/g, '$1'), /[/\\]|%2F|%5C|''(\.|%20)/i)
  }
})
