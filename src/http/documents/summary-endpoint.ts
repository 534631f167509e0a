// Summary of the queue, history of a document, and its return to the queue (decisions#queue).

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { ClaimDeps } from '../../domain/documents/claims/claiming.ts'
import { retryEnded } from '../../domain/documents/claims/outcomes.ts'
import { documentEvents } from '../../domain/documents/history.ts'
import { requireDocument } from '../../domain/documents/queries.ts'
import type { Summaries } from '../../domain/documents/summary.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, requestActor, tokenAccess } from '../access/auth.ts'
import { Instant, Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get, post } from '../endpoint/endpoint.ts'
import { idParam } from '../endpoint/params.ts'
import { DocumentOut } from '../listings/document-shape.ts'

const FIGURES = {
  waiting: withDescription(Integer, 'New, or claimed with a lease that is over'),
  oldest_waiting_at: withDescription(v.nullable(Instant), 'When the oldest of them arrived'),
  working: withDescription(Integer, 'Claimed, with a lease that is not over'),
  working_since: withDescription(
    v.nullable(Instant),
    'When the oldest of these claims was made; null: unknown too',
  ),
  failed: withDescription(Integer, 'Failed, on any day'),
  failed_today: withDescription(Integer, 'Of them those that failed today, in Costa Rica'),
  last_failed_at: withDescription(v.nullable(Instant), 'When a document failed last; null: none is failed'),
  done_today: withDescription(Integer, 'Done today, in Costa Rica'),
  median_seconds_today: withDescription(
    v.nullable(Integer),
    'Of those done today the median from arrival to end; from ten minutes on in whole minutes',
  ),
  stored: withDescription(Integer, 'In any state'),
  bytes: withDescription(Integer, 'The sum of their sizes'),
  last_claim: withDescription(
    v.nullable(v.object({ at: Instant, by: v.nullable(v.string()) })),
    'When, and with which token, a document was claimed last',
  ),
  changed: withDescription(Integer, 'Rises with each arrival, event and deletion'),
}

export const SummaryOut = titledObject('DocumentSummary', {
  ...FIGURES,
  agents: v.exactOptional(
    withDescription(
      v.array(v.object({ agent_id: Integer, company_id: Integer, agent: v.string(), ...FIGURES })),
      'With by=agent: each agent, by id; at most 200',
    ),
  ),
  has_more: v.exactOptional(withDescription(v.boolean(), 'With by=agent: there are more agents')),
})

const EventsOut = titledObject('DocumentEvents', {
  events: v.array(
    v.object({
      at: Instant,
      event: withDescription(
        v.picklist(['created', 'claimed', 'released', 'expired', 'done', 'failed', 'retried']),
        'expired: the lease was over, and at is when another claim followed',
      ),
      by: withDescription(
        v.nullable(v.string()),
        'Name of the token, or of a user of the command line, or mail: and that of a mailbox; null: unknown',
      ),
      via: v.nullable(v.picklist(['key', 'token', 'cli', 'server'])),
      person: v.exactOptional(withDescription(v.string(), 'The person who used the token')),
      attempt: v.exactOptional(withDescription(Integer, 'Number of the claim')),
      note: v.exactOptional(withDescription(v.string(), 'Note of the outcome')),
      result: v.exactOptional(
        withDescription(
          v.object({ size: Integer, sha256: v.string() }),
          'Bytes and SHA-256 of the result of the outcome',
        ),
      ),
    }),
  ),
})

export function summaryEndpoints(reads: ReadDb, claiming: ClaimDeps, summaries: Summaries): AnyEndpoint[] {
  const access = (event: H3Event) => tokenAccess(authorizedToken(event))
  return [
    get({
      path: '/api/v1/documents/summary',
      about:
        'How many documents wait, are claimed, failed and were done today. Counts all that the token may see, at most ' +
        'a second old. Read lists again when changed has risen.',
      query: v.object({
        company_id: v.optional(idParam('Only those of this company')),
        agent_id: v.optional(idParam('Only those for this agent')),
        by: v.optional(
          withDescription(v.picklist(['agent'], 'must be agent'), 'agent: the same for each agent too'),
        ),
      }),
      answer: SummaryOut,
      notFound: 'Company or agent not found, for a token of others',
      async handle({ event, query: { company_id: companyId, agent_id: agentId, by } }) {
        const filter = { companyId, agentId }
        const total = await summaries.total(access(event), filter)
        if (by === undefined) return freshReply(total)
        return freshReply({ ...total, ...(await summaries.byAgent(access(event), filter)) })
      },
    }),

    get({
      path: '/api/v1/documents/{id}/events',
      about:
        'From its arrival on, oldest first: the newest 1000. Events older than the server stores are not there.',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: EventsOut,
      notFound: 'Document not found',
      async handle({ event, params: { id } }) {
        await requireDocument(reads, access(event), id)
        return freshReply({ events: await documentEvents(reads, id) })
      },
    }),

    post({
      path: '/api/v1/documents/{id}/retry',
      about:
        'One that is failed or done, or whose lease is over, is new again with 0 attempts. Its worker loses the claim.',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: v.object({ status: v.literal('success'), document: DocumentOut }),
      notFound: 'Document not found',
      refusals: { 409: 'It is new already, or a worker has it' },
      async handle({ event, params: { id } }) {
        const document = await retryEnded(claiming, access(event), id, requestActor(event))
        return freshReply({ status: 'success', document })
      },
    }),
  ]
}
