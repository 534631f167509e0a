// Descriptions of the request and response headers of endpoints.

import type { RequestHeader } from '../endpoint/endpoint.ts'

type Described = { description: string; schema: object; example?: string }

const TEXT = { type: 'string' }

export const REQUEST_HEADERS: Readonly<Record<RequestHeader, Described>> = {
  'If-None-Match': {
    description: 'The ETag of an answer that the client holds: 304 while it is still good',
    schema: TEXT,
  },
  'Idempotency-Key': {
    description:
      'A key of the client for this upload, 1 to 255 characters: the same upload sent again within a day is answered ' +
      'as before, and nothing is made twice',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'X-Cambista-Priority': {
    description: 'Priority of the documents: claims take the highest first',
    schema: { type: 'integer', minimum: 0, maximum: 9, default: 0 },
  },
  'X-Cambista-Duplicates': {
    description:
      'Refuses the upload, with 409, if an invoice in it has a document of the same bytes or the same created_by',
    schema: { type: 'string', enum: ['refuse'] },
  },
  'Content-Digest': {
    description:
      'What the body hashes to, as sha-256=:BASE64: or sha-512=:BASE64: (RFC 9530): another body is 400',
    schema: TEXT,
  },
  'Repr-Digest': { description: 'The same', schema: TEXT },
  Range: { description: 'One range of bytes, such as bytes=0-1023: 206', schema: TEXT },
  'If-Range': { description: 'The ETag for which Range counts; else the whole is answered', schema: TEXT },
}

export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: "The request's id in the log: the client's own X-Request-Id, if it sent a sane one",
    schema: TEXT,
  },
  ETag: { description: 'Names this answer; strong', schema: TEXT },
  Age: {
    description: 'Only while the database of several nodes is away: for how many seconds it has not answered',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds after which to try again', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to authenticate', schema: TEXT },
  'Content-Range': {
    description: 'Which bytes these are, of how many; of a 416, how many there are',
    schema: TEXT,
  },
  'Accept-Ranges': { description: 'That ranges of bytes may be asked for', schema: TEXT },
  'X-Holes': {
    description:
      'Of CSV and NDJSON: days of the range that were not synchronized, such as 2024-02-20..2024-03-04; unknown with as_of ' +
      'before the record of them',
    schema: TEXT,
  },
  'X-Left-Out': {
    description:
      'What is left out over days that were not synchronized: ids of series, or the codes of the shape of another service',
    schema: TEXT,
  },
  'X-Rounded-To': {
    description: 'Decimals to which a value of the answer is rounded, the fewest of them; absent if none is',
    schema: { type: 'integer' },
  },
  'X-Ends-At': {
    description: 'The oldest day of a list that ends at days that were not synchronized',
    schema: { type: 'string', format: 'date' },
  },
  'X-Future': { description: 'true where `on` is after tomorrow', schema: TEXT },
  'X-Cambista-As-Of': {
    description: 'The instant of the state that the answer is of: `as_of` repeats it',
    schema: { type: 'string', format: 'date-time' },
  },
  'Content-Disposition': { description: 'The name to save it by', schema: TEXT },
} as const

export type ResponseHeader = keyof typeof RESPONSE_HEADERS

/** References to headers of the components. */
export function headerRefs(names: readonly ResponseHeader[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
