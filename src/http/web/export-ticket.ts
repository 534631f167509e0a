// An export as a download, which the browser writes to a file. The page itself would need all of it in memory.

import type { H3Event } from 'h3'
import type { UploadedField } from '../../domain/documents/uploads/upload.ts'
import type { ExportFormat } from '../../domain/rates/export/export-format.ts'
import { AppError } from '../../runtime/errors.ts'
import type { ApiKey } from '../access/auth.ts'
import type { Reply } from '../endpoint/endpoint.ts'
import type { Exports } from '../figures/exports.ts'

/**
 * Returns the format of a ticket for an export.
 * @param key key of the session
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
  event.context.key = needKey(key)
  return exports(event, format)
}

function needKey(key: ApiKey | undefined): ApiKey {
  if (!key) throw new AppError('unauthorized', 'This session has no key: sign in with one')
  return key
}
