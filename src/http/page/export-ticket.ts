// An export as a file that the browser writes while it arrives: it has a line for each value there is, and a page that
// fetched it would hold all of it in memory.

import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import type { ApiKey } from '../api/auth.ts'
import type { Exports } from '../rates/export.ts'
import type { Opening } from './tickets.ts'

/**
 * @param keyOf the key of the session, for as long as it is open
 * @throws AppError `unauthorized` without one, `bad-request` for another format than csv and ndjson
 */
export function openingOfExport(
  exports: Exports,
  keyOf: () => ApiKey | undefined,
  format: UploadedField,
): Opening {
  const check = () => {
    const key = keyOf()
    if (!key) throw new AppError('unauthorized', 'This session has no key: sign in with one')
    return key
  }
  check()
  if (format !== 'csv' && format !== 'ndjson')
    throw new AppError('bad-request', 'export must be csv or ndjson')
  return async (event) => {
    event.context.key = check().name
    return exports(event, format)
  }
}
