// Each part of a mail is a document, a body, inline or left out: names, encodings, pictures, ignored names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { uuencode } from '../../../support/documents/containers.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail, NL, type TestPart } from '../../../support/documents/mails.ts'

const INVOICE = sampleInvoice()
const SIZE = Buffer.byteLength(INVOICE)
const FE: TestPart = { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: INVOICE }
const HTML: TestPart = { type: 'text/html', content: '<img src="cid:logo"><img src=\'cid:pie%20x\'>' }

/** Reads a mail into `name size` of its documents, `name reason` of what is left, and the numbers of the others. */
async function read(mail: Buffer | string, ignore: string[] = []) {
  const read = await readMail(new Uint8Array(Buffer.from(mail as string, 'latin1')).buffer, { ignore })
  const reasons = read.left.map(({ name, reason }) => `${name} ${reason}`)
  if ('refused' in read) return { refused: read.refused, left: reasons }
  const { parts, inline, bodies } = read
  return { parts: parts.map(({ name, bytes }) => `${name} ${bytes.length}`), left: reasons, inline, bodies }
}

const readParts = (parts: TestPart[], ignore?: string[]) => read(createMail(parts), ignore)

/** Returns a mail with a part that is written to the letter. */
function withRaw(raw: string, parts: TestPart[] = [FE]): string {
  const more = `--part${NL}${raw}${NL}--part--`
  return createMail(parts)
    .toString('latin1')
    .replace('--part--', () => more)
}

test('a text, CSV or HTML part with a name is a document', async () => {
  const parts: TestPart[] = [
    { type: 'text/plain', content: 'hola' },
    { type: 'text/plain; name=a.txt', content: 'a' },
    { type: 'text/plain', disposition: 'inline; filename=b.txt', content: 'b' },
    { type: 'text/html; name="c.html"', content: '<p>' },
    { type: 'text/csv', disposition: "inline; filename*=utf-8''d.csv", content: 'd' },
    { type: 'text/markdown; name=e.md', content: 'e' },
    { type: 'text/html', disposition: 'inline', content: '<p>' },
    { type: 'text/csv', content: 'f' },
  ]
  const documents = ['a.txt 1', 'b.txt 1', 'c.html 3', 'd.csv 1', 'e.md 1']
  assert.deepEqual(await readParts(parts), { parts: documents, left: [], inline: 0, bodies: 3 })
  const alone = createMail([]).toString('latin1').split('Content-Type')[0]
  const text = `Content-Type: text/plain; name=factura.txt${NL}${NL}hola`
  assert.deepEqual(await read(`${alone}${text}`), {
    parts: ['factura.txt 4'],
    left: [],
    inline: 0,
    bodies: 0,
  })
})

test('parts in uuencode are decoded', async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  for (const encoding of ['x-uuencode', 'X-UUE', 'uuencode'])
    for (const options of [{}, { isCut: true }, { blank: '`' }]) {
      const head = `Content-Type: application/x; name=a.bin${NL}Content-Transfer-Encoding: ${encoding}${NL}${NL}`
      const mail = withRaw(head + uuencode('b.bin', bytes, options))
      const whole = await readMail(new Uint8Array(Buffer.from(mail, 'latin1')).buffer)
      assert.ok('parts' in whole && Buffer.from(whole.parts[1]?.bytes ?? []).equals(bytes))
      assert.equal(whole.parts[1]?.name, 'a.bin')
    }
  const unnamed = `Content-Transfer-Encoding: x-uue${NL}${NL}${uuencode('b.xml', Buffer.from(INVOICE))}`
  assert.deepEqual((await read(withRaw(unnamed, []))).parts, [`b.xml ${SIZE}`])
  const two = `${unnamed}Hola${NL}${uuencode('c.bin', bytes)}${uuencode('Thumbs.db', bytes)}`
  const { parts, left } = await read(withRaw(two, []))
  assert.deepEqual([parts, left], [[`b.xml ${SIZE}`, 'c.bin 256'], ['Thumbs.db ignored']])
})

test('a part in an unknown or damaged encoding is left out as unreadable', async () => {
  const part = (encoding: string, content: string) =>
    `Content-Type: application/x; name=a.bin${NL}Content-Transfer-Encoding: ${encoding}${NL}${NL}${content}`
  const uu = uuencode('a.bin', Buffer.from('hola'))
  const short = [' ', '`'].map((blank) =>
    uuencode('a.bin', Buffer.from('hola'.repeat(20)), { blank }).replace(/(\nM.{9}).+/, '$1'),
  )
  const damaged = [uu.replace('end', ''), uu.replace('begin', 'begun'), ...short, 'hola']
  const raws = [
    ...['x-yenc', 'binhex', 'utf-8'].map((one) => part(one, 'hola')),
    ...damaged.map((one) => part('x-uue', one)),
  ]
  for (const raw of raws) {
    const expected = { parts: [`FE.xml ${SIZE}`], left: ['a.bin unreadable'], inline: 0, bodies: 0 }
    assert.deepEqual(await read(withRaw(raw)), expected, raw)
    assert.deepEqual(
      await read(withRaw(raw, [])),
      { refused: 'no documents', left: ['a.bin unreadable'] },
      raw,
    )
  }
  const text = `Content-Transfer-Encoding: x-yenc${NL}${NL}=ybegin name=FE.xml`
  assert.deepEqual((await read(withRaw(text))).left, ['null unreadable'])
  for (const encoding of ['7bit', '8BIT', 'binary', '"8bit"', '7-bit', ''])
    assert.deepEqual((await read(withRaw(part(encoding, 'hola')))).left, [], encoding)
})

test('a uuencoded block in a text is a document, and the text stays a body', async () => {
  const text = (content: string): TestPart => ({ type: 'text/plain', content })
  const uu = uuencode('../FE de mayo.xml', Buffer.from(INVOICE))
  const two = `Hola.${NL}${uu}${NL}Saludos.${NL}${uuencode('b.pdf', Buffer.from('%PDF'), { blank: '`' })}adiós`
  const expected = { parts: [`FE de mayo.xml ${SIZE}`, 'b.pdf 4'], left: [], inline: 0, bodies: 1 }
  assert.deepEqual(await readParts([text(two)]), expected)
  assert.deepEqual(await readParts([text(uu), FE]), {
    ...expected,
    parts: [`FE de mayo.xml ${SIZE}`, `FE.xml ${SIZE}`],
  })
  const cut = await readParts([text(uu.slice(0, -8)), FE])
  assert.deepEqual([cut.bodies, cut.left], [1, ['FE de mayo.xml unreadable']])
  const classic = `From: a@b.example${NL}Subject: FE${NL}${NL}${uu}`
  assert.deepEqual(await read(classic), { parts: [`FE de mayo.xml ${SIZE}`], left: [], inline: 0, bodies: 1 })
  for (const words of [
    'begin 100 metros al norte',
    `begin 644 a.txt${NL}no data`,
    'I begin 644 a',
    `begin 644 a${NL}end`,
    `begin 644 the procedure${NL}${NL}PAGAR EN${NL}hola`,
    `begin 644 the procedure${NL}PAGAR EN${NL}EL BANCO`,
    `begin 644 a${' '.repeat(900)}b${NL}`.repeat(4000),
  ])
    assert.deepEqual(await readParts([text(words), FE]), { ...expected, parts: [`FE.xml ${SIZE}`] }, words)
})

test('names of file managers, and those of --ignore, are left out', async () => {
  const file = (name: string): TestPart => ({
    type: 'application/x',
    disposition: `attachment; filename="${name}"`,
    content: 'x',
  })
  const names = [
    '.DS_Store',
    'thumbs.db',
    'Desktop.ini',
    '._FE.xml',
    'image001.PNG',
    'Logo-1.gif',
    'logo-12.gif',
    'a[1].txt',
    'a.*',
  ]
  const contents = await readParts(
    [...names.map(file), FE],
    ['image???.png', 'LOGO-?.*', '*[1].txt', 'a.\\*'],
  )
  assert.deepEqual(contents, {
    parts: ['logo-12.gif 1', 'a.* 1', `FE.xml ${SIZE}`],
    left: [...names.slice(0, 6), 'a[1].txt'].map((name) => `${name} ignored`),
    inline: 0,
    bodies: 0,
  })
  assert.deepEqual(await readParts([FE, file('.DS_Store')], ['*']), {
    refused: 'no documents',
    left: ['FE.xml ignored', '.DS_Store ignored'],
  })
  const many = ['*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'] // with backtracking they would never end
  assert.deepEqual(await readParts([file('a'.repeat(250))], many), await readParts([file('a'.repeat(250))]))
})

test('a part without bytes is left out as empty, and an empty body is a body', async () => {
  const parts: TestPart[] = [
    { type: 'text/plain', content: '' },
    { type: 'application/pdf; name=a.pdf', content: '' },
    { type: 'text/plain', disposition: 'attachment', content: '' },
    { type: 'text/calendar; name=a.ics', content: '' },
  ]
  assert.deepEqual(await readParts([...parts, FE]), {
    parts: [`FE.xml ${SIZE}`],
    left: ['a.pdf empty', 'null empty'],
    inline: 1,
    bodies: 1,
  })
})

test('a mail with more than 1,000 parts that are left out is refused', async () => {
  const cut = `begin 644 a${NL}#AAAA${NL}`
  const text = (count: number): TestPart => ({ type: 'text/plain', content: cut.repeat(count) })
  const accepted = await readParts([text(1000), FE])
  assert.deepEqual([accepted.parts, accepted.left.length], [[`FE.xml ${SIZE}`], 1000])
  const refused = await readParts([text(5000), FE])
  assert.deepEqual([refused.refused, refused.left.length], ['too many parts', 1000])
  const whole = await readParts([{ type: 'text/plain', content: `${cut}end${NL}`.repeat(5000) }])
  assert.equal(whole.refused, 'too many parts')
})

test('a multipart without its boundary is left out as unreadable', async () => {
  assert.deepEqual((await read(withRaw(`Content-Type: multipart/mixed${NL}${NL}--x${NL}${NL}hola`))).left, [
    'null unreadable',
  ])
  const headers = `From: a@b.example${NL}Content-Type: multipart/mixed; boundary=b${NL}${NL}`
  assert.deepEqual(await read(`${headers}hola`), { refused: 'no documents', left: ['null unreadable'] })
})

test('a picture that the HTML shows is inline beside another document', async () => {
  const picture = (id: string, size: number, name = 'a.png'): TestPart => ({
    type: 'image/png',
    disposition: `inline; filename=${name}`,
    id,
    content: Buffer.concat([Buffer.from('\x89PNG', 'latin1'), Buffer.alloc(size - 4)]),
  })
  const [logo, photo, other] = [
    picture('<logo>', 10),
    picture('<pie x>', 20 * 1024 + 1),
    picture('<other>', 10, 'o.png'),
  ]
  const whole = { left: [], bodies: 1 }
  assert.deepEqual(await readParts([HTML, logo, photo, FE]), {
    ...whole,
    parts: [`FE.xml ${SIZE}`],
    inline: 2,
  })
  assert.deepEqual(await readParts([HTML, logo, photo, other]), { ...whole, parts: ['o.png 10'], inline: 2 })
  assert.deepEqual(await readParts([HTML, logo, photo]), { ...whole, parts: ['a.png 20481'], inline: 1 })
  assert.deepEqual(await readParts([HTML, picture('<logo>', 20 * 1024)]), {
    refused: 'no documents',
    left: [],
  })
  const alone = await readParts([HTML, logo, photo, FE], ['*.xml'])
  assert.deepEqual(alone, { ...whole, parts: ['a.png 20481'], left: ['FE.xml ignored'], inline: 1 })
  const attached = await readParts([
    HTML,
    logo,
    { type: 'message/rfc822', content: createMail([HTML, photo, other]) },
  ])
  assert.deepEqual(attached, { ...whole, parts: ['o.png 10'], inline: 2, bodies: 2 })
})

test('a mail may begin with empty lines, and an empty line ends its headers', async () => {
  const mail = createMail([{ type: 'text/plain', content: 'hola' }, FE]).toString('latin1')
  const expected = { parts: [`FE.xml ${SIZE}`], left: [], inline: 0, bodies: 1 }
  for (const start of ['\r\n', '\n', '\r\n\n\r\n']) assert.deepEqual(await read(start + mail), expected)
  const attached = { type: 'message/rfc822', content: `\r\n${mail}` }
  assert.deepEqual(await readParts([attached]), expected)
  const cut = mail.replace('To:', '\r\nTo:')
  const refused = await readMail(new Uint8Array(Buffer.from(cut, 'latin1')).buffer)
  assert.deepEqual(
    ['refused' in refused && refused.refused, refused.fromText],
    ['no documents', 'Ana <ana@proveedor.example>'],
  )
})
