// Mails that are large, deep or costly to read.

import { sampleInvoice } from '../documents/invoice-xml.ts'
import { createMail, NL } from '../documents/mails.ts'
import { zipped } from '../rates/workbooks.ts'

const MULTIPART = `Subject: x${NL}Content-Type: multipart/mixed; boundary=B`
const PDF = `Content-Type: application/pdf; name=a.pdf${NL}`
const BASE64 = `Content-Transfer-Encoding: base64${NL}${NL}`
const LINE = `${Buffer.alloc(57, '%PDF').toString('base64')}${NL}`

export const HOSTILE_MAILS: Record<
  string,
  { create(): string | Promise<Buffer>; expected: string[] | string }
> = {
  '100,000 parts': {
    create: () =>
      `${MULTIPART}${NL}${NL}${`--B${NL}Content-Type: text/xml${NL}${NL}<a/>${NL}`.repeat(100_000)}--B--`,
    expected: 'too many parts',
  },
  'a depth of 5,000 parts': {
    create: () => {
      const levels = Array.from(
        { length: 5000 },
        (_, at) => `--B${at}${NL}Content-Type: multipart/mixed; boundary=B${at + 1}${NL}${NL}`,
      )
      return `${MULTIPART}0${NL}${NL}${levels.join('')}`
    },
    expected: 'unreadable',
  },
  'a depth of 5,000 attached messages': {
    create: () => `Content-Type: message/rfc822${NL}${NL}`.repeat(5000),
    expected: ['adjunto-1.eml'],
  },
  '5 MB of headers': {
    create: () => `${`X-Header: ${'h'.repeat(80)}${NL}`.repeat(60_000)}${NL}hola`,
    expected: 'unreadable',
  },
  '250 KB of commas in a header': {
    create: () => `To: ${','.repeat(250_000)}${NL}${PDF}${NL}x`,
    expected: ['a.pdf'],
  },
  'a header in 25,000 lines': {
    create: () => `To: a${`${NL} a`.repeat(25_000)}${NL}${PDF}${NL}x`,
    expected: 'unreadable',
  },
  'a zip bomb': {
    create: async () => {
      const bomb = await zipped({ 'FE.xml': sampleInvoice(), zeros: '0'.repeat(60_000_000) })
      return createMail([
        { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: bomb },
      ])
    },
    expected: ['a.zip'],
  },
  'a zip with `../`': {
    create: async () => {
      const archive = await zipped({ '../../etc/FE.xml': sampleInvoice() })
      return createMail([
        { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: archive },
      ])
    },
    expected: ['FE.xml'],
  },
  '25 MB in base64': { create: () => `${PDF}${BASE64}${LINE.repeat(320_000)}`, expected: ['a.pdf'] },
  '40 MB in lines of a character': {
    create: () => `${PDF}${NL}${'x\n'.repeat(20_000_000)}`,
    expected: ['a.pdf'],
  },
  '40 MB in base64 with padding in each line': {
    create: () => `${PDF}${BASE64}${'QQ==\n'.repeat(8_000_000)}`,
    expected: ['a.pdf'],
  },
  '40 MB in quoted-printable': {
    create: () => `${PDF}Content-Transfer-Encoding: quoted-printable${NL}${NL}${'=42=\n'.repeat(8_000_000)}`,
    expected: ['a.pdf'],
  },
  '30 MB of pictures that HTML names': {
    create: () =>
      `${MULTIPART}${NL}${NL}--B${NL}Content-Type: text/html${NL}${NL}${'cid:a '.repeat(5_000_000)}${NL}--B--`,
    expected: 'no documents',
  },
  '40 MB after its end': {
    create: () => `${MULTIPART}${NL}${NL}--B${NL}${PDF}${NL}after${NL}--B--${NL}${'x\n'.repeat(20_000_000)}`,
    expected: ['a.pdf'],
  },
  '20 MB that might be the ends of 200 parts': {
    create: slowMail,
    expected: 'no documents',
  },
}

/** Returns a mail each of whose lines is compared with 200 boundaries. */
export function slowMail(): string {
  const levels = Array.from(
    { length: 200 },
    (_, at) => `--B${at}${NL}Content-Type: multipart/mixed; boundary=B${at + 1}${NL}${NL}`,
  )
  return `${MULTIPART}0${NL}${NL}${levels.join('')}${`--B${NL}`.repeat(4_000_000)}`
}
