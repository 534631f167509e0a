import type { H3Event } from 'h3'
import * as v from 'valibot'
import { exportable, exportedText } from '../../domain/rates/export.ts'
import type { ExportFormat } from '../../domain/rates/export-format.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Db } from '../../store/tables.ts'
import { createTurns } from '../../turns.ts'
import { type AnyEndpoint, get, type Reply } from '../api/endpoint.ts'
import { formFor, mediaTypeOf } from '../api/forms.ts'

const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}
const FORMS = [formOf('csv'), formOf('ndjson')] as const

/** Answers with every stored value as a stream, a HEAD without one. */
export type Exports = (event: H3Event, format: ExportFormat) => Promise<Reply>

/** Of all exports one part is made at a time, so there is one of these for a server. */
export function createExports({ db, cache }: { db: Db; cache: RateCache }): Exports {
  const inTurns = createTurns()
  return async ({ req }, format) => {
    const headers = {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="cambista.${format}"`,
    }
    if (req.method === 'HEAD') return { body: nothing(), headers }
    return { body: inTurns(exportedText(await exportable(db, cache), format)), headers }
  }
}

/** The whole store of rates: by Accept, or by the ending of the path (decisions 2.21). */
export function exportEndpoints(exports: Exports): AnyEndpoint[] {
  const endpoint = (path: string, formats: readonly ExportFormat[]) =>
    get({
      path,
      summary:
        formats.length > 1 ? 'Every stored value, as CSV or NDJSON' : `Every stored value, as ${formats[0]}`,
      about:
        'A line for each value of each series, with its rounding and when it was stored; before them the days of the ' +
        'series that were validly answered; at the end the number of values and the SHA-256 of all that came before. ' +
        'cambista import reads it.',
      query: v.object({}),
      answer: v.string(),
      contentTypes: formats.map(exportedAs),
      async handle({ event }): Promise<Reply> {
        const format = formats.length > 1 ? acceptedBy(event) : (formats[0] ?? 'csv')
        const reply = await exports(event, format)
        return formats.length > 1 ? { ...reply, headers: { ...reply.headers, vary: 'Accept' } } : reply
      },
    })
  return [
    endpoint('/api/v1/export', ['csv', 'ndjson']),
    endpoint('/api/v1/export.csv', ['csv']),
    endpoint('/api/v1/export.ndjson', ['ndjson']),
  ]
}

/** The media type of a format. */
export function exportedAs(format: ExportFormat): string {
  return mediaTypeOf(TYPES[format])
}

function acceptedBy({ req }: H3Event): ExportFormat {
  return formFor(req.headers.get('accept'), FORMS).name === 'ndjson' ? 'ndjson' : 'csv'
}

/** To be chosen by Accept; the text is made elsewhere. */
function formOf<F extends ExportFormat>(name: F) {
  return { name, contentType: TYPES[name], encode: () => '' }
}

async function* nothing(): Chunks {}
