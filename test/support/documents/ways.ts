// The same upload in each form, for tests of their common behaviour.

import { CREATE, TOKENS } from '../directory.ts'

export type UploadDocument = { name: string; mimetype: string; bytes: Buffer }
export type Ids = { owner_id?: unknown; company_id?: unknown; agent_id?: unknown }

/** A request to send whole or cut off. */
export type UploadRequest = { path: string; headers: Record<string, string>; body: Buffer }

export const SEND = '/api/v1/documents'
export const BOUNDARY = 'XxLimitexX'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

const OURS = { owner_id: 1, company_id: 1, agent_id: 1 }

/** Forms by their name in the titles of tests. The form `body` has one document. */
export const UPLOAD_FORMS = { JSON: asJson, body: asBody, form: asForm }
export const UPLOAD_FORM_NAMES = ['JSON', 'body', 'form'] as const
export type UploadFormName = (typeof UPLOAD_FORM_NAMES)[number]

export function sampleDocument(
  text = 'hola',
  name = 'factura.pdf',
  mimetype = 'application/pdf',
): UploadDocument {
  return { name, mimetype, bytes: Buffer.from(text) }
}

/** Uploads one document with this text, with the token that may do everything. */
export function sendText(
  app: { app: { url: string } },
  way: UploadFormName,
  text: string,
): Promise<Response> {
  const { path, headers, body } = UPLOAD_FORMS[way]([sampleDocument(text)])
  const authorization = `Bearer ${TOKENS.all}`
  return fetch(app.app.url + path, {
    method: 'POST',
    headers: { authorization, ...headers },
    body: new Uint8Array(body),
  })
}

function asJson(documents: readonly UploadDocument[], ids: Ids = OURS): UploadRequest {
  const coded = documents.map(({ bytes, ...one }) => ({ ...one, base64: bytes.toString('base64') }))
  const body = Buffer.from(JSON.stringify({ ...ids, documents: coded }))
  return { path: CREATE, headers: { 'content-type': 'application/json' }, body }
}

function asBody([document = sampleDocument()]: readonly UploadDocument[], ids: Ids = OURS): UploadRequest {
  const { name, mimetype, bytes } = document
  const query = new URLSearchParams({ ...(ids as Record<string, string>), name })
  return { path: `${SEND}?${query}`, headers: { 'content-type': mimetype }, body: bytes }
}

function asForm(documents: readonly UploadDocument[], ids: Ids = OURS): UploadRequest {
  const fields = Object.entries(ids).map(([id, value]) => part(`name="${id}"`, '', String(value)))
  const files = documents.map(({ name, mimetype, bytes }) =>
    part(`name="file"; filename="${name}"`, `Content-Type: ${mimetype}\r\n`, bytes),
  )
  return { path: SEND, headers: { 'content-type': FORM_TYPE }, body: formBody(...fields, ...files) }
}

/** A part of a form; `headers` follow Content-Disposition, each with its line break. */
export function part(disposition: string, headers: string, bytes: string | Buffer): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('\r\n')])
}

export function formBody(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}
