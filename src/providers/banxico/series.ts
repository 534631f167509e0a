// Answers of the SIE API: `{bmx: {series: [{idSerie, titulo, datos: [{fecha, dato}]}]}}`, with `fecha` as dd/mm/yyyy.

import { isJsonObject, type JsonObject } from '../../values/json-object.ts'
import { excerpt, listItems, parseLargeJson, parseSourceJson, scalarText } from '../json.ts'
import { FetchFailure, type Observation, type SourceAnswer, type Window } from '../provider.ts'
import { noValue, readPublishedValues, readSlashDay } from '../published-value.ts'
import { SERIES_IDS, titleWord } from './catalogue.ts'

/** An answer that is an error of the service. */
export class ErrorAnswer extends FetchFailure {}

/** `refusedTitles`: messages about series with another title. `unknown`: ids that were not requested. */
type SeriesAnswer = SourceAnswer & { refusedTitles: string[]; unknown: string[] }

/**
 * Parses an answer. A series with another title than expected is left out of the coverage.
 * @throws ErrorAnswer for an error of the service, FetchFailure for any other document, or one without all series
 */
export async function readSieAnswer(body: string, window: Window): Promise<SeriesAnswer> {
  const document = await parseLargeJson(body)
  const words = isJsonObject(document) ? wordsOfError(document) : undefined
  if (words !== undefined) throw new ErrorAnswer(`the answer is an error: ${words}`)
  if (!isJsonObject(document) || !isJsonObject(document.bmx) || !Array.isArray(document.bmx.series))
    throw new FetchFailure('the answer has no "bmx.series"')
  const answer = { listed: [], observations: [], refusedTitles: [], unknown: [] } as Required<
    Omit<SeriesAnswer, 'leftOut'>
  >
  const leftOut: string[] = []
  for (const series of document.bmx.series) {
    if (!isJsonObject(series)) throw new FetchFailure('"series" holds something that is not a series')
    const id = scalarText(series.idSerie)
    const title = scalarText(series.titulo)
    const word = titleWord(id)
    if (word === undefined) answer.unknown.push(excerpt(id, 20))
    else if (title.toLowerCase().includes(word.toLowerCase())) {
      answer.listed.push({ code: id, name: title })
      answer.observations.push(
        ...listItems(series.datos, '"datos"').flatMap((row) => sieObservations(id, row, window)),
      )
    } else {
      leftOut.push(id)
      answer.refusedTitles.push(`${id} is not ${word} but "${excerpt(title, 80)}", not stored`)
    }
  }
  const ids = new Set([...answer.listed.map(({ code }) => code), ...leftOut])
  const missing = SERIES_IDS.find((id) => !ids.has(id))
  if (missing !== undefined) throw new FetchFailure(`the answer has no ${missing}`)
  answer.observations = readPublishedValues(answer.observations, 'thousands')
  return leftOut.length > 0 ? { ...answer, leftOut } : answer
}

/** Returns the words of an error in a body; undefined: it is no error of the service. */
export function sieErrorText(body: string): string | undefined {
  try {
    const document = parseSourceJson(body)
    return isJsonObject(document) ? wordsOfError(document) : undefined
  } catch {
    return undefined // the body of a proxy may be no JSON
  }
}

/** Returns the words of `{"error": {"mensaje", "detalle"}}`. */
function wordsOfError({ error }: JsonObject): string | undefined {
  if (error === undefined) return undefined
  if (!isJsonObject(error)) return excerpt(scalarText(error)) || 'without a text'
  const parts = [scalarText(error.mensaje), scalarText(error.detalle)].filter((text) => text !== '')
  return excerpt(parts.join(': ')) || 'without a text'
}

function sieObservations(code: string, row: unknown, window: Window): Observation[] {
  if (!isJsonObject(row)) throw new FetchFailure(`"datos" of ${code} holds something that is not a row`)
  const day = readSlashDay(scalarText(row.fecha), window)
  const value = scalarText(row.dato)
  return noValue(value) ? [] : [{ code, day, value, roundedTo: undefined }]
}
