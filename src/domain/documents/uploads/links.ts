// Links for one document each, for programs that cannot send a token with it. The URL is the secret, valid for ten
// minutes, and as long as its token. Only the commit of an upload uses it up (decisions#mcp-uploads).

import { AppError } from '../../../runtime/errors.ts'
import { findOneTime, insertOneTime } from '../../../store/access/one-time.ts'
import { selectUploadContext } from '../../../store/documents/context.ts'
import type { FieldName, FileFields, PartyFields } from '../../../store/documents/documents.ts'
import type { Engine } from '../../../store/engine.ts'
import { checkWritable } from '../../../store/write-guard.ts'
import { hashOfSecret, makeCode } from '../../access/secrets.ts'
import { type Access, checkAgentAccess, checkCompanyAccess } from '../access.ts'
import { rejectReferences } from './checks.ts'
import { validateDocument } from './faults.ts'
import { checkQuotas, uploadQuotas } from './quotas.ts'

/** The document that a link is for, and its parties. */
export type LinkedDocument = FileFields & PartyFields

/** `hash`: SHA-256 of the secret, in hex. */
export type UploadLink = LinkedDocument & { hash: string; tokenId: number; maxBytes: number }

/** `code`: last segment of the URL; `end`: instant. */
export type NewUploadLink = { code: string; maxBytes: number; end: string }

export type UploadLinks = {
  /**
   * Makes a link for a document that the token may send.
   * @throws AppError `bad-request` for a wrong name or type, `not-found` for the parties, `over-quota`, and
   *   `unavailable` on probation
   */
  make(sender: { tokenId: number; access: Access }, document: LinkedDocument): Promise<NewUploadLink>
  /** Undefined: unknown, or ended. */
  find(code: string): Promise<UploadLink | undefined>
}

const LINK_MS = 600_000
const CODE = /^[\w-]{32}$/

/** `maxBody`: largest body of an upload, in bytes. */
export function openUploadLinks(
  { db, reads, clock }: Pick<Engine, 'db' | 'reads' | 'clock'>,
  maxBody: number,
): UploadLinks {
  return {
    async make({ tokenId, access }, document) {
      checkWritable(db)
      const { companyId, agentId, ownerId, name, mimetype } = document
      const fault = validateDocument({ name, mimetype, blob: 'good' })
      if (fault) throw new AppError('bad-request', fault.message)
      checkCompanyAccess(access, companyId)
      checkAgentAccess(access, agentId)
      const context = await selectUploadContext(reads, { companyId, agentId, ownerId, tokenId })
      if (!context) return rejectReferences(reads, document)
      const quotas = uploadQuotas(context, companyId)
      checkQuotas(quotas, 1)
      const maxBytes = Math.min(maxBody, ...quotas.map(({ bytes, used }) => bytes - used))
      const code = makeCode()
      const now = clock()
      const end = new Date(now.getTime() + LINK_MS).toISOString()
      const ids = { company_id: companyId, agent_id: agentId, owner_id: ownerId }
      const fields = { ...ids, name, mimetype } satisfies Record<FieldName<keyof LinkedDocument>, unknown>
      const hash = hashOfSecret(code)
      const row = { ...fields, hash, token_id: tokenId, max_bytes: maxBytes, ends_at: end }
      await insertOneTime(db, 'upload_links', row, now.toISOString())
      return { code, maxBytes, end }
    },
    async find(code) {
      if (!CODE.test(code)) return undefined
      const row = await findOneTime(reads, 'upload_links', hashOfSecret(code), clock().toISOString())
      if (!row) return undefined
      const { hash, name, mimetype, max_bytes: maxBytes, token_id: tokenId } = row
      const { company_id: companyId, agent_id: agentId, owner_id: ownerId } = row
      return { hash, name, mimetype, maxBytes, tokenId, companyId, agentId, ownerId }
    },
  }
}
