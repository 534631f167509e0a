// Working on documents: a worker claims some of its agent's, and says what became of each.

import * as v from 'valibot'
import { LEASE, LONGEST_NOTE } from '../../../domain/documents/claims/claim-limits.ts'
import type { ClaimedDocument, Worker } from '../../../domain/documents/claims/claims.ts'
import { AppError } from '../../../errors.ts'
import { accessOf } from '../../api/auth.ts'
import { idParam, waitParam } from '../../api/params.ts'
import { counted } from '../protocol/answers.ts'
import { type Caller, type Tool, tokenOf, tool } from '../protocol/tool.ts'
import type { DocumentWork } from './queries.ts'
import { patienceOf } from './waiting.ts'

const LIMIT = { least: 1, most: 10, otherwise: '1' } // rows of ten documents, with the longest names, are below 32 KB

const Text = v.string()
const Id = v.pipe(v.number(), v.integer())

export function claimTools({ claim, finish }: DocumentWork): Tool[] {
  return [
    tool({
      name: 'claim_documents',
      needs: 'documents:CLAIM',
      about:
        'Take the oldest documents of an agent to work on, so that no other worker gets them meanwhile. Finish each before lease_until.',
      changes: true,
      takes: v.object({
        agent_id: v.optional(idParam('Needed unless the token is of one agent')),
        limit: within(LIMIT, 'How many at most'),
        lease_seconds: within(
          { ...LEASE, otherwise: String(LEASE.otherwise) },
          'For how long they are yours',
        ),
        wait: v.optional(waitParam('Seconds to wait for a first one'), '0'),
      }),
      gives: v.object({
        documents: v.array(
          v.looseObject({ id: Id, name: Text, mimetype: Text, size: Id, claim_id: Text, lease_until: Text }),
        ),
      }),
      async find({ agent_id, limit, lease_seconds: leaseSeconds, wait }, caller) {
        const worker = workerOf(caller)
        const agentId = agent_id ?? worker.access.agentId
        if (agentId === null)
          throw new AppError('invalid', 'agent_id is required: this token is not of one agent')
        const patience = wait === 0 ? undefined : patienceOf(caller, wait, 'documents:CLAIM')
        const documents = await claim(worker, { agentId, limit, leaseSeconds }, patience)
        const ids = documents.map(({ id }) => id).join(', ')
        const next = ids === '' ? '' : `: ${ids}. Read each with read_document, then call finish_document`
        return {
          value: { documents: documents.map(claimed) },
          sentence: `${counted(documents.length, 'document')} claimed${next}.`,
        }
      },
    }),

    tool({
      name: 'finish_document',
      needs: 'documents:CLAIM',
      about: 'Say that a claimed document is done, or failed and why.',
      changes: true,
      takes: v.object({
        id: idParam('The document'),
        claim_id: v.pipe(Text, v.description('As claim_documents gave it')),
        outcome: v.picklist(['done', 'failed'], 'must be done or failed'),
        note: v.optional(v.pipe(Text, v.description(`At most ${LONGEST_NOTE} characters`))),
      }),
      gives: v.looseObject({ id: Id, state: Text }),
      async find({ id, claim_id: claimId, outcome, note }, caller) {
        if (note !== undefined && [...note].length > LONGEST_NOTE) {
          throw new AppError('invalid', `note must be a text of at most ${LONGEST_NOTE} characters`)
        }
        const told = { outcome, note: note || null }
        const { state, attempts, finished_at } = await finish(workerOf(caller), { id, claimId }, told)
        return { value: { id, state, attempts, finished_at }, sentence: `Document ${id} is ${state}.` }
      },
    }),
  ]
}

function workerOf(caller: Caller): Worker {
  const token = tokenOf(caller)
  return { tokenId: token.id, name: token.name, access: accessOf(token) }
}

/** What a worker needs to know; the rest is in list_documents. */
function claimed(document: ClaimedDocument) {
  const { id, name, mimetype, size, created_at, company_id, agent_id, owner_id } = document
  const { attempts, claim_id, lease_until } = document
  return {
    ...{ id, name, mimetype, size, created_at, company_id, agent_id, owner_id },
    ...{ attempts, claim_id, lease_until },
  }
}

function within(
  { least, most, otherwise }: { least: number; most: number; otherwise: string },
  description: string,
) {
  const number = v.pipe(
    v.string(),
    v.metadata({ description, type: 'integer', minimum: least, maximum: most }),
    v.check(
      (text) => /^\d{1,4}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `must be an integer from ${least} to ${most}`,
    ),
    v.transform(Number),
  )
  return v.optional(number, otherwise)
}
