// Client of the central bank's public API, which requires the token of the operator (upstream 1).

import { addDays, earliest, isIsoDate, latest } from '../../values/dates.ts'
import { isJsonObject, type JsonObject } from '../../values/json-object.ts'
import { excerpt, listItems, parseLargeJson, parseSourceJson, scalarText } from '../json.ts'
import {
  FetchFailure,
  type FetchRequest,
  type Observation,
  type SourceAnswer,
  type Window,
} from '../provider.ts'
import { type AnswerDays, readDay, readPublishedValues } from '../published-value.ts'
import type { Requester, SourceRequest } from '../request.ts'
import { bccrCatalogue } from './catalogue.ts'

// A year of an indicator is known to work; a table contains 45 of them (upstream 1).
const EXACT_DECIMALS = 8 // the bank writes them in every value
const SINGLE_DAYS = 366
const TABLE_DAYS = 92
const UNSYNCHRONIZED = /\bdel (\d{4}-\d{2}-\d{2}) al (\d{4}-\d{2}-\d{2}) no se han sincronizado/

/** Reads a window in as many requests as the source requires, oldest days first. */
export async function readPublic(
  requester: Requester,
  source: { url: string; token: string },
  request: FetchRequest,
): Promise<SourceAnswer> {
  const { indicator } = request
  const answers: SourceAnswer[] = []
  for (const window of splitWindow(request.window, indicator === undefined ? TABLE_DAYS : SINGLE_DAYS)) {
    const name = indicator ?? request.table
    const page = publicRequest(source, { name, path: `${resourcePath(request)}/series`, window })
    const answer = await requester.get(page, async (body, headers) => {
      const values = await readPublicAnswer(body, requestedDays(window, requester))
      const other = values.listed.find(({ code }) => indicator !== undefined && code !== indicator)
      if (other) throw new FetchFailure(`the answer is of the indicator ${excerpt(other.code, 20)}`)
      return withMirrorHeaders(values, headers)
    })
    // Nothing was published, but the source knows the indicator: an unknown one is a 400 (upstream 1).
    if (indicator !== undefined && answer.listed.length === 0) {
      const series = bccrCatalogue.find(({ externalCode }) => externalCode === indicator)
      answer.listed.push({ code: indicator, name: series?.name ?? indicator })
    }
    answers.push(answer)
  }
  const { listed, observations, leftOut } = mergeAnswers(answers)
  // An empty answer proves nothing about a series: the result lists only the series that each answer lists.
  const codeSets = answers.map((one) => new Set(one.listed.map(({ code }) => code)))
  const inAll = listed.filter(({ code }) => codeSets.every((codes) => codes.has(code)))
  return { listed: inAll, observations, ...(leftOut && { leftOut }) }
}

/** Returns the days of an answer of the bank, which may send a row later than tomorrow. */
export function requestedDays(window: AnswerDays, { sourceDay }: Requester): AnswerDays {
  const today = sourceDay()
  return { ...window, tomorrow: today && addDays(today, 1) }
}

/** Returns a request with the token. `window` undefined: the resource has no days. */
export function publicRequest(
  source: { url: string; token: string },
  { name, path, window }: { name: string; path: string; window?: Window },
): SourceRequest {
  const dates = window && `fechaInicio=${slashDate(window.from)}&fechaFin=${slashDate(window.to)}&`
  return {
    name,
    url: `${source.url}/Bccr.GE.SDDE.Publico.Indicadores.API/${path}?${dates ?? ''}idioma=ES`,
    headers: { Accept: 'application/json', Authorization: `Bearer ${source.token}` },
    secrets: [source.token],
    readError: errorText,
    ...(window && { readUnsynchronized: (status, body) => unsynchronizedDays(status, body, window) }),
  }
}

/**
 * Parses an answer with a list of indicators, or of tables with their `indicadores`.
 * @throws FetchFailure for any other body, a row of another day, or a value that is no number; `datos: []` is valid and empty
 */
export async function readPublicAnswer(body: string, days: AnswerDays): Promise<SourceAnswer> {
  const answer = await parseLargeJson(body)
  if (!isJsonObject(answer) || !(Object.hasOwn(answer, 'estado') || Object.hasOwn(answer, 'datos'))) {
    throw new FetchFailure('the answer has neither "estado" nor "datos"')
  }
  if (Object.hasOwn(answer, 'estado') && answer.estado !== true) {
    throw new FetchFailure('the answer says that it is none ("estado" is not true)')
  }
  if (!Array.isArray(answer.datos)) throw new FetchFailure('"datos" is not a list')
  const answers = answer.datos.flatMap(entryIndicators).map((one) => readIndicator(one, days))
  const merged = mergeAnswers(answers)
  return { ...merged, observations: readPublishedValues(merged.observations, 'plain') }
}

/** Returns the message of `{"CodigoError":"400","Mensaje":"..."}`, else the body unchanged (upstream 1). */
export function errorText(body: string): string {
  try {
    const error = parseSourceJson(body)
    return (isJsonObject(error) && scalarText(error.Mensaje)) || body
  } catch {
    return body
  }
}

/**
 * Parses the days within the window that another cambista has not synchronized. Its API has the form of the bank's; the
 * bank itself sends no such error.
 */
export function unsynchronizedDays(status: number, body: string, window: Window): Window | undefined {
  if (status !== 503) return undefined
  const [, first = '', last = ''] = UNSYNCHRONIZED.exec(errorText(body)) ?? []
  if (!isIsoDate(first) || !isIsoDate(last)) return undefined
  const days = { from: latest(first, window.from), to: earliest(last, window.to) }
  return days.from <= days.to ? days : undefined
}

/**
 * Adds the headers of another cambista: indicators that it omitted from a table, and its rounding. A rounded value has
 * as many decimals as it is rounded to, and an exact one at least 8. Versions before 1.0 write 8 for both, so all values
 * of such an answer count as rounded.
 */
function withMirrorHeaders(answer: SourceAnswer, headers: Headers): SourceAnswer {
  const codes = (headers.get('x-left-out') ?? '').split(',').map((code) => code.trim())
  const leftOut = codes.filter((code) => /^\d{1,20}$/.test(code))
  const text = headers.get('x-rounded-to') ?? ''
  const fewest = /^\d{1,2}$/.test(text) ? Number(text) : undefined
  const isExact = ({ value }: Observation) => countDecimals(value) >= EXACT_DECIMALS
  const areAlike = answer.observations.every(isExact)
  const observations = answer.observations.map((one) => {
    if (fewest === undefined || (isExact(one) && !areAlike)) return one
    return { ...one, roundedTo: areAlike ? fewest : countDecimals(one.value) }
  })
  return {
    ...{ ...answer, observations },
    ...(leftOut.length > 0 && { leftOut }),
  }
}

function countDecimals(value: string): number {
  return value.split('.')[1]?.length ?? 0
}

/** Concatenates answers; a series is listed once, under its first name. */
function mergeAnswers(answers: readonly SourceAnswer[]): SourceAnswer {
  const listed = new Map<string, { code: string; name: string }>()
  for (const series of answers.flatMap((answer) => answer.listed)) {
    if (!listed.has(series.code)) listed.set(series.code, series)
  }
  const leftOut = [...new Set(answers.flatMap((answer) => answer.leftOut ?? []))]
  const observations = answers.flatMap((answer) => answer.observations)
  return { listed: [...listed.values()], observations, ...(leftOut.length > 0 && { leftOut }) }
}

function entryIndicators(entry: unknown): JsonObject[] {
  const own = isJsonObject(entry) ? entry.indicadores : undefined
  const indicators = own === undefined || own === null ? [entry] : listItems(own, '"indicadores"')
  return indicators.map((indicator) => {
    if (isJsonObject(indicator)) return indicator
    throw new FetchFailure('"datos" holds something that is not an indicator')
  })
}

function readIndicator(indicator: JsonObject, days: AnswerDays): SourceAnswer {
  const code = scalarText(indicator.codigoIndicador)
  const rows = listItems(indicator.series, '"series"')
  if (code === '') {
    // A heading between the rows of a table has no code; values without one cannot be attributed.
    if (rows.length === 0) return { listed: [], observations: [] }
    throw new FetchFailure('an indicator has values but no "codigoIndicador"')
  }
  return {
    listed: [{ code, name: scalarText(indicator.nombreIndicador) }],
    observations: rows.flatMap((row) => readRow(code, row, days)),
  }
}

function readRow(code: string, row: unknown, days: AnswerDays): Observation[] {
  if (!isJsonObject(row)) throw new FetchFailure(`"series" of ${code} holds something that is not a row`)
  const { fecha, valorDatoPorPeriodo: value } = row
  const day = readDay(scalarText(fecha).replace(/^(\d{4}-\d{2}-\d{2})T.*$/, '$1'), days)
  if (value === undefined || value === null) return []
  return [{ code, day, value: scalarText(value), roundedTo: undefined }]
}

function resourcePath({ table, indicator }: FetchRequest): string {
  return indicator === undefined
    ? `cuadro/${encodeURIComponent(table)}`
    : `indicadoresEconomicos/${encodeURIComponent(indicator)}`
}

function slashDate(day: string): string {
  return day.replaceAll('-', '/')
}

function splitWindow({ from, to }: Window, days: number): Window[] {
  const windows: Window[] = []
  for (let start = from; start <= to; start = addDays(start, days)) {
    windows.push({ from: start, to: earliest(addDays(start, days - 1), to) })
  }
  return windows
}
