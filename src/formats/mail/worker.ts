// Program of the thread that reads mails (domain/mail/reader.ts). A request has the bytes of a mail, the reply its
// documents. Bytes are transferred, not copied. The first message reports that the thread runs, an error ends it.

import { parentPort } from 'node:worker_threads'
import { type MailOptions, readMail } from './mail.ts'

parentPort?.on('message', async ({ raw, ...options }: MailOptions & { raw: ArrayBuffer }) => {
  const mail = await readMail(raw, options)
  parentPort?.postMessage(mail, 'refused' in mail ? [] : mail.parts.map(({ bytes }) => bytes.buffer))
})
parentPort?.postMessage('ready')
