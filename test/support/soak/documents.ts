// Clients that upload and delete. With an Idempotency-Key they repeat a request until it is answered, without one they
// never do. Each upload has unique names, so that a document identifies its upload.

import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { TOKENS } from '../directory.ts'
import { createClave, sampleInvoice } from '../documents/invoice-xml.ts'
import { UPLOAD_FORM_NAMES, UPLOAD_FORMS } from '../documents/ways.ts'
import { type Answer, checkName, count, fault, loss, parseAnswer, request, rest, type Soak } from './world.ts'

const MiB = 1024 * 1024
const MANY_TRIES = 1000

export type Upload = {
  names: string[]
  hashes: string[]
  /** Undefined: no answer acknowledged it; it may be stored, but only as a whole. */
  ids: number[] | undefined
  /** `maybe`: its deletion had no answer. */
  deleted: 'no' | 'maybe' | 'yes'
  isOfCompany2: boolean
  /** Clave of the first document, if that is an invoice. */
  clave?: string | undefined
}

/** Uploads by the name of their first document. */
export type Uploads = Map<string, Upload>

/** Uploads until the soak is over. */
export async function uploadDocuments(soak: Soak, uploads: Uploads, uploader: number): Promise<void> {
  const { random } = soak
  const invoice = (turn: number) => sampleInvoice({ clave: soakClave(uploader, turn) })
  const shared = Array.from({ length: 20 }, (_, at) => Buffer.from(`the same content ${at}`))
  for (let turn = 0; !soak.isOver; turn++) {
    await rest(soak, 0, 120)
    const contents = Array.from({ length: random.chance(0.2) ? random.int(2, 6) : 1 }, () =>
      random.chance(0.1) ? (shared[random.int(0, 19)] as Buffer) : randomBytes(randomSize(soak)),
    )
    const isInvoice = random.chance(0.2)
    if (isInvoice) contents[0] = Buffer.from(invoice(turn))
    const names = contents.map((_, at) => `${uploader}-${turn}-${at}.bin`)
    const isOfCompany2 = random.chance(0.1)
    const upload: Upload = {
      ...{ names, isOfCompany2, hashes: contents.map(hashBytes), deleted: 'no' as const },
      ids: undefined,
      clave: isInvoice ? soakClave(uploader, turn) : undefined,
    }
    uploads.set(names[0] as string, upload)
    await send(soak, upload, contents, random.chance(0.6) ? `key ${uploader}-${turn}` : undefined)
    if (upload.ids && isOfCompany2 && random.chance(0.5)) await deleteDocuments(soak, upload)
  }
}

/** Clave of an invoice, which no other upload has. */
function soakClave(uploader: number, turn: number): string {
  return createClave('FacturaElectronica', uploader * 10_000_000 + turn)
}

function randomSize({ random }: Soak): number {
  if (random.chance(0.0015)) return random.int(6 * MiB, 11 * MiB) // a multipart upload in the bucket
  return random.chance(0.06) ? random.int(50_000, 200_000) : random.int(1, 4000)
}

async function send(soak: Soak, upload: Upload, contents: Buffer[], key: string | undefined): Promise<void> {
  const { random } = soak
  const [company, agent] = upload.isOfCompany2 ? [2, 3] : [1, 1]
  const form = random.item(contents.length === 1 ? UPLOAD_FORM_NAMES : (['JSON', 'form'] as const))
  const documents = contents.map((bytes, at) => ({
    ...{ name: upload.names[at] ?? '', mimetype: 'application/pdf', bytes },
  }))
  const ids = { owner_id: 3, company_id: company, agent_id: agent }
  const { path, headers, body: bytes } = UPLOAD_FORMS[form](documents, ids)
  const body = new Uint8Array(bytes)
  const init = { method: 'POST', headers: { ...requestHeaders(key), ...headers }, body }
  for (let tries = 0; tries < MANY_TRIES; tries++) {
    const answer = await request(soak, `upload as ${form}`, path, init)
    if (answer && !isInProgress(answer)) {
      take(soak, upload, answer)
      if (key !== undefined && random.chance(0.05)) await sendAgain(soak, path, init, { upload, answer })
      return
    }
    if (key === undefined || soak.isAborted) return
    count(soak, 'uploads sent again')
    await pause(random.int(20, 1000))
  }
  fault(soak, `upload ${upload.names[0]} was not kept after ${MANY_TRIES} tries`)
}

function take(soak: Soak, upload: Upload, answer: Answer): void {
  if (answer.status !== 200) {
    fault(soak, `upload: ${answer.status} ${answer.body}`)
    return
  }
  const { created_documents } = parseAnswer<{ created_documents: { id: number }[] }>(answer)
  upload.ids = created_documents.map(({ id }) => id)
  for (const [at, id] of upload.ids.entries()) checkName(soak, id, upload.names[at] ?? '')
  count(soak, 'documents acknowledged', upload.ids.length)
}

/** A key that was answered gets the same bytes again. */
async function sendAgain(
  soak: Soak,
  path: string,
  init: RequestInit,
  { upload, answer: first }: { upload: Upload; answer: Answer },
): Promise<void> {
  const again = await request(soak, 'upload again', path, init)
  if (!again || isInProgress(again)) return
  if (again.status === 200 && again.body.equals(first.body)) return
  loss(
    soak,
    'answers of keys',
    `a key was answered with ${first.body}, and then ${again.status} ${again.body}`,
  )
  if (soak.mayLose) take(soak, upload, again)
}

/** Valid answers to a key whose first attempt may still run in a node or the database. */
function isInProgress({ status, body }: Answer): boolean {
  return status === 409 && body.includes('in progress')
}

async function deleteDocuments(soak: Soak, upload: Upload): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.remove}` }
  upload.deleted = 'maybe'
  for (const id of upload.ids ?? []) {
    const answer = await request(soak, 'deletion', `/api/v1/documents/${id}`, { method: 'DELETE', headers })
    if (!answer) return
    if (answer.status === 404) loss(soak, 'documents that were to be deleted', `deletion of ${id}: 404`)
    else if (answer.status !== 200) fault(soak, `deletion of ${id}: ${answer.status} ${answer.body}`)
  }
  upload.deleted = 'yes'
}

function requestHeaders(key: string | undefined): Record<string, string> {
  const shared = { authorization: `Bearer ${TOKENS.all}` }
  return key === undefined ? shared : { ...shared, 'idempotency-key': key }
}

export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
