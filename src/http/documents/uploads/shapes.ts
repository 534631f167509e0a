// Schemas of an upload and its answer, for the OpenAPI description.

import * as v from 'valibot'
import type { UploadIds } from '../../../domain/documents/uploads/upload.ts'
import type { FileFields, OptionFields } from '../../../store/documents/documents.ts'
import { Integer, titledObject, withDescription } from '../../endpoint/answers/shapes.ts'
import { idParam } from '../../endpoint/params.ts'

type SchemaMap<Name extends string> = Record<Name, v.GenericSchema>

const Ids = { owner_id: Integer, company_id: Integer, agent_id: Integer } satisfies SchemaMap<keyof UploadIds>

const FileShape = {
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  mimetype: v.pipe(
    v.string(),
    v.maxLength(255),
    v.metadata({ examples: ['application/pdf', 'text/plain; charset=utf-8'] }),
  ),
} satisfies SchemaMap<keyof FileFields>

export const UploadBody = titledObject('Upload', {
  ...Ids,
  documents: v.pipe(
    v.array(
      v.object({
        ...FileShape,
        base64: v.pipe(v.string(), v.metadata({ contentEncoding: 'base64' })),
      }),
    ),
    v.minLength(1),
  ),
})

/** Fields of a document that is sent as the body; its type is that of the body. */
export const DocumentParams = {
  company_id: partyParam('The company that the document is for'),
  agent_id: partyParam('An active agent of the company'),
  owner_id: partyParam('An owner of the company, or of none'),
  name: v.optional(
    v.pipe(
      v.string(),
      v.description('Its name, percent-encoded; required with a body that is no form'),
      v.minLength(1, 'must not be empty'),
    ),
  ),
} satisfies SchemaMap<keyof UploadIds | Exclude<keyof FileFields, 'mimetype'>>

const OptionParams = {
  priority: v.optional(
    v.pipe(
      v.string(),
      v.metadata({
        description: 'Claims take the highest first; also the header X-Cambista-Priority',
        type: 'integer',
        minimum: 0,
        maximum: 9,
      }),
      v.regex(/^\d$/, 'must be a digit from 0 to 9'),
      v.transform(Number),
    ),
  ),
} satisfies SchemaMap<keyof OptionFields>

export const UploadQuery = v.object({
  ...{ ...DocumentParams, ...OptionParams },
  duplicates: v.optional(
    withDescription(
      v.picklist(['refuse'], 'must be refuse'),
      'No invoice that has a document of the same bytes or the same created_by; also the header X-Cambista-Duplicates',
    ),
  ),
})
export type UploadQuery = v.InferOutput<typeof UploadQuery>

export const FormBody = titledObject('UploadForm', {
  ...Ids,
  file: v.pipe(
    v.array(v.pipe(v.string(), v.metadata({ contentMediaType: 'application/octet-stream' }))),
    v.minLength(1),
    v.description('The documents; their fields may have any name'),
  ),
})

export const UploadOut = titledObject('Uploaded', {
  status: v.literal('success'),
  message: v.string(),
  created_documents: v.array(
    v.object({
      id: Integer,
      name: v.string(),
      attachment_id: Integer,
      agent_id: Integer,
      owner_id: Integer,
      company_id: Integer,
    }),
  ),
  total_created: Integer,
  agent_id: Integer,
  company_id: Integer,
  owner_id: Integer,
  deleted: v.exactOptional(
    withDescription(v.array(Integer), 'Of a repeated request: which of its documents were deleted since'),
  ),
})

/** Query parameter with the id of a company, agent or owner. A form has a field in its place. */
function partyParam(description: string) {
  return v.optional(
    v.pipe(
      idParam(`${description}; required with a body that is no form`),
      v.check((id) => Number.isSafeInteger(id) && id >= 1, 'must be an integer from 1 to 9007199254740991'),
    ),
  )
}
