import * as v from 'valibot'
import { requireDocument } from '../../domain/documents/queries.ts'
import { logKept, removeDocuments } from '../../domain/documents/removal.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { authorizedToken, requestActor, tokenAccess } from '../access/auth.ts'
import { Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, remove } from '../endpoint/endpoint.ts'
import { idParam } from '../endpoint/params.ts'

const Out = titledObject('Deleted', {
  status: v.literal('success'),
  id: Integer,
  content: withDescription(
    v.picklist(['deleted', 'kept']),
    'kept: another document has the same bytes, or they were lost before. deleted: no document has them any more; ' +
      'where several servers share the store, it is removed from there days later',
  ),
})

/** Beside the contract: a token that may can delete a document for good (decisions#deletion). */
export function deletionEndpoint(db: WriteDb, blobs: Blobs, clock: Clock, log: Log): AnyEndpoint {
  return remove({
    path: '/api/v1/documents/{id}',
    about:
      'Its row goes, and its bytes when no other document has the same. That it was there, who sent it and who deleted ' +
      'it is kept. A worker that holds it finds it gone.',
    params: v.object({ id: idParam('A document, by its id') }),
    answer: Out,
    notFound: 'Document not found, or deleted already',
    async handle({ event, params }) {
      const token = authorizedToken(event)
      const document = await requireDocument(db, tokenAccess(token), params.id)
      const by = { ...requestActor(event), clock }
      const result = await removeDocuments(db, blobs, [document], by, (gone) => {
        const { id, company_id: company, agent_id: agent, sha256 } = gone
        const request = String(event.context.requestId)
        log.info('document deleted', { id: request, document: id, company, agent, sha256, token: token.name })
      })
      const { documents, blobs: count, kept = 0 } = result
      if (documents === 0) throw new AppError('not-found', 'Document not found', { reason: 'no_document' }) // by another, a moment ago
      logKept(result, log)
      return freshReply({
        status: 'success',
        id: document.id,
        content: count + kept > 0 ? 'deleted' : 'kept',
      })
    },
  })
}
