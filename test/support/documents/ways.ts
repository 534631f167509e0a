// The same upload in each way that documents can be sent, for tests of what all of them have in common.

import { CREATE, TOKENS } from '../directory.ts'

export type SentDocument = { name: string; mimetype: string; bytes: Buffer }
export type Ids = { owner_id?: unknown; company_id?: unknown; agent_id?: unknown }

/** A request as it is, to be sent whole or cut off. */
export type SentRequest = { path: string; headers: Record<string, string>; body: Buffer }

export const SEND = '/api/v1/documents'
export const BOUNDARY = 'XxLimitexX'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

const OURS = { owner_id: 1, company_id: 1, agent_id: 1 }

/** By what they are called in the titles of tests. The body alone holds one document. */
export const WAYS = { JSON: asJson, body: asBody, form: asForm }
export const WAY_NAMES = ['JSON', 'body', 'form'] as const
export type WayName = (typeof WAY_NAMES)[number]

export function sent(text = 'hola', name = 'factura.pdf', mimetype = 'application/pdf'): SentDocument {
  return { name, mimetype, bytes: Buffer.from(text) }
}

/** Sends one document with this text, by the token that may do all. */
export function sendText(app: { app: { url: string } }, way: WayName, text: string): Promise<Response> {
  const { path, headers, body } = WAYS[way]([sent(text)])
  const authorization = `Bearer ${TOKENS.all}`
  return fetch(app.app.url + path, {
    method: 'POST',
    headers: { authorization, ...headers },
    body: new Uint8Array(body),
  })
}

function asJson(documents: readonly SentDocument[], ids: Ids = OURS): SentRequest {
  const coded = documents.map(({ bytes, ...one }) => ({ ...one, base64: bytes.toString('base64') }))
  const body = Buffer.from(JSON.stringify({ ...ids, documents: coded }))
  return { path: CREATE, headers: { 'content-type': 'application/json' }, body }
}

function asBody([document = sent()]: readonly SentDocument[], ids: Ids = OURS): SentRequest {
  const { name, mimetype, bytes } = document
  const query = new URLSearchParams({ ...(ids as Record<string, string>), name })
  return { path: `${SEND}?${query}`, headers: { 'content-type': mimetype }, body: bytes }
}

function asForm(documents: readonly SentDocument[], ids: Ids = OURS): SentRequest {
  const fields = Object.entries(ids).map(([id, value]) => part(`name="${id}"`, '', String(value)))
  const files = documents.map(({ name, mimetype, bytes }) =>
    part(`name="file"; filename="${name}"`, `Content-Type: ${mimetype}\r\n`, bytes),
  )
  return { path: SEND, headers: { 'content-type': FORM_TYPE }, body: formOf(...fields, ...files) }
}

/** A part of a form; `headers` are those beside Content-Disposition, each with its line break. */
export function part(disposition: string, headers: string, bytes: string | Buffer): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('\r\n')])
}

export function formOf(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}
