// What an upload must be and is answered with, as the OpenAPI description tells it.

import * as v from 'valibot'

const Id = v.pipe(v.number(), v.integer())

export const UploadIn = v.pipe(
  v.object({
    owner_id: Id,
    company_id: Id,
    agent_id: Id,
    documents: v.pipe(
      v.array(
        v.object({
          name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
          mimetype: v.pipe(
            v.string(),
            v.maxLength(255),
            v.metadata({ examples: ['application/pdf', 'text/plain; charset=utf-8'] }),
          ),
          base64: v.pipe(v.string(), v.metadata({ contentEncoding: 'base64' })),
        }),
      ),
      v.minLength(1),
    ),
  }),
  v.title('Upload'),
)

export const UploadOut = v.pipe(
  v.object({
    status: v.literal('success'),
    message: v.string(),
    created_documents: v.array(
      v.object({
        id: Id,
        name: v.string(),
        attachment_id: Id,
        agent_id: Id,
        owner_id: Id,
        company_id: Id,
      }),
    ),
    total_created: Id,
    agent_id: Id,
    company_id: Id,
    owner_id: Id,
    deleted: v.exactOptional(
      v.pipe(v.array(Id), v.description('Of a repeated request: which of its documents were deleted since')),
    ),
  }),
  v.title('Uploaded'),
)
