// Random trees of mails: nesting, dispositions, names, encodings and containers. Each leaf has one outcome, and no byte of
// a document differs from its leaf. An opened container counts as its entries.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { figure, scaled } from '../../../faults/scale.ts'
import { signedData, uuencode } from '../../../support/documents/containers.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { storedZip } from '../../../support/documents/mails.ts'
import { createRandom, type Random } from '../../../support/rates/random-bank.ts'
import { SEED } from '../../../support/seed.ts'

type Outcome = 'document' | 'body' | 'inline' | 'left' | 'shown'
type Leaf = { outcome: Outcome; bytes: Buffer }
/** A part as it is sent, and its leaves. */
type Tree = { raw: Buffer; leaves: Leaf[] }
type World = { random: Random; pictures: string[]; layers: string[]; count: { value: number } }

const TREES = scaled({ short: 1500, long: 50_000 })
const NL = '\r\n'
const TYPES = [
  'application/pdf',
  'application/octet-stream',
  'image/png',
  'text/plain',
  'text/html',
  'text/csv',
  'message/rfc822', // a wrong label
  'x',
]
const INLINE = [
  'text/calendar',
  'application/pgp-signature',
  'application/x-pkcs7-signature',
  'message/delivery-status',
]
const IGNORED = ['.DS_Store', 'THUMBS.DB', '._a.xml', 'desktop.ini', 'firma-1.png']

/** Bytes that begin like no file that a mail opens. No two are the same. */
function createBytes({ random, count }: World): Buffer {
  const size = random.chance(0.03) ? random.int(20_000, 30_000) : random.int(1, 200)
  const noise = Buffer.from(Array.from({ length: 97 }, () => random.int(0, 255)))
  return Buffer.concat([Buffer.from(`n${count.value++}! `), Buffer.alloc(size, noise)])
}

function createXml({ count }: World): Buffer {
  return Buffer.from(`${sampleInvoice()}<!-- ${count.value++} -->`)
}

function encode(bytes: Buffer, encoding: string): string {
  if (encoding === 'base64') return bytes.toString('base64').replace(/.{76}/g, `$&${NL}`)
  if (encoding === 'x-uuencode') return uuencode('a.bin', bytes)
  if (encoding !== 'quoted-printable') return bytes.toString('latin1')
  return Array.from(bytes, (byte) => `=${byte.toString(16).padStart(2, '0')}`)
    .join('')
    .replace(/.{75}/g, `$&=${NL}`)
}

function nameParameter({ random }: World, name: string, key: string): string {
  const encoded = `"=?utf-8?B?${Buffer.from(name).toString('base64')}?="`
  const form = random.item([
    `=${JSON.stringify(name)}`,
    `*=utf-8''${encodeURIComponent(name)}`,
    `=${encoded}`,
  ])
  return `; ${key}${form}`
}

/** Encodes a leaf. A part without a name or a disposition has neither header. */
function encodeLeaf(
  world: World,
  bytes: Buffer,
  {
    type,
    name,
    disposition,
    encoding,
  }: { type: string; name?: string; disposition?: string; encoding?: string },
  more = '',
): Buffer {
  const { random } = world
  const encodingName = encoding ?? random.item(['base64', 'quoted-printable', 'x-uuencode'])
  const isDisposed = disposition !== undefined && (type === 'x' || random.chance(0.5))
  const typeName = name && !isDisposed ? nameParameter(world, name, 'name') : ''
  const fileName = name && isDisposed ? nameParameter(world, name, 'filename') : ''
  const lines = [
    ...(type === 'x' ? [] : [`Content-Type: ${type}${typeName}`]),
    ...(disposition === undefined ? [] : [`Content-Disposition: ${disposition}${fileName}`]),
    ...(encodingName === '' ? [] : [`Content-Transfer-Encoding: ${encodingName}`]),
  ]
  return Buffer.from(
    [...lines, more, encode(bytes, encodingName)].join(NL).replace(`${NL}${NL}${NL}`, `${NL}${NL}`),
    'latin1',
  )
}

function createLeaf(world: World): Tree {
  const { random } = world
  const one = (outcome: Outcome, bytes: Buffer, raw: Buffer): Tree => ({ raw, leaves: [{ outcome, bytes }] })
  const kind = random.int(0, 9)
  const disposition = random.item([undefined, 'inline', 'attachment'])
  const name = `${random.item(['factura', 'Ñandú 1', 'a b'])}-${world.count.value++}.bin`
  if (kind === 0)
    return one(
      'inline',
      Buffer.alloc(0),
      encodeLeaf(world, createBytes(world), { type: random.item(INLINE), disposition }),
    )
  if (kind === 1) {
    const file = { type: 'application/pdf', name: random.item(IGNORED), disposition: 'attachment' }
    return one('left', Buffer.alloc(0), encodeLeaf(world, createBytes(world), file))
  }
  if (kind === 2) {
    const file = { type: 'application/pdf', name, disposition: 'attachment', encoding: 'base64' }
    return one('left', Buffer.alloc(0), encodeLeaf(world, Buffer.alloc(0), file))
  }
  if (kind === 3) {
    const encoding = random.item(['x-yenc', 'binhex', 'x-uuencode'])
    const raw = encodeLeaf(world, Buffer.from('hola'), {
      type: 'application/pdf',
      name,
      disposition: 'attachment',
      encoding,
    })
    const damaged = encoding === 'x-uuencode' ? Buffer.from(String(raw).replace('end', '')) : raw
    return one('left', Buffer.alloc(0), damaged)
  }
  if (kind === 4) {
    const id = `p${world.count.value++}`
    world.pictures.push(id)
    const picture = Buffer.concat([Buffer.from('\x89PNG', 'latin1'), createBytes(world)])
    const raw = encodeLeaf(
      world,
      picture,
      { type: 'image/png', name, disposition },
      `Content-ID: <${id}>${NL}`,
    )
    return one('shown', picture, raw)
  }
  if (kind === 5) {
    const file = createBytes(world)
    const raw = Buffer.from(
      `Content-Type: text/plain${NL}${NL}Hola.${NL}${uuencode(name, file)}${NL}Adiós.`,
      'latin1',
    )
    return {
      raw,
      leaves: [
        { outcome: 'body', bytes: raw },
        { outcome: 'document', bytes: file },
      ],
    }
  }
  if (kind === 6) {
    const bytes = createXml(world)
    return one(
      'document',
      bytes,
      encodeLeaf(world, bytes, { type: random.item(['text/xml', 'text/plain']), disposition }),
    )
  }
  const bytes = createBytes(world)
  const type = random.item(TYPES)
  if (type === 'message/rfc822')
    return one('document', bytes, encodeLeaf(world, bytes, { type, name, disposition }))
  const hasName = type === 'x' || random.chance(0.6)
  const isText = type.startsWith('text/')
  const encoding = isText && !hasName ? random.item(['base64', 'quoted-printable']) : undefined
  const isBody = isText && !hasName && disposition !== 'attachment'
  const headers = { type, disposition: type === 'x' ? 'attachment' : disposition, encoding }
  const raw = encodeLeaf(
    world,
    bytes,
    hasName ? { ...headers, name } : (headers as typeof headers & { name?: string }),
  )
  return one(isBody ? 'body' : 'document', bytes, raw)
}

/** Returns a container of at most three layers, and the leaves that are its entries. */
function createContainer(world: World): Tree {
  const { random, layers } = world
  const kind = random.item(['mail', 'eml', 'signed', 'zip', 'gzip'])
  const number = world.count.value++
  const within = <T>(work: (inner: World) => T) => work({ ...world, pictures: [], layers: [...layers, kind] })
  const wrap = (bytes: Buffer, type: string, name: string, leaves: Leaf[]): Tree => {
    const isWhole = layers.length >= 3 || (kind === 'zip' && layers.includes('zip'))
    const raw = encodeLeaf(world, bytes, { type, name, disposition: 'attachment' })
    return { raw, leaves: isWhole ? [{ outcome: 'document', bytes }] : leaves }
  }
  if (kind === 'gzip') {
    const bytes = createXml(world)
    return wrap(gzipSync(bytes), 'application/gzip', `${number}.xml.gz`, [{ outcome: 'document', bytes }])
  }
  if (kind === 'zip') {
    const entries = Array.from({ length: random.int(1, 4) }, (_, at): [string, Leaf] => {
      if (random.chance(0.2))
        return [`d${at}/${random.item(IGNORED)}`, { outcome: 'left', bytes: Buffer.from('x') }]
      if (random.chance(0.1)) return [`${at}.txt`, { outcome: 'left', bytes: Buffer.alloc(0) }]
      return [`d${at}/${at}.bin`, { outcome: 'document', bytes: createBytes(world) }]
    })
    const all: [string, Leaf][] = [...entries, ['FE.xml', { outcome: 'document', bytes: createXml(world) }]]
    const zip = storedZip(Object.fromEntries(all.map(([path, { bytes }]) => [path, bytes])))
    const junk = () => Buffer.alloc(random.item([0, 0, 1, 4096]), 'junk')
    return wrap(
      Buffer.concat([junk(), zip, junk()]),
      'application/zip',
      `${number}.zip`,
      all.map(([, leaf]) => leaf),
    )
  }
  const { raw, leaves } = within(createMessage)
  if (kind === 'signed')
    return wrap(
      signedData(raw, { isStream: random.chance(0.5) }),
      'application/pkcs7-mime',
      'smime.p7m',
      leaves,
    )
  const isMail = kind === 'mail'
  return wrap(
    raw,
    isMail ? 'message/rfc822' : 'application/octet-stream',
    isMail ? `${number}` : `${number}.eml`,
    leaves,
  )
}

function createMultipart(world: World, depth: number): Tree {
  const { random } = world
  const boundary = `b${world.count.value++}`
  const parts = Array.from({ length: random.int(1, 4) }, () => {
    if (depth < 3 && random.chance(0.2)) return createMultipart(world, depth + 1)
    return random.chance(0.2) ? createContainer(world) : createLeaf(world)
  })
  const kind = random.item(['mixed', 'related', 'alternative', 'signed'])
  const lines = parts.flatMap(({ raw }) => [Buffer.from(`--${boundary}${NL}`), raw, Buffer.from(NL)])
  const head = Buffer.from(`Content-Type: multipart/${kind}; boundary="${boundary}"${NL}${NL}`)
  const raw = Buffer.concat([head, ...lines, Buffer.from(`--${boundary}--${NL}`)])
  return { raw, leaves: parts.flatMap((part) => part.leaves) }
}

/** Returns a message. Its HTML shows its pictures. */
function createMessage(world: World): Tree {
  const tree = createMultipart(world, 0)
  const head = Buffer.from(
    `From: a@b.example${NL}Content-Type: multipart/mixed; boundary=top${NL}${NL}--top${NL}`,
  )
  const html = world.pictures.map((id) => `<img src="cid:${id}">`).join(' ')
  const body = Buffer.from(`Content-Type: text/html${NL}${NL}<p>${html}${NL}--top${NL}`)
  const raw = Buffer.concat([head, body, tree.raw, Buffer.from(`${NL}--top--${NL}`)])
  return { raw, leaves: [{ outcome: 'body', bytes: body }, ...tree.leaves] }
}

test('each leaf of a random mail has one outcome', async (t) => {
  const random = createRandom(SEED)
  const counts: Record<string, number> = {}
  for (let tree = 0; tree < TREES; tree++) {
    const { raw, leaves } = createMessage({ random, pictures: [], layers: [], count: { value: 0 } })
    const hasOther = leaves.some(({ outcome }) => outcome === 'document')
    const outcomes = leaves.map(({ outcome, bytes }) => {
      if (outcome !== 'shown') return outcome
      return hasOther || bytes.length <= 20 * 1024 ? 'inline' : 'document'
    })
    for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
    const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length
    const mail = await readMail(new Uint8Array(raw).buffer, { ignore: ['firma*.png'] })
    const label = `tree ${tree} of CAMBISTA_SEED=${SEED}`
    assert.equal(mail.left.length, count('left'), label)
    if ('refused' in mail) {
      assert.deepEqual([mail.refused, count('document')], ['no documents', 0], label)
      continue
    }
    assert.equal(mail.parts.length + mail.bodies + mail.inline + mail.left.length, leaves.length, label)
    assert.deepEqual([mail.bodies, mail.inline], [count('body'), count('inline')], label)
    const expected = leaves.filter((_, at) => outcomes[at] === 'document').map(({ bytes }) => digest(bytes))
    assert.deepEqual(mail.parts.map(({ bytes }) => digest(bytes)).sort(), expected.sort(), label)
  }
  figure(t, 'leaves', JSON.stringify(counts))
})

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
