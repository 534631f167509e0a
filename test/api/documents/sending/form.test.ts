// Documents sent as the files of a form, as browsers, curl and others write them.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { fillDirectory, post, read } from '../../../support/directory.ts'
import {
  BOUNDARY,
  FORM_TYPE,
  formBody,
  part,
  SEND,
  sampleDocument,
  UPLOAD_FORMS,
} from '../../../support/documents/ways.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const IDS = ['company_id', 'agent_id', 'owner_id'].map((id) => part(`name="${id}"`, '', '1'))
const TYPE = 'Content-Type: application/pdf\r\n'
const file = (disposition = 'name="f"; filename="a.pdf"', headers = TYPE, bytes: string | Buffer = 'hola') =>
  part(disposition, headers, bytes)

type Answer = {
  message: string
  created_documents: { id: number; name: string }[]
  errors?: { index: number; field: string; message: string }[]
}

async function send(body: string | Buffer, type = FORM_TYPE): Promise<{ status: number; answer: Answer }> {
  const response = await post(app, SEND, body, { 'content-type': type })
  return { status: response.status, answer: (await response.json()) as Answer }
}

/** The names and contents of the documents that a form with status 200 has made. */
async function uploadForm(body: string | Buffer, type?: string): Promise<[string, string][]> {
  const { status, answer } = await send(body, type)
  assert.equal(status, 200, JSON.stringify(answer))
  return Promise.all(
    answer.created_documents.map(async ({ id, name }) => [
      name,
      await (await read(app, `${SEND}/${id}/content`)).text(),
    ]),
  )
}

async function refuses(body: string | Buffer, message: string | RegExp, type?: string): Promise<void> {
  const { status, answer } = await send(body, type)
  assert.equal(status, 400, JSON.stringify(answer))
  if (typeof message === 'string') assert.equal(answer.message, message)
  else assert.match(answer.message, message)
  assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
}

test('a name in raw bytes is windows-1252, unless it is UTF-8', async () => {
  const body = formBody(...IDS, file('name="f"; filename="NAME.pdf"')).toString('latin1')
  const names = {
    'Facturaci\xf3n': 'Facturación',
    '\x80 \x81': '€ _',
    '\xc3\xb3': 'ó',
    '\xc3\xb3\xf3': 'Ã³ó',
  }
  for (const [bytes, name] of Object.entries(names))
    assert.deepEqual(await uploadForm(Buffer.from(body.replace('NAME', bytes), 'latin1')), [
      [`${name}.pdf`, 'hola'],
    ])
})

const OF_ITS_NAME: [filename: string, type: string | undefined, stored: string][] = [
  ['factura.pdf', undefined, 'application/pdf'],
  ['FE.XML', '', 'application/xml'],
  ['a.csv', 'application/octet-stream', 'text/csv'],
  [
    'a.xlsx',
    'Application/Octet-Stream; charset=binary',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  ['=?utf-8?Q?=C3=B3.pdf?=', 'application/octet-stream', 'application/pdf'],
  ['sin-final', undefined, 'application/octet-stream'],
  ['a.constructor', undefined, 'application/octet-stream'],
  ['a.pdf', 'text/plain', 'text/plain'],
  ['a.pdf', 'application/octet-stream-x', 'application/octet-stream-x'],
]
for (const [filename, type, stored] of OF_ITS_NAME) {
  test(`${filename} of the type ${type} is stored as ${stored.slice(0, 25)}`, async () => {
    const header = type === undefined ? '' : `Content-Type: ${type}\r\n`
    const { status, answer } = await send(formBody(...IDS, file(`name="f"; filename="${filename}"`, header)))
    assert.equal(status, 200, JSON.stringify(answer))
    const content = await read(app, `${SEND}/${answer.created_documents[0]?.id}/content`)
    assert.equal(content.headers.get('content-type'), stored)
  })
}

test('a part that is called like an id is one, of any type', async () => {
  const types = [
    ['application/json; charset=UTF-8\r\nContent-Transfer-Encoding: binary', '1'],
    ['application/json', '"1"'],
    ['application/octet-stream', '1'],
    ['text/plain; charset=utf-16', Buffer.from('1', 'utf16le')],
    ['TEXT/PLAIN; charset="us-ascii"', '1'],
    ['image/png', '1'],
  ] as const
  for (const [type, value] of types) {
    const ids = ['owner_id', 'company_id', 'agent_id'].map((id) =>
      part(`name=${id}`, `Content-Type: ${type}\r\n`, value),
    )
    assert.deepEqual(await uploadForm(formBody(...ids, file())), [['a.pdf', 'hola']], type)
  }
  const bad = part('name="agent_id"', 'Content-Type: application/json\r\n', '{"id":1}')
  await refuses(formBody(...IDS, bad, file()), 'agent_id must be an integer')
})

test('each file is a document, and the fields may be anywhere', async () => {
  const files = [
    file('name="x"; filename="uno.pdf"', TYPE, 'uno'),
    file('name="y"; filename="dos.pdf"', TYPE, 'dos'),
  ]
  const both = [
    ['uno.pdf', 'uno'],
    ['dos.pdf', 'dos'],
  ]
  assert.deepEqual(await uploadForm(formBody(...IDS, ...files)), both)
  assert.deepEqual(await uploadForm(formBody(...files, ...IDS)), both)
  assert.deepEqual(await uploadForm(formBody(IDS[0] as Buffer, ...files, ...IDS.slice(1))), both)
})

test('a FormData of fetch is accepted', async () => {
  const form = new FormData()
  for (const id of ['owner_id', 'company_id', 'agent_id']) form.set(id, '1')
  form.append('archivos', new Blob(['ñ'], { type: 'text/plain;charset=utf-8' }), 'ñandú "50%".txt')
  form.append('archivos', new Blob([Buffer.alloc(300_000, 7)], { type: 'image/png' }), 'b.png')
  const response = await fetch(app.app.url + SEND, {
    method: 'POST',
    headers: { authorization: 'Bearer cbt_all' },
    body: form,
  })
  const { created_documents } = (await response.json()) as Answer
  assert.deepEqual(
    created_documents.map(({ name }) => name),
    ['ñandú "50%".txt', 'b.png'],
  )
  const [first, second] = await Promise.all(
    created_documents.map(({ id }) => read(app, `${SEND}/${id}/content`)),
  )
  assert.ok(first && second)
  assert.equal(first.headers.get('content-type'), 'text/plain;charset=utf-8')
  assert.ok(Buffer.from(await second.arrayBuffer()).equals(Buffer.alloc(300_000, 7)))
})

test('a blob may have any bytes but the boundary, wherever chunks are cut', async () => {
  const almost = `\r\n--${BOUNDARY.slice(0, -1)}`
  const bytes = Buffer.from(
    `\r\n${almost}-\r${almost}${almost}\r\n--\n--${BOUNDARY}\r\r\n-`.repeat(5000),
    'latin1',
  )
  for (const pad of [0, 1, 7, 30]) {
    const text = `${'x'.repeat(pad)}${bytes}`
    assert.deepEqual(await uploadForm(formBody(file(undefined, undefined, text), ...IDS, file())), [
      ['a.pdf', text],
      ['a.pdf', 'hola'],
    ])
  }
})

const names: [string, string][] = [
  ['filename="ñandú.pdf"', 'ñandú.pdf'],
  ['filename=plain.pdf', 'plain.pdf'],
  ['FileName="a;b, c.pdf"', 'a;b, c.pdf'],
  ['filename="a%22b.pdf"', 'a"b.pdf'],
  ['filename="a\\"b\\\\c.pdf"', 'a"b\\c.pdf'],
  ['filename="C:\\Temp\\x.pdf"', 'C:\\Temp\\x.pdf'],
  ['filename="../../etc/passwd"', '../../etc/passwd'],
  ['filename="50%.pdf"', '50%.pdf'],
  ['filename="a%20b.pdf"', 'a%20b.pdf'],
  ['filename="x.pdf"; filename*=UTF-8\'\'%C3%B1%22.pdf', 'ñ".pdf'],
  ['filename*=utf-8\'es\'%e2%82%ac.pdf; filename="x"', '€.pdf'],
  ['filename*="UTF-8\'\'a%20%C3%B1.pdf"', 'a ñ.pdf'],
  ['filename*=UTF-8\'\'"a %C3%B1.pdf"; filename="x"', 'a ñ.pdf'],
  ["filename*=ISO-8859-1''Facturaci%F3n%80.pdf", 'Facturación€.pdf'],
  ["filename*=cp850'es'Facturaci%A2n.pdf", 'Facturación.pdf'],
  ["filename*=UTF-8''%ff%81.pdf", 'ÿ_.pdf'],
  ['filename*=%C3%B1.pdf', 'ñ.pdf'],
  ["filename*=O'Brien's%20a.pdf", "O'Brien's a.pdf"],
  ["filename*=a%20''b'.pdf", "a ''b'.pdf"],
  ["filename*=''D'Angelo's%20%F1.pdf", "D'Angelo's ñ.pdf"],
  ["filename*=UTF-8''100%.pdf", '100%.pdf'],
  ['filename="=?utf-8?B?RmFjdHVyYWNpw7NuLnBkZg==?="', 'Facturación.pdf'],
  ['filename==?utf-8?B?RmFjdHVyYWNpw7NuLnBkZg==?=', 'Facturación.pdf'],
  ['filename="=?ISO-8859-1?Q?Facturaci=F3n_5.pdf?="', 'Facturación 5.pdf'],
  ['filename="=?utf-8?Q?Facturación_5.pdf?="', 'Facturación 5.pdf'],
  ['filename="=?utf-8?B?RmFjdHVyYWNpww==?= =?utf-8?B?s24ucGRm?="', 'Facturación.pdf'],
  ['filename="a =?utf-8?B?w7M=?=.pdf"', 'a =?utf-8?B?w7M=?=.pdf'], // not wholly
]
for (const [disposition, name] of names) {
  test(`${disposition} has the name ${name}`, async () => {
    assert.deepEqual(await uploadForm(formBody(...IDS, file(`name="f"; ${disposition}`))), [[name, 'hola']])
  })
}

const accepted: [string, Buffer][] = [
  ['text before the first boundary', Buffer.concat([Buffer.from('preamble\r\n'), formBody(...IDS, file())])],
  [
    'text after the last',
    Buffer.concat([formBody(...IDS, file()), Buffer.from(`x\r\n--${BOUNDARY}\r\n`.repeat(9000))]),
  ],
  ['no line break at its end', formBody(...IDS, file()).subarray(0, -2)],
  [
    'fields that nobody asked for',
    formBody(
      part('name="submit"', '', 'x'.repeat(300_000)),
      ...IDS,
      file(),
      part('name=""', 'Content-Type: text/plain\r\n', ''),
    ),
  ],
  [
    'a file field where no file was chosen',
    formBody(...IDS, file('name="g"; filename=""', 'Content-Type: application/octet-stream\r\n', ''), file()),
  ],
  ['a field twice, of which the last counts', formBody(part('name="agent_id"', '', '99'), ...IDS, file())],
  [
    'typed fields',
    formBody(
      ...IDS.slice(1),
      part(
        'name="company_id"',
        'Content-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: 8bit\r\n',
        '1',
      ),
      file(),
    ),
  ],
  [
    'a transfer coding that changes nothing',
    formBody(...IDS, file(undefined, `${TYPE}Content-Transfer-Encoding: Binary\r\n`)),
  ],
  [
    'headers in capitals and one of its own',
    formBody(...IDS, file(undefined, `CONTENT-TYPE: application/pdf\r\nX-Own: 1\r\n`)),
  ],
]
for (const [what, body] of accepted) {
  test(`a form with ${what} is valid`, async () => {
    assert.deepEqual(await uploadForm(body), [['a.pdf', 'hola']])
  })
}

test('a boundary may be quoted, and the type in capitals', async () => {
  assert.equal(
    (await uploadForm(formBody(...IDS, file()), `Multipart/Form-Data; charset=utf-8; BOUNDARY="${BOUNDARY}"`))
      .length,
    1,
  )
})

const NEEDS = 'Content-Type multipart/form-data needs a boundary of 1 to 70 characters'
for (const boundary of [
  '',
  '; boundary=',
  '; boundary=""',
  `; boundary=${'x'.repeat(71)}`,
  '; boundary="a "',
  '; boundary=é',
  '; boundary=a; boundary=b',
]) {
  test(`multipart/form-data${boundary} is rejected`, () =>
    refuses(formBody(...IDS, file()), NEEDS, `multipart/form-data${boundary}`))
}

const FIELDS = 'Fields owner_id, company_id, agent_id and at least one file are required'
const EARLY = 'The form ended before its last boundary'
const MALFORMED = 'has no Content-Disposition: form-data that is well formed'
const whole = formBody(...IDS, file())
const malformed: [string, string | Buffer, string | RegExp][] = [
  ['nothing', '', EARLY],
  ['no boundary', 'hola', EARLY],
  ['no part', formBody(), FIELDS],
  ['no file', formBody(...IDS), FIELDS],
  ['no agent', formBody(...IDS.filter((_, at) => at !== 1), file()), FIELDS],
  ['an empty id', formBody(...IDS, part('name="owner_id"', '', ''), file()), FIELDS],
  [
    'a word for an id',
    formBody(...IDS, part('name="owner_id"', '', 'x'), file()),
    'owner_id must be an integer',
  ],
  [
    'an id of a megabyte',
    formBody(...IDS, part('name="owner_id"', '', '1'.repeat(1_000_000)), file()),
    'owner_id must be an integer',
  ],
  ['another boundary at its end', Buffer.from(whole.toString().replace(/--\r\n$/, '-x\r\n')), /./],
  [
    'a part without Content-Disposition',
    formBody(...IDS, Buffer.from(`--${BOUNDARY}\r\n${TYPE}\r\nx\r\n`)),
    `Part 4 of the form ${MALFORMED}`,
  ],
  [
    'an attachment',
    formBody(
      ...IDS,
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: attachment; filename="a"\r\n\r\nx\r\n`),
    ),
    `Part 4 of the form ${MALFORMED}`,
  ],
  ['an open quote', formBody(...IDS, file('name="f"; filename="a.pdf')), `Part 4 of the form ${MALFORMED}`],
  ['two names', formBody(...IDS, file('filename="f"; filename="a.pdf"')), `Part 4 of the form ${MALFORMED}`],
  [
    'two dispositions',
    formBody(file(undefined, `${TYPE}Content-Disposition: form-data; name="x"\r\n`), ...IDS),
    'Part 1 of the form has content-disposition twice',
  ],
  ['two types', formBody(file(undefined, TYPE + TYPE), ...IDS), 'Part 1 of the form has content-type twice'],
  [
    'huge headers',
    formBody(...IDS, file(undefined, `${TYPE}X: ${'x'.repeat(9000)}\r\n`)),
    'Part 4 of the form has headers of more than 8192 bytes',
  ],
  [
    'headers of a megabyte',
    formBody(...IDS, file(undefined, `X: ${'x'.repeat(1_000_000)}\r\n${TYPE}`)),
    'Part 4 of the form has headers of more than 8192 bytes',
  ],
  [
    'headers without end',
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n--${BOUNDARY}--`),
    /^(Part 1 of the form has no end of its headers|The form ended)/,
  ],
]
for (const [what, body, message] of malformed) {
  test(`a form with ${what} is rejected`, () => refuses(body, message))
}

test('a form that breaks off anywhere is rejected', async () => {
  const end = whole.length - 4 // the last boundary, before its dashes
  for (let length = 0; length <= end; length += 3) await refuses(whole.subarray(0, length), /./)
  await refuses(whole.subarray(0, end + 1), EARLY)
})

const faulty: [string, Buffer, string, string][] = [
  ['no filename', file('name="f"'), 'name', 'name is missing: a file needs a filename'],
  ['an empty filename', file('name="f"; filename=""'), 'name', 'name is missing: a file needs a filename'],
  [
    'a line break in its name',
    file('name="f"; filename="a%0D%0Ab"'),
    'name',
    'name must not have control characters',
  ],
  [
    'a long name',
    file(`name="f"; filename="${'é'.repeat(256)}"`),
    'name',
    'name must be at most 255 characters',
  ],
  ['no filename, of a type', file('name="f"', TYPE), 'name', 'name is missing: a file needs a filename'],
  [
    'half a type',
    file(undefined, 'Content-Type: pdf\r\n'),
    'mimetype',
    'mimetype must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8',
  ],
  ['no bytes', file(undefined, undefined, ''), 'content', 'content is empty'],
  [
    'base64',
    file(undefined, `${TYPE}Content-Transfer-Encoding: base64\r\n`),
    'content',
    'content must be sent as it is, without a Content-Transfer-Encoding such as base64',
  ],
]
for (const [what, bad, field, message] of faulty) {
  test(`a file with ${what} rejects the form, and is named`, async () => {
    assert.deepEqual(await send(formBody(...IDS, file(), bad, file())), {
      status: 400,
      answer: {
        status: 'error',
        message: 'Invalid documents',
        errors: [{ index: 1, field, message }],
        errors_total: 1,
      },
    })
    assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
  })
}

test('parameters beside a form are rejected', async () => {
  const response = await post(app, `${SEND}?company_id=1&name=x`, whole, { 'content-type': FORM_TYPE })
  assert.equal(response.status, 422)
  assert.equal(
    ((await response.json()) as Answer).message,
    'company_id must be a field in the form, not a parameter; name must be the filename of each file in the form, not a parameter',
  )
})

test('any number of files is accepted, and every bad one is counted', async () => {
  const many = Array.from({ length: 12_000 }, (_, at) => sampleDocument(`contenido ${at % 50}`, `${at}.pdf`))
  const { path, headers, body } = UPLOAD_FORMS.form(many)
  const answer = (await (await post(app, path, body, headers)).json()) as Answer
  assert.deepEqual(
    answer.created_documents.map(({ name }) => name),
    many.map(({ name }) => name),
  )
  const bad = UPLOAD_FORMS.form(many.map((one) => ({ ...one, mimetype: 'x' })))
  const { errors, errors_total } = (await (await post(app, path, bad.body, headers)).json()) as Answer & {
    errors_total: number
  }
  assert.deepEqual([errors?.length, errors_total], [1000, 12_000])
})
