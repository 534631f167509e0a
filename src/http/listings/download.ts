// Downloads of documents: their header, and the log of a failure.

import { create as contentDisposition } from 'content-disposition'
import { errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import { toFileName } from './file-name.ts'
/** Creates the Content-Disposition header, to save or show a document under its name. */
export function dispositionHeader(name: string, type: 'attachment' | 'inline'): string {
  return contentDisposition(toFileName(name), { type })
}

/** Logs a disk error during a download; an earlier error is thrown like any other. */
export async function* logFailure(chunks: Chunks, log: Log, id: string): Chunks {
  let hasStarted = false
  try {
    for await (const chunk of chunks) {
      hasStarted = true
      yield chunk
    }
  } catch (error) {
    if (hasStarted) log.error('download broke off', { id, reason: errorReason(error) })
    throw error
  }
}
