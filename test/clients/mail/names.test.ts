// Names, subject and sender in bytes of several charsets, from a real mailbox to the list of documents.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMail } from '../../support/documents/mails.ts'
import { startDovecot } from '../../support/mail/dovecot.ts'
import { startMailApp } from '../../support/mail/mail-app.ts'

const NAMES: [filename: string, name: string][] = [
  ['"Facturaci\xf3n N\xba 5.pdf"', 'Facturación Nº 5.pdf'],
  ['"=?cp850?Q?Facturaci=A2n.pdf?="', 'Facturación.pdf'],
  ['"=?UTF-8?B?RmFjdHVyYWNpww==?= =?UTF-8?B?s24ucGRm?="', 'Facturación.pdf'],
  ['"=?UTF-8?B?RmFjdHVyYWNpw?= =?UTF-8?B?7NuLnBkZg==?="', 'Facturación.pdf'],
  ['"\xc3\x91and\xc3\xba.pdf"', 'Ñandú.pdf'],
  ['"=?iso-2022-jp?B?GyRCQEE1YT1xGyhC?=.pdf"', '請求書.pdf'],
]

test('texts of a mail in several charsets reach the list', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const parts = NAMES.map((_, at) => ({
    type: 'application/pdf',
    disposition: `attachment; filename={${at}}`,
    content: `%PDF-1.4 ${at}`,
  }))
  const head = { Subject: 'Facturaci\xf3n', From: 'Jos\xe9 =?cp850?Q?N=A3=A4ez?= <j@proveedor.example>' }
  const subject = '{subject}'
  const mail = createMail(parts, { Subject: subject, From: '{from}' }).toString('latin1')
  const message = mail
    .replace(/\{(\d+)\}/g, (_, at) => NAMES[Number(at)]?.[0] ?? '')
    .replace(subject, head.Subject)
    .replace('{from}', head.From)
  await dovecot.deliver(Buffer.from(message, 'latin1'))
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.failure, mailbox.taken], [null, 1])
  const documents = await app.documents()
  assert.deepEqual(
    documents.map(({ name }) => name),
    NAMES.map(([, name]) => name),
  )
  const [{ mail: origin } = {}] = documents
  assert.deepEqual([origin?.subject, origin?.from], ['Facturación', 'José Núñez <j@proveedor.example>'])
})
