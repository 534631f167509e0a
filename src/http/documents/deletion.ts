import * as v from 'valibot'
import type { Clock } from '../../dates.ts'
import type { Leases } from '../../domain/documents/claims/leases.ts'
import { documentBy } from '../../domain/documents/queries.ts'
import { removeDocuments } from '../../domain/documents/removal.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/tables.ts'
import { accessOf, authorizedToken } from '../api/auth.ts'
import { type AnyEndpoint, freshReply, remove } from '../api/endpoint.ts'
import { idParam } from '../api/params.ts'

const Out = v.pipe(
  v.object({
    status: v.literal('success'),
    id: v.pipe(v.number(), v.integer()),
    content: v.pipe(
      v.picklist(['deleted', 'kept']),
      v.description(
        'kept: another document has the same bytes, or they were lost before. deleted: no document has them any more; ' +
          'where several servers share the store, it is removed from there days later',
      ),
    ),
  }),
  v.title('Deleted'),
)

/** Beside the contract: a token that may can delete a document for good (decisions 3.17). */
export function deletionEndpoint({
  db,
  blobs,
  leases,
  clock,
  log,
}: {
  db: Db
  blobs: Blobs
  leases: Leases
  clock: Clock
  log: Log
}): AnyEndpoint {
  return remove({
    path: '/api/v1/documents/{id}',
    summary: 'Delete a document for good',
    about:
      'Its row goes, and its bytes when no other document has the same. That it was there, who sent it and who deleted ' +
      'it is kept. A worker that holds it finds it gone.',
    scope: 'documents',
    params: v.object({ id: idParam('A document, by its id') }),
    answer: Out,
    notFound: 'Document not found, or deleted already',
    async handle({ event, params }) {
      const token = authorizedToken(event)
      const document = await documentBy(db, accessOf(token), params.id)
      const by = { via: 'token', actor: token.name, clock } as const
      const { documents, blobs: contents } = await removeDocuments(db, blobs, [document], by, (gone) => {
        leases.forget(gone.id)
        const { id, company_id: company, agent_id: agent, sha256 } = gone
        const request = String(event.context.requestId)
        log.info('document deleted', { id: request, document: id, company, agent, sha256, token: token.name })
      })
      if (documents === 0) throw new AppError('not-found', 'Document not found') // by another, a moment ago
      return freshReply({ status: 'success', id: document.id, content: contents > 0 ? 'deleted' : 'kept' })
    },
  })
}
