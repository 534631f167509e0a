// An export as a file that the browser writes while it arrives: it has a line for each value there is, and a page that
// fetched it would hold all of it in memory.

import type { H3Event } from 'h3'
import type { UploadedField } from '../../domain/documents/upload.ts'
import type { ExportFormat } from '../../domain/rates/export-format.ts'
import { AppError } from '../../errors.ts'
import type { ApiKey } from '../api/auth.ts'
import type { Reply } from '../api/endpoint.ts'
import type { Exports } from '../rates/export.ts'

/**
 * What is asked for in a ticket.
 * @param key that of the session
 * @throws AppError `unauthorized` without one, `bad-request` for another format than csv and ndjson
 */
export function checkExport(key: ApiKey | undefined, format: UploadedField): ExportFormat {
  needKey(key)
  if (format === 'csv' || format === 'ndjson') return format
  throw new AppError('bad-request', 'export must be csv or ndjson')
}

/** @throws AppError `unauthorized` without a key */
export async function openExport(
  exports: Exports,
  key: ApiKey | undefined,
  format: ExportFormat,
  event: H3Event,
): Promise<Reply> {
  event.context.key = needKey(key).name
  return exports(event, format)
}

function needKey(key: ApiKey | undefined): ApiKey {
  if (!key) throw new AppError('unauthorized', 'This session has no key: sign in with one')
  return key
}
