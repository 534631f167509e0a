// Upload formats: JSON with base64 as in the contract, and raw bytes on a path of ours. Raw bytes are one document
// as the body, or several as the files of a form (decisions#raw).

import { AppError } from '../../../runtime/errors.ts'
import { nodeContext } from '../../endpoint/answers/send.ts'
import { type AnyEndpoint, post } from '../../endpoint/endpoint.ts'
import { invalidParameters, type ValidationItem } from '../../endpoint/error-shape.ts'
import type { BodyFormat } from './body-reader.ts'
import { createUploadReader } from './json-body.ts'
import { createRawReader } from './raw-body.ts'
import type { UploadReceiver } from './receive.ts'
import { DocumentParams, FormBody, UploadBody, UploadOut, UploadQuery } from './shapes.ts'

const REFUSALS = {
  409: 'A request with this Idempotency-Key is in progress (at another node it gets the first answer), or was another one; or an invoice has a document of the same bytes or the same created_by, and duplicates are refused',
  507: 'Not enough free disk space, or a quota of the company is used up',
}
const COMMON = {
  reads: ['Idempotency-Key', 'X-Cambista-Priority', 'X-Cambista-Duplicates', 'Content-Digest', 'Repr-Digest'],
  refusals: REFUSALS,
  answer: UploadOut,
  notFound: 'Company, agent or owner not found',
} as const

const OPTIONS = [
  ['priority', 'X-Cambista-Priority'],
  ['duplicates', 'X-Cambista-Duplicates'],
] as const

const PARAMETERS = Object.keys(DocumentParams) as (keyof typeof DocumentParams)[]

const JSON_FORMAT: BodyFormat = { open: createUploadReader, density: 0.75 } // four characters carry three bytes

export function uploadEndpoints({ receive }: Pick<UploadReceiver, 'receive'>): AnyEndpoint[] {
  return [
    post({
      ...COMMON,
      path: '/api/v1/documents/create',
      about:
        'Documents for an agent, all or none. Answered when every document is on disk. With one that is wrong none ' +
        'is kept, and the answer names what is wrong with each of the first thousand.',
      body: UploadBody,
      handle: ({ event }) => receive(event, () => JSON_FORMAT),
    }),

    post({
      ...COMMON,
      path: '/api/v1/documents',
      about:
        'As /documents/create, but the bytes are sent as they are. With any Content-Type but multipart/form-data ' +
        'the body is one document of that type, application/json too, and the query says its name and for whom it ' +
        'is. A form has the ids as fields, in any place, and each of its files is a document, with the filename ' +
        'and the Content-Type of its part. Without a Content-Type, or with application/octet-stream, its type is ' +
        'that of the ending of its name.',
      query: UploadQuery,
      body: FormBody,
      bodyTypes: ['multipart/form-data'],
      rawBody: true,
      handle: ({ event, query }) =>
        receive(event, () => bodyFormat(nodeContext(event).req.headers['content-type'], query)),
    }),
  ]
}

/** @throws AppError `bad-request` without a type of the body, `invalid` for parameters that the body does not go with */
async function bodyFormat(type: string | undefined, query: UploadQuery): Promise<BodyFormat> {
  const kind = type?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === undefined || kind === '') {
    throw new AppError(
      'bad-request',
      'Content-Type is missing: it must be the type of the document, such as application/pdf',
    )
  }
  if (kind === 'application/x-www-form-urlencoded') {
    throw new AppError(
      'bad-request',
      `Content-Type ${kind} is what curl says unasked: it must be the type of the document, such as application/pdf`,
    )
  }
  const isForm = kind === 'multipart/form-data'
  const faults = PARAMETERS.filter((name) => (query[name] !== undefined) === isForm).map(
    (name): ValidationItem => {
      const place = name === 'name' ? 'the filename of each file' : 'a field'
      const msg = isForm ? `${name} must be ${place} in the form, not a parameter` : `${name} is required`
      return { loc: ['query', name], msg, type: isForm ? 'unknown' : 'missing' }
    },
  )
  for (const [name, header] of OPTIONS) {
    if (!isForm || query[name] === undefined) continue
    const msg = `send ${name} in the header ${header}: a form has no such parameter`
    faults.push({ loc: ['query', name], msg, type: 'unknown' })
  }
  if (faults.length > 0) throw invalidParameters(faults)
  if (isForm) {
    const { createFormReaders: formReaderFor } = await import('./form-body.ts')
    return { open: formReaderFor(type), density: 1 }
  }
  const { name, owner_id, company_id, agent_id, priority, duplicates } = query
  const ids = { owner_id, company_id, agent_id }
  const open: BodyFormat['open'] = (needs) => createRawReader(needs, ids, { name, mimetype: type })
  return { open, density: 1, priority, refusesDuplicates: duplicates !== undefined }
}
