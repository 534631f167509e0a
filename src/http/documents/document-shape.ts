// A document as clients see it.

import * as v from 'valibot'
import { Instant } from '../api/shapes.ts'

const Id = v.pipe(v.number(), v.integer())

export const DocumentStateOut = v.picklist(['new', 'claimed', 'done', 'failed'])

const document = v.object({
  id: Id,
  name: v.string(),
  mimetype: v.string(),
  size: Id,
  sha256: v.string(),
  created_at: Instant,
  attachment_id: Id,
  agent_id: Id,
  owner_id: Id,
  company_id: Id,
  created_by: v.pipe(v.nullable(v.string()), v.description('Name of the token that made it; null: unknown')),
  state: v.pipe(DocumentStateOut, v.description('new until a worker claims it')),
  attempts: v.pipe(Id, v.description('How often it was claimed')),
  finished_at: v.nullable(Instant),
  note: v.pipe(v.nullable(v.string()), v.description('What its worker said of the outcome')),
  content: v.exactOptional(v.pipe(v.literal('lost'), v.description('Its bytes are lost; else absent'))),
})

export const DocumentOut = v.pipe(document, v.title('Document'))
