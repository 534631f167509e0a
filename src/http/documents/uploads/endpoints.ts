// The ways to send documents: JSON with base64 as the contract has it, and on a path of ours the bytes as they are, one document
// as the body or several as the files of a form (decisions 3.18).

import { AppError } from '../../../errors.ts'
import type { Semaphore } from '../../../semaphore.ts'
import { type AnyEndpoint, post } from '../../api/endpoint.ts'
import { invalidParameters, type ValidationItem } from '../../api/errors.ts'
import { nodeOf } from '../../api/send.ts'
import { createUploadReader } from './json-body.ts'
import { createRawReader } from './raw-body.ts'
import type { Way } from './reader.ts'
import { createUploadReceiver, type UploadDeps } from './receive.ts'
import { FormIn, SentQuery, UploadIn, UploadOut } from './shapes.ts'

const REFUSALS = {
  409: 'A request with this Idempotency-Key is in progress (at another node it gets the first answer), or was another one',
  507: 'Not enough free disk space, or a quota of the company is used up',
}
const COMMON = {
  reads: ['Idempotency-Key', 'Content-Digest', 'Repr-Digest'],
  refusals: REFUSALS,
  scope: 'documents',
  answer: UploadOut,
  notFound: 'Company, agent or owner not found',
} as const

const NAMES = ['company_id', 'agent_id', 'owner_id', 'name'] as const

const JSON_WAY: Way = { open: createUploadReader, density: 0.75 } // four characters carry three bytes

/** The endpoints, and the semaphore of the uploads, to be looked at. */
export function uploadEndpoints(deps: UploadDeps): {
  endpoints: AnyEndpoint[]
  semaphore: Pick<Semaphore, 'status'>
} {
  const { receive, semaphore } = createUploadReceiver(deps)
  const endpoints = [
    post({
      ...COMMON,
      path: '/api/v1/documents/create',
      summary: 'Create documents for an agent, all or none',
      about:
        'Answered when every document is on disk. With one that is wrong none is kept, and the answer names what is wrong ' +
        'with each of the first thousand.',
      body: UploadIn,
      handle: ({ event }) => receive(event, () => JSON_WAY),
    }),

    post({
      ...COMMON,
      path: '/api/v1/documents',
      summary: 'Send a document, or a form with several, without base64',
      about:
        'As /documents/create, but the bytes are sent as they are. With any Content-Type but multipart/form-data the body is ' +
        'one document of that type, application/json too, and the query says its name and for whom it is. A form has the ' +
        'ids as fields, in any place, and each of its files is a document, with the filename and the Content-Type of its part.',
      query: SentQuery,
      body: FormIn,
      bodyTypes: ['multipart/form-data'],
      rawBody: true,
      handle: ({ event, query }) =>
        receive(event, () => wayOf(nodeOf(event).req.headers['content-type'], query)),
    }),
  ]
  return { endpoints, semaphore }
}

/** @throws AppError `bad-request` without a type of the body, `invalid` for parameters that the body does not go with */
async function wayOf(type: string | undefined, query: SentQuery): Promise<Way> {
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
  const faults = NAMES.filter((name) => (query[name] !== undefined) === isForm).map(
    (name): ValidationItem => {
      const place = name === 'name' ? 'the filename of each file' : 'a field'
      const msg = isForm ? `${name} must be ${place} in the form, not a parameter` : `${name} is required`
      return { loc: ['query', name], msg, type: isForm ? 'unknown' : 'missing' }
    },
  )
  if (faults.length > 0) throw invalidParameters(faults)
  if (isForm) {
    const { formReaderFor } = await import('./form-body.ts')
    return { open: formReaderFor(type), density: 1 }
  }
  const { name, owner_id, company_id, agent_id } = query
  const ids = { owner_id, company_id, agent_id }
  return { open: (needs) => createRawReader(needs, ids, { name, mimetype: type }), density: 1 }
}
