// Exports as streams: they are answers of the API, and downloads of the page.

import type { H3Event } from 'h3'
import { exportedText, readExportData } from '../../domain/rates/export/export.ts'
import type { ExportFormat } from '../../domain/rates/export/export-format.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { createInterleaver } from '../../runtime/interleave.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { ReadDb } from '../../store/tables.ts'
import { baseMediaType } from '../endpoint/answers/forms.ts'
import type { Reply } from '../endpoint/endpoint.ts'

/** Media types with their parameters. */
export const EXPORT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/** Answers with every stored value as a stream, a HEAD without one. */
export type Exports = (event: H3Event, format: ExportFormat) => Promise<Reply>

/** Creates the exports of a server, which share one interleaver: one part is made at a time. */
export function createExports({ db, cache }: { db: ReadDb; cache: RateCache }): Exports {
  const make = async (format: ExportFormat) => exportedText(await readExportData(db, cache), format)
  return createStreams('cambista', make)
}

/** Creates the exports of a data set. `name` is that of its files. */
export function createStreams(
  name: string,
  make: (format: ExportFormat) => Promise<Iterable<Buffer>>,
): Exports {
  const interleave = createInterleaver()
  return async ({ req }, format) => {
    const headers = {
      'content-type': EXPORT_TYPES[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
    }
    if (req.method === 'HEAD') return { body: emptyBody(), headers }
    return { body: interleave(await make(format)), headers }
  }
}

/** The media type of a format. */
export function exportMediaType(format: ExportFormat): string {
  return baseMediaType(EXPORT_TYPES[format])
}

async function* emptyBody(): Chunks {}
