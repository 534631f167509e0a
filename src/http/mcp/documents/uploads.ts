// The tool that sends a document: a short text at once, anything else by a link.

import * as v from 'valibot'
import { validateDocument } from '../../../domain/documents/uploads/faults.ts'
import type { LinkedDocument, NewUploadLink } from '../../../domain/documents/uploads/links.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { FieldName, FileFields, PartyFields } from '../../../store/documents/documents.ts'
import { type AuthorizedToken, tokenAccess } from '../../access/auth.ts'
import { Integer, withDescription } from '../../endpoint/answers/shapes.ts'
import { idParam } from '../../endpoint/params.ts'
import { LINKS_PATH } from '../../routes.ts'
import { type Caller, requireRequest, requireToken, type Tool, tool } from '../protocol/tool.ts'
import { parseCharset } from './document-blob.ts'
import type { DocumentUploads } from './document-queries.ts'

const LONGEST_TEXT = 32_768 // bytes, because a message is at most 64 KiB
const TEXT_TYPE = 'text/plain; charset=utf-8'

const Text = v.string()

export function uploadTool({ uploadText, makeLink }: DocumentUploads): Tool {
  return tool({
    name: 'upload_document',
    needs: 'documents:POST',
    about:
      'Send a document to an agent: a text at once, anything else by a PUT of its bytes to the url of the answer, within ten minutes.',
    changes: true,
    input: v.object({
      company_id: v.optional(idParam('Needed unless the token is of one company')),
      agent_id: v.optional(idParam('Needed unless the token is of one agent')),
      owner_id: idParam('Who owns it'),
      name: Text,
      mimetype: v.optional(withDescription(Text, 'Needed without text')),
      text: v.optional(withDescription(Text, 'The document, if it is a text of at most 32 KiB')),
    } satisfies Record<FieldName<keyof LinkedDocument> | 'text', v.GenericSchema>),
    output: v.looseObject({
      id: v.optional(Integer),
      url: v.optional(Text),
      method: v.optional(Text),
      headers: v.optional(v.looseObject({})),
      max_bytes: v.optional(Integer),
      expires_at: v.optional(Text),
    }),
    async run({ name, mimetype, text, ...parties }, caller) {
      const token = requireToken(caller)
      const document = { ...checkParties(parties, token), name, mimetype: mimetype ?? TEXT_TYPE }
      if (text !== undefined) {
        checkDescription(document)
        const bytes = checkText(text)
        const id = await uploadText({ token, requestId: requireRequest(caller).id }, document, bytes)
        const size = Buffer.byteLength(text) // the upload has taken the memory of the bytes
        return {
          value: { id, name, mimetype: document.mimetype, size },
          sentence: `Document ${id} is stored.`,
        }
      }
      if (mimetype === undefined) throw new AppError('invalid', 'mimetype is required without text')
      const link = await makeLink({ tokenId: token.id, access: tokenAccess(token) }, document)
      return { value: linkOut(link, document, caller), sentence: describeLink(link) }
    },
  })
}

type PartyArguments = { company_id?: number | undefined; agent_id?: number | undefined; owner_id: number }

function checkParties(
  { company_id, agent_id, owner_id }: PartyArguments,
  token: AuthorizedToken,
): PartyFields {
  const companyId = company_id ?? token.company_id
  const agentId = agent_id ?? token.agent_id
  if (companyId === null)
    throw new AppError('invalid', 'company_id is required: this token is not of one company')
  if (agentId === null) throw new AppError('invalid', 'agent_id is required: this token is not of one agent')
  return { companyId, agentId, ownerId: owner_id }
}

/** @throws AppError `invalid` for a name or type that no document can have, or a charset that the text does not have */
function checkDescription({ name, mimetype }: FileFields): void {
  const fault = validateDocument({ name, mimetype, blob: 'good' })
  if (fault) throw new AppError('invalid', fault.message)
  const charset = parseCharset(mimetype)
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return
  throw new AppError(
    'invalid',
    'mimetype must have the charset utf-8 or none, because text is stored as UTF-8',
  )
}

function checkText(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length >= 1 && bytes.length <= LONGEST_TEXT && text.isWellFormed()) return bytes
  throw new AppError(
    'invalid',
    `text must be 1 to ${LONGEST_TEXT} bytes of Unicode: leave it out for the url of an upload`,
  )
}

function linkOut(
  { code, maxBytes, end }: NewUploadLink,
  { mimetype }: LinkedDocument,
  caller: Caller,
): Record<string, unknown> {
  return {
    url: `${requireRequest(caller).page}${LINKS_PATH.slice(1)}/${code}`,
    method: 'PUT',
    headers: { 'content-type': mimetype },
    max_bytes: maxBytes,
    expires_at: end,
  }
}

function describeLink({ maxBytes, end }: NewUploadLink): string {
  return `Send at most ${maxBytes} bytes to url with PUT and these headers, until ${end}; the answer has the id.`
}
