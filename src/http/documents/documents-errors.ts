// The errors of the documents API: `{"status": "error", "message": …}`, with what is wrong with each document of an
// upload.

import * as v from 'valibot'
import { isJsonObject } from '../../values/json-object.ts'
import { Hint, Integer, Reason, withDescription } from '../endpoint/answers/shapes.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'

/** Faults of an upload: the first 1,000, and their count. */
const DocumentFaultOut = v.object({
  index: Integer,
  field: v.picklist(['name', 'mimetype', 'base64', 'content', 'clave']),
  message: v.string(),
  document_id: v.optional(withDescription(Integer, 'Document that the invoice is a copy of')),
  same_content: v.optional(withDescription(v.boolean(), 'False: its bytes differ from that document')),
})

const ErrorOut = v.pipe(
  v.looseObject({
    status: v.picklist(['error', 'not found']),
    message: v.string(),
    hint: Hint,
    errors: v.optional(v.array(DocumentFaultOut)),
    errors_total: v.optional(Integer),
    reason: Reason,
  }),
  v.title('DocumentsError'),
)

export const DOCUMENTS_ERRORS: ErrorShape = {
  challenge: 'Bearer',
  body(status, message, details, { hint, reason } = {}) {
    const { errors, errors_total, missing, hint: own } = isJsonObject(details) ? details : {}
    return JSON.stringify({
      status: status === 404 ? 'not found' : 'error',
      ...{ message, hint: hint ?? own ?? missingHint(missing), errors, errors_total, reason },
    })
  },
  schema: ErrorOut,
}

/** Returns the hint about the missing fields of a request; undefined: all are there. */
function missingHint(names: unknown): string | undefined {
  if (!Array.isArray(names)) return undefined
  const fault = names.includes('documents')
    ? 'missing or empty: documents must have at least one element'
    : 'missing'
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${fault}`
}
