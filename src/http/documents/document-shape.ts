// A document as clients see it.

import * as v from 'valibot'
import { Instant, Integer } from '../endpoint/shapes.ts'

export const DocumentStateOut = v.picklist(['new', 'claimed', 'done', 'failed'])

const document = v.object({
  id: Integer,
  name: v.string(),
  mimetype: v.string(),
  size: Integer,
  sha256: v.string(),
  created_at: Instant,
  attachment_id: Integer,
  agent_id: Integer,
  owner_id: Integer,
  company_id: Integer,
  created_by: v.pipe(v.nullable(v.string()), v.description('Name of the token that made it; null: unknown')),
  state: v.pipe(DocumentStateOut, v.description('new until a worker claims it')),
  attempts: v.pipe(Integer, v.description('How often it was claimed')),
  finished_at: v.nullable(Instant),
  note: v.pipe(v.nullable(v.string()), v.description('What its worker said of the outcome')),
  priority: v.exactOptional(
    v.pipe(Integer, v.description('From 1 to 9, claimed before lower ones; absent: 0')),
  ),
  content: v.exactOptional(v.pipe(v.literal('lost'), v.description('Its bytes are lost; else absent'))),
})

/** A row of a list. */
export const ListedDocumentOut = v.pipe(
  v.object({
    ...document.entries,
    lease_until: v.exactOptional(v.pipe(Instant, v.description('End of the lease, while it is claimed'))),
  }),
  v.title('ListedDocument'),
)

export const DocumentOut = v.pipe(document, v.title('Document'))

export const ResultOut = v.pipe(
  v.any(),
  v.title('Result'),
  v.description('JSON that the last worker returned, to the letter'),
)

/** A document with its result. */
export const WholeDocumentOut = v.pipe(
  v.object({
    ...document.entries,
    result: v.exactOptional(ResultOut),
  }),
  v.title('WholeDocument'),
)
