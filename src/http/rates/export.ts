import type { H3Event } from 'h3'
import * as v from 'valibot'
import { exportedIndicatorText, readIndicatorExport } from '../../domain/indicators/indicator-export.ts'
import type { ExportFormat } from '../../domain/rates/export/export-format.ts'
import type { ReadDb } from '../../store/tables.ts'
import { negotiateForm } from '../endpoint/answers/forms.ts'
import { type AnyEndpoint, get, type Reply } from '../endpoint/endpoint.ts'
import { createStreams, EXPORT_TYPES, type Exports, exportMediaType } from '../figures/exports.ts'

const FORMS = [exportForm('csv'), exportForm('ndjson')] as const

/** The whole store of rates: by Accept, or by the ending of the path (decisions#export). */
export function exportEndpoints(exports: Exports): AnyEndpoint[] {
  const about =
    'A line for each value of each series, with its rounding and when it was stored; before them the days of the ' +
    'series that were validly answered; at the end the number of values and the SHA-256 of all that came before. ' +
    'cambista import reads it.'
  return formEndpoints('/api/v1/export', exports, about)
}

/** Exports every stored indicator, in the same forms (decisions#indicators). */
export function indicatorExportEndpoints(db: ReadDb): AnyEndpoint[] {
  const exports = createStreams('cambista-indicators', async (format) =>
    exportedIndicatorText(await readIndicatorExport(db), format),
  )
  const about =
    'Each indicator that was enabled: its name, unit and periodicity, the days that were validly answered, and a ' +
    'line for each value; at the end the number of values and the SHA-256 of all that came before. cambista import ' +
    'reads it.'
  return formEndpoints('/api/v1/indicators/export', exports, about)
}

function formEndpoints(
  base: '/api/v1/export' | '/api/v1/indicators/export',
  exports: Exports,
  about: string,
): AnyEndpoint[] {
  const endpoint = (path: `${typeof base}${'' | '.csv' | '.ndjson'}`, formats: readonly ExportFormat[]) =>
    get({
      path,
      tag: 'History',
      about,
      query: v.object({}),
      answer: v.string(),
      contentTypes: formats.map(exportMediaType),
      async handle({ event }): Promise<Reply> {
        const format = formats.length > 1 ? acceptedFormat(event) : (formats[0] ?? 'csv')
        const reply = await exports(event, format)
        return formats.length > 1 ? { ...reply, headers: { ...reply.headers, vary: 'Accept' } } : reply
      },
    })
  return [
    endpoint(base, ['csv', 'ndjson']),
    endpoint(`${base}.csv`, ['csv']),
    endpoint(`${base}.ndjson`, ['ndjson']),
  ]
}

function acceptedFormat({ req }: H3Event): ExportFormat {
  return negotiateForm(req.headers.get('accept'), FORMS).name === 'ndjson' ? 'ndjson' : 'csv'
}

/** Form for the choice by Accept; the text is made elsewhere. */
function exportForm<F extends ExportFormat>(name: F) {
  return { name, contentType: EXPORT_TYPES[name], encode: () => '' }
}
