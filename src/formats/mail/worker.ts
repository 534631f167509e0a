// Program of the thread that reads mails (domain/mail/reader.ts). A request is the bytes of a mail, the reply its
// documents. Bytes are transferred, not copied. The first message reports that the thread runs.

import { parentPort } from 'node:worker_threads'
import { type RefusedMail, readMail } from './mail.ts'

parentPort?.on('message', async (raw: ArrayBuffer) => {
  const mail = await readMail(raw).catch((): RefusedMail => ({ refused: 'unreadable' })) // whatever its sender wrote
  parentPort?.postMessage(mail, 'refused' in mail ? [] : mail.parts.map(({ bytes }) => bytes.buffer))
})
parentPort?.postMessage('ready')
