// Claiming, finishing, extending and releasing (decisions 3.16): how workers of an agent share its documents.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import { LEASE, LONGEST_NOTE } from '../../domain/documents/claims/claim-limits.ts'
import { type Claiming, claimDocuments, type Worker } from '../../domain/documents/claims/claims.ts'
import {
  extendClaim,
  finishDocument,
  type Held,
  releaseDocument,
} from '../../domain/documents/claims/outcomes.ts'
import { checkId, isMissing } from '../../domain/documents/documents.ts'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import { accessOf, authorizedToken } from '../api/auth.ts'
import { wholeBodyOf } from '../api/body.ts'
import { type AnyEndpoint, freshReply, post } from '../api/endpoint.ts'
import { idParam } from '../api/params.ts'
import { nodeOf } from '../api/send.ts'
import { Instant } from '../api/shapes.ts'
import type { Departures } from './departures.ts'
import { DocumentOut } from './document-shape.ts'
import { fieldsOf } from './fields.ts'
import { watchWait } from './waits.ts'

const BODY_LIMITS = { maxBytes: 64 * 1024, idleMs: 30_000 }
const LIMIT = { least: 1, most: 50, otherwise: 1 }
const WAIT = { least: 0, most: 50, otherwise: 0 }

type Bounds = { least: number; most: number; otherwise: number }

const Id = v.pipe(v.number(), v.integer())
const Seconds = ({ least, most, otherwise }: Bounds, description: string) =>
  v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description)),
    otherwise,
  )
const ClaimId = v.pipe(v.string(), v.description('As the claim was answered'))
const status = v.literal('success')

const ClaimIn = v.pipe(
  v.object({
    agent_id: v.optional(v.pipe(Id, v.description('May be left out by a token of one agent'))),
    limit: Seconds(LIMIT, 'How many documents at most'),
    lease_seconds: Seconds(LEASE, 'For how long they are held'),
    wait: Seconds(WAIT, 'How many seconds to wait for a first document where there is none'),
  }),
  v.title('Claim'),
)

const ClaimOut = v.pipe(
  v.object({
    status,
    documents: v.array(v.object({ ...DocumentOut.entries, claim_id: v.string(), lease_until: Instant })),
  }),
  v.title('Claimed'),
)

const FinishIn = v.pipe(
  v.object({
    claim_id: ClaimId,
    outcome: v.picklist(['done', 'failed']),
    note: v.optional(v.pipe(v.string(), v.maxLength(LONGEST_NOTE))),
  }),
  v.title('Finish'),
)

const ExtendIn = v.pipe(
  v.object({ claim_id: ClaimId, lease_seconds: Seconds(LEASE, 'From now on') }),
  v.title('Extend'),
)
const ReleaseIn = v.pipe(v.object({ claim_id: ClaimId }), v.title('Release'))
const RowOut = v.object({ status, document: DocumentOut })

export function claimEndpoints({
  claiming,
  departures,
}: {
  claiming: Claiming
  departures: Departures
}): AnyEndpoint[] {
  const shared = { scope: 'documents', action: 'CLAIM' } as const
  const held = {
    ...shared,
    params: v.object({ id: idParam('A document, by its id') }),
    notFound: 'Document not found',
    refusals: { 409: 'Another worker may have the document by now, or its outcome is another one already' },
  }
  return [
    post({
      path: '/api/v1/documents/claim',
      summary: 'Take the oldest documents of an agent to work on',
      about:
        'Those that are new, or whose lease is over; each is given to one worker at a time. What is not finished when ' +
        'its lease is over is given again, and failed after too many attempts. With wait the answer is given as soon ' +
        'as there is a document, or empty when the time is over.',
      ...shared,
      body: ClaimIn,
      answer: ClaimOut,
      notFound: 'Agent not found',
      refusals: { 503: 'Too many clients wait, or the storage does not answer: try again in a moment' },
      async handle({ event, checkAgain }) {
        const sent = await bodyOf(event, ['agent_id', 'limit', 'lease_seconds', 'wait'])
        const worker = workerOf(event)
        const asked = {
          agentId: agentOf(sent.agent_id, worker),
          limit: integerOf('limit', sent.limit, LIMIT),
          leaseSeconds: integerOf('lease_seconds', sent.lease_seconds, LEASE),
        }
        const seconds = integerOf('wait', sent.wait, WAIT)
        const documents = await claimDocuments(
          claiming,
          worker,
          asked,
          seconds === 0
            ? undefined
            : {
                ms: seconds * 1000,
                watch: (gone) => watchWait(event, departures, gone),
                checkAgain: () => checkAgain().then(() => workerOf(event).access),
              },
        )
        return freshReply({ status: 'success', documents })
      },
    }),

    post({
      path: '/api/v1/documents/{id}/finish',
      summary: 'Say what became of a claimed document',
      about: 'The same outcome sent again is answered alike. A note may say more; it is kept and shown.',
      ...held,
      body: FinishIn,
      answer: RowOut,
      async handle({ event, params }) {
        const sent = await bodyOf(event, ['claim_id', 'outcome', 'note'])
        const claim = heldOf(params.id, sent.claim_id)
        const { outcome } = sent
        if (outcome !== 'done' && outcome !== 'failed') {
          throw new AppError('bad-request', 'outcome must be done or failed')
        }
        const told = { outcome, note: noteOf(sent.note) } as const
        return freshReply({
          status: 'success',
          document: await finishDocument(claiming, workerOf(event), claim, told),
        })
      },
    }),

    post({
      path: '/api/v1/documents/{id}/extend',
      summary: 'Hold a claimed document for longer',
      about: 'The lease begins anew, for so many seconds from now.',
      ...held,
      body: ExtendIn,
      answer: v.object({ status, document: DocumentOut, lease_until: Instant }),
      async handle({ event, params }) {
        const sent = await bodyOf(event, ['claim_id', 'lease_seconds'])
        const claim = heldOf(params.id, sent.claim_id)
        const seconds = integerOf('lease_seconds', sent.lease_seconds, LEASE)
        const { lease_until, ...document } = await extendClaim(claiming, workerOf(event), claim, seconds)
        return freshReply({ status: 'success', document, lease_until })
      },
    }),

    post({
      path: '/api/v1/documents/{id}/release',
      summary: 'Give a claimed document back',
      about: 'It is new again, for another worker. The attempt counts.',
      ...held,
      body: ReleaseIn,
      answer: RowOut,
      async handle({ event, params }) {
        const { claim_id } = await bodyOf(event, ['claim_id'])
        const claim = heldOf(params.id, claim_id)
        return freshReply({
          status: 'success',
          document: await releaseDocument(claiming, workerOf(event), claim),
        })
      },
    }),
  ]
}

async function bodyOf<Name extends string>(
  event: H3Event,
  names: readonly Name[],
): Promise<Partial<Record<Name, UploadedField>>> {
  const { req, res } = nodeOf(event)
  return fieldsOf(await wholeBodyOf(req, res, BODY_LIMITS), names, { refuseOthers: true })
}

function workerOf(event: H3Event): Worker {
  const token = authorizedToken(event)
  return { tokenId: token.id, name: token.name, access: accessOf(token) }
}

function agentOf(sent: UploadedField, { access }: Worker): number {
  if (!isMissing(sent)) return checkId('agent_id', sent)
  if (access.agentId !== null) return access.agentId
  throw new AppError('bad-request', 'agent_id is required: this token is not of one agent')
}

function heldOf(id: number, claimId: UploadedField): Held {
  if (typeof claimId === 'string' && claimId !== '') return { id, claimId }
  throw new AppError('bad-request', 'claim_id is required: the text that the claim was answered with')
}

function integerOf(field: string, sent: UploadedField, { least, most, otherwise }: Bounds): number {
  if (sent === undefined || sent === null) return otherwise
  if (typeof sent === 'number' && Number.isInteger(sent) && sent >= least && sent <= most) return sent
  throw new AppError('bad-request', `${field} must be an integer from ${least} to ${most}`)
}

function noteOf(sent: UploadedField): string | null {
  if (sent === undefined || sent === null || sent === '') return null
  if (typeof sent === 'string' && [...sent].length <= LONGEST_NOTE) return sent
  throw new AppError('bad-request', `note must be a text of at most ${LONGEST_NOTE} characters`)
}
