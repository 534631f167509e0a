// Claiming, finishing, extending and releasing (decisions#claims): how workers of an agent share its documents.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import {
  LARGEST_RESULT,
  LEASE,
  LONGEST_NOTE,
  MOST_AGENTS,
  noteFault,
} from '../../domain/documents/claims/claim-limits.ts'
import {
  type ClaimDeps,
  checkAgentIds,
  claimDocuments,
  type Worker,
} from '../../domain/documents/claims/claiming.ts'
import {
  type ClaimRef,
  extendClaim,
  finishDocument,
  releaseDocument,
} from '../../domain/documents/claims/outcomes.ts'
import type { UploadedField } from '../../domain/documents/uploads/upload.ts'
import { addInvoices } from '../../domain/invoices/invoice-view.ts'
import type { InvoiceRates } from '../../domain/invoices/rate-check.ts'
import { addMail } from '../../domain/mail/mail-view.ts'
import { memberText } from '../../formats/json/member.ts'
import { toInteger } from '../../formats/json/value.ts'
import { AppError } from '../../runtime/errors.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import { Instant, Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { readWholeBody } from '../endpoint/body.ts'
import { type AnyEndpoint, freshReply, post } from '../endpoint/endpoint.ts'
import { parseFields } from '../endpoint/fields.ts'
import { idParam } from '../endpoint/params.ts'
import type { Disconnects } from '../listings/disconnects.ts'
import { DocumentOut, InvoiceOut, MailOut } from '../listings/document-shape.ts'
import { trackWait } from '../listings/waits.ts'

/** A result, and the other fields. */
const FINISH_BYTES = LARGEST_RESULT.http + 65_536
const LIMIT = { least: 1, most: 50, otherwise: 1 }
const WAIT = { least: 0, most: 50, otherwise: 0 }

type Bounds = { least: number; most: number; otherwise: number }

const OptionalInteger = ({ least, most, otherwise }: Bounds, description: string) =>
  v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description)),
    otherwise,
  )
const ClaimId = withDescription(v.string(), 'As the claim was answered')
const status = v.literal('success')

const ClaimBody = titledObject('Claim', {
  agent_id: v.optional(withDescription(Integer, 'May be left out by a token of one agent')),
  agent_ids: v.optional(
    v.pipe(
      v.array(Integer),
      v.minLength(1),
      v.maxLength(MOST_AGENTS),
      v.description('In place of agent_id: agents of one company, whose documents are claimed in one order'),
    ),
  ),
  limit: OptionalInteger(LIMIT, 'How many documents at most'),
  lease_seconds: OptionalInteger(LEASE, 'For how long they are held'),
  wait: OptionalInteger(WAIT, 'How many seconds to wait for a first document where there is none'),
})

const ClaimOut = titledObject('Claimed', {
  status,
  documents: v.array(
    v.object({
      ...DocumentOut.entries,
      invoice: v.exactOptional(InvoiceOut),
      mail: v.exactOptional(MailOut),
      claim_id: v.string(),
      lease_until: Instant,
    }),
  ),
})

const RESULT_ABOUT = `What the worker hands back: JSON of at most ${LARGEST_RESULT.http} bytes, kept to the letter`

const FinishBody = titledObject('Finish', {
  claim_id: ClaimId,
  outcome: v.picklist(['done', 'failed']),
  note: v.optional(v.pipe(v.string(), v.maxLength(LONGEST_NOTE))),
  result: v.optional(withDescription(v.any(), RESULT_ABOUT)),
})

const ExtendBody = titledObject('Extend', {
  claim_id: ClaimId,
  lease_seconds: OptionalInteger(LEASE, 'From now on'),
})
const ReleaseBody = titledObject('Release', { claim_id: ClaimId })
const RowOut = v.object({ status, document: DocumentOut })

type ClaimEndpointsDeps = {
  claiming: ClaimDeps
  /** Reads invoices, beside the transactions of claims. */
  db: ReadDb
  disconnects: Disconnects
  invoiceRates: InvoiceRates
}

const documentOptions = {
  params: v.object({ id: idParam('A document, by its id') }),
  notFound: 'Document not found',
  refusals: { 409: 'Another worker may have the document by now, or its outcome is another one already' },
}

export function claimEndpoints(deps: ClaimEndpointsDeps): AnyEndpoint[] {
  const { claiming } = deps
  return [
    claimEndpoint(deps),
    finishEndpoint(claiming),
    post({
      path: '/api/v1/documents/{id}/extend',
      about: 'The lease begins anew, for so many seconds from now.',
      ...documentOptions,
      body: ExtendBody,
      answer: v.object({ status, document: DocumentOut, lease_until: Instant }),
      async handle({ event, params }) {
        const body = await readFields(event, ['claim_id', 'lease_seconds'])
        const claim = parseClaimRef(params.id, body.claim_id)
        const seconds = parseInteger('lease_seconds', body.lease_seconds, LEASE)
        const { lease_until, ...document } = await extendClaim(claiming, requestWorker(event), claim, seconds)
        return freshReply({ status: 'success', document, lease_until })
      },
    }),
    post({
      path: '/api/v1/documents/{id}/release',
      about: 'It is new again, for another worker. The attempt counts.',
      ...documentOptions,
      body: ReleaseBody,
      answer: RowOut,
      async handle({ event, params }) {
        const { claim_id } = await readFields(event, ['claim_id'])
        const claim = parseClaimRef(params.id, claim_id)
        const document = await releaseDocument(claiming, requestWorker(event), claim)
        return freshReply({ status: 'success', document })
      },
    }),
  ]
}

function claimEndpoint({ claiming, db, disconnects, invoiceRates: rates }: ClaimEndpointsDeps): AnyEndpoint {
  return post({
    path: '/api/v1/documents/claim',
    about:
      'The oldest documents of an agent that are new, or whose lease is over; each is given to one worker at a ' +
      'time. What is not finished when its lease is over is given again, and failed after too many attempts. ' +
      'With wait the answer is given as soon as there is a document, or empty when the time is over.',
    body: ClaimBody,
    answer: ClaimOut,
    notFound: 'Agent not found',
    refusals: { 503: 'Too many clients wait, or the storage does not answer: try again in a moment' },
    async handle({ event, checkAgain }) {
      const bytes = await readWholeBody(event)
      const names = ['agent_id', 'agent_ids', 'limit', 'lease_seconds', 'wait'] as const
      const body = parseFields(bytes, names, { refuseOthers: true })
      const worker = requestWorker(event)
      const options = {
        agentIds: checkAgentIds(worker, {
          agent_id: body.agent_id,
          agent_ids: parseIds(memberText(bytes.toString(), 'agent_ids') ?? 'null'),
        }),
        limit: parseInteger('limit', body.limit, LIMIT),
        leaseSeconds: parseInteger('lease_seconds', body.lease_seconds, LEASE),
      }
      const seconds = parseInteger('wait', body.wait, WAIT)
      const documents = await claimDocuments(
        claiming,
        worker,
        options,
        seconds === 0
          ? undefined
          : {
              ms: seconds * 1000,
              watch: (onDisconnect) => trackWait(event, disconnects, onDisconnect),
              recheckAccess: () => checkAgain().then(() => requestWorker(event).access),
            },
      )
      const described = await addInvoices({ db, rates }, worker.access, await addMail(db, documents))
      return freshReply({ status: 'success', documents: described })
    },
  })
}

function finishEndpoint(claiming: ClaimDeps): AnyEndpoint {
  return post({
    path: '/api/v1/documents/{id}/finish',
    about:
      'Records the outcome of a claimed document. The same outcome and result sent again are answered alike. A ' +
      'note may say more; it is kept and shown. So is the result, which counts in the quotas.',
    ...documentOptions,
    body: FinishBody,
    answer: RowOut,
    async handle({ event, params }) {
      const bytes = await readWholeBody(event, { maxBytes: FINISH_BYTES })
      const body = parseFields(bytes, ['claim_id', 'outcome', 'note', 'result'], { refuseOthers: true })
      const claim = parseClaimRef(params.id, body.claim_id)
      const { outcome } = body
      if (outcome !== 'done' && outcome !== 'failed') {
        throw new AppError('bad-request', 'outcome must be done or failed')
      }
      const completion = { outcome, note: parseNote(body.note), result: parseResult(bytes) } as const
      const document = await finishDocument(claiming, requestWorker(event), claim, completion)
      return freshReply({ status: 'success', document })
    },
  })
}

async function readFields<Name extends string>(
  event: H3Event,
  names: readonly Name[],
): Promise<Partial<Record<Name, UploadedField>>> {
  return parseFields(await readWholeBody(event), names, { refuseOthers: true })
}

function requestWorker(event: H3Event): Worker {
  const token = authorizedToken(event)
  return { tokenId: token.id, name: token.name, access: tokenAccess(token) }
}

function parseClaimRef(id: number, claimId: UploadedField): ClaimRef {
  if (typeof claimId === 'string' && claimId !== '') return { id, claimId }
  throw new AppError('bad-request', 'claim_id is required: the text that the claim was answered with')
}

/** Parses JSON whose numbers are ids: the text of each decides whether it is one (decisions#ids). */
function parseIds(json: string): unknown {
  try {
    return JSON.parse(json, (_, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? toInteger({ number: context?.source ?? '' }) : value,
    )
  } catch {
    return Number.NaN // nested deeper than the stack
  }
}

function parseInteger(field: string, value: UploadedField, { least, most, otherwise }: Bounds): number {
  if (value === undefined || value === null) return otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new AppError('bad-request', `${field} must be an integer from ${least} to ${most}`)
}

/** Cuts the result out of a body that is JSON; null: none. @throws AppError `bad-request` */
function parseResult(body: Buffer): string | null {
  const result = memberText(body.toString(), 'result')
  if (result === undefined || result === 'null') return null
  if (Buffer.byteLength(result) <= LARGEST_RESULT.http) return result
  throw new AppError('bad-request', `result must be JSON of at most ${LARGEST_RESULT.http} bytes`)
}

function parseNote(value: UploadedField): string | null {
  if (value === undefined || value === null || value === '') return null
  const fault = noteFault(value)
  if (fault !== undefined) throw new AppError('bad-request', `note ${fault}`)
  return value as string
}
