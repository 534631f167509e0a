// Tools of workers: claim documents of an agent, report each as done or failed, extend a lease, release a document.

import * as v from 'valibot'
import {
  LARGEST_RESULT,
  LEASE,
  LONGEST_NOTE,
  MOST_AGENTS,
  noteFault,
} from '../../../domain/documents/claims/claim-limits.ts'
import {
  type ClaimedDocument,
  checkAgentIds,
  type Worker,
} from '../../../domain/documents/claims/claiming.ts'
import { AppError } from '../../../runtime/errors.ts'
import { tokenAccess } from '../../access/auth.ts'
import { Integer, withDescription } from '../../endpoint/answers/shapes.ts'
import { idParam, waitParam } from '../../endpoint/params.ts'
import { pluralize } from '../protocol/answers.ts'
import { type Caller, requireToken, type Tool, tool } from '../protocol/tool.ts'
import type { DocumentWork } from './document-queries.ts'
import { createWaitOptions } from './waiting.ts'

const LIMIT = { least: 1, most: 10, otherwise: '1' } // rows of ten documents, with the longest names, are below 32 KB

const Text = v.string()
const LeaseSeconds = (description: string) =>
  integerParam({ ...LEASE, otherwise: String(LEASE.otherwise) }, description)
const AgentIds = v.pipe(
  v.array(v.unknown()),
  v.metadata({
    description: 'Instead of agent_id: several agents of one company',
    items: { type: 'integer' },
    maxItems: MOST_AGENTS,
  }),
)
/** Arguments that name a claim. */
const ClaimKey = {
  id: idParam('The document'),
  claim_id: withDescription(Text, 'As claim_documents gave it'),
}

export function claimTools(work: DocumentWork): Tool[] {
  return [
    claimTool(work),
    finishTool(work),
    tool({
      name: 'extend_document',
      needs: 'documents:CLAIM',
      about: 'Keep a claimed document for longer: its lease begins anew.',
      changes: true,
      input: v.object({ ...ClaimKey, lease_seconds: LeaseSeconds('From now on') }),
      output: v.object({ id: Integer, lease_until: Text }),
      async run({ id, claim_id: claimId, lease_seconds: leaseSeconds }, caller) {
        const { lease_until } = await work.extend(toWorker(caller), { id, claimId }, leaseSeconds)
        return { value: { id, lease_until }, sentence: `Document ${id} is yours until ${lease_until}.` }
      },
    }),
    tool({
      name: 'release_document',
      needs: 'documents:CLAIM',
      about: 'Give a claimed document back for another worker. The attempt counts.',
      changes: true,
      input: v.object(ClaimKey),
      output: v.object({ id: Integer, state: Text }),
      async run({ id, claim_id: claimId }, caller) {
        const { state } = await work.release(toWorker(caller), { id, claimId })
        return { value: { id, state }, sentence: `Document ${id} is ${state}.` }
      },
    }),
  ]
}

function claimTool({ claim }: DocumentWork): Tool {
  return tool({
    name: 'claim_documents',
    needs: 'documents:CLAIM',
    about:
      'Take the oldest documents of an agent to work on, so that no other worker gets them meanwhile. Finish each before lease_until.',
    changes: true,
    input: v.object({
      agent_id: v.optional(idParam('Needed unless the token is of one agent')),
      agent_ids: v.optional(AgentIds),
      limit: integerParam(LIMIT, 'How many at most'),
      lease_seconds: LeaseSeconds('For how long they are yours'),
      wait: v.optional(waitParam('Seconds to wait for a first one'), '0'),
    }),
    output: v.object({
      documents: v.array(
        v.looseObject({
          id: Integer,
          name: Text,
          mimetype: Text,
          size: Integer,
          claim_id: Text,
          lease_until: Text,
        }),
      ),
    }),
    async run({ agent_id, agent_ids, limit, lease_seconds: leaseSeconds, wait }, caller) {
      const worker = toWorker(caller)
      const agentIds = checkAgentIds(worker, { agent_id, agent_ids })
      const options = wait === 0 ? undefined : createWaitOptions(caller, wait, 'documents:CLAIM')
      const documents = await claim(worker, { agentIds, limit, leaseSeconds }, options)
      const ids = documents.map(({ id }) => id).join(', ')
      const next = ids === '' ? '' : `: ${ids}. Read each with read_document, then call finish_document`
      return {
        value: { documents: documents.map(claimOut) },
        sentence: `${pluralize(documents.length, 'document')} claimed${next}.`,
      }
    },
  })
}

function finishTool({ finish }: DocumentWork): Tool {
  return tool({
    name: 'finish_document',
    needs: 'documents:CLAIM',
    about: 'Say that a claimed document is done, or failed and why.',
    changes: true,
    input: v.object({
      ...ClaimKey,
      outcome: v.picklist(['done', 'failed'], 'must be done or failed'),
      note: v.optional(withDescription(Text, `At most ${LONGEST_NOTE} characters`)),
      result: v.optional(withDescription(Text, 'JSON to hand back, as a text of at most 32 KiB')),
    }),
    output: v.looseObject({ id: Integer, state: Text }),
    async run({ id, claim_id: claimId, outcome, note, result }, caller) {
      const fault = note === undefined ? undefined : noteFault(note)
      if (fault !== undefined) throw new AppError('invalid', `note ${fault}`)
      const completion = { outcome, note: note || null, result: checkResult(result) }
      const { state, attempts, finished_at } = await finish(toWorker(caller), { id, claimId }, completion)
      return { value: { id, state, attempts, finished_at }, sentence: `Document ${id} is ${state}.` }
    },
  })
}

/** Checks that a result is JSON; null: none. @throws AppError `invalid` */
function checkResult(result: string | undefined): string | null {
  const text = result?.trim() ?? ''
  if (text === '' || text === 'null') return null
  if (Buffer.byteLength(text) > LARGEST_RESULT.mcp) {
    throw new AppError('invalid', `result must be JSON of at most ${LARGEST_RESULT.mcp} bytes`)
  }
  if (!text.isWellFormed())
    throw new AppError('invalid', 'result must be Unicode: it has half of a surrogate pair')
  try {
    JSON.parse(text)
  } catch {
    throw new AppError('invalid', 'result must be JSON, as a text')
  }
  return text
}

function toWorker(caller: Caller): Worker {
  const token = requireToken(caller)
  return { tokenId: token.id, name: token.name, access: tokenAccess(token) }
}

/** Fields that a worker needs; list_documents has the others. */
function claimOut(document: ClaimedDocument) {
  const { id, name, mimetype, size, created_at, company_id, agent_id, owner_id } = document
  const { attempts, claim_id, lease_until } = document
  return {
    ...{ id, name, mimetype, size, created_at, company_id, agent_id, owner_id },
    ...{ attempts, claim_id, lease_until },
  }
}

function integerParam(
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
