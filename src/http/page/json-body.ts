// The JSON body of a request of the page. Its type is checked: a form of another website can send text or fields without
// asking the browser, and JSON not.

import type { H3Event } from 'h3'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import { wholeBodyOf } from '../api/body.ts'
import { mediaTypeOf } from '../api/forms.ts'
import { nodeOf } from '../api/send.ts'
import { fieldsOf } from '../documents/fields.ts'

const LIMITS = { maxBytes: 4096, idleMs: 30_000 }
const JSON_TYPE = 'application/json'

/** @throws AppError `unsupported` for another type, and as `wholeBodyOf` and `fieldsOf` do */
export async function jsonFieldsOf<Name extends string>(
  event: H3Event,
  names: readonly Name[],
): Promise<Partial<Record<Name, UploadedField>>> {
  if (mediaTypeOf(event.req.headers.get('content-type') ?? '') !== JSON_TYPE) {
    throw new AppError('unsupported', `Content-Type must be ${JSON_TYPE}`, { details: JSON_TYPE })
  }
  const { req, res } = nodeOf(event)
  return fieldsOf(await wholeBodyOf(req, res, LIMITS), names)
}
