// The central bank's public API, which needs the operator's token (upstream 1).

import { addDays, earliest, isIsoDate, latest } from '../../dates.ts'
import { isRecord, type JsonRecord, listOf, parseJson, parseLargeJson, textOf } from '../json.ts'
import { type Answer, FetchFailure, type FetchRequest, type Observation, type Window } from '../provider.ts'
import type { Requester } from '../request.ts'

// One year of one indicator is known to work; a table brings 45 of them at once (upstream 1).
const ALONE_DAYS = 366
const TABLE_DAYS = 92
const UNSYNCHRONIZED = /\bdel (\d{4}-\d{2}-\d{2}) al (\d{4}-\d{2}-\d{2}) no se han sincronizado/

/** Reads the ask in as many requests as the source needs, oldest days first. */
export async function readPublic(
  requester: Requester,
  source: { url: string; token: string; nameOf: (code: string) => string },
  request: FetchRequest,
): Promise<Answer> {
  const { indicator } = request
  const answers: Answer[] = []
  for (const window of splitWindow(request.window, indicator === undefined ? TABLE_DAYS : ALONE_DAYS)) {
    const page = {
      name: indicator ?? request.table,
      url: publicUrl(source.url, { ...request, window }),
      headers: { Accept: 'application/json', Authorization: `Bearer ${source.token}` },
      secrets: [source.token],
      readError: errorText,
      readUnsynchronized: (status: number, body: string) => unsynchronizedDays(status, body, window),
    }
    const answer = await requester.get(page, async (body, headers) =>
      withMirrorHeaders(await readPublicAnswer(body), headers),
    )
    // Nothing was published, but the source knows the indicator: an unknown one is a 400 (upstream 1).
    if (indicator !== undefined && answer.listed.length === 0) {
      answer.listed.push({ code: indicator, name: source.nameOf(indicator) })
    }
    answers.push(answer)
  }
  const { listed, observations, leftOut } = mergeAnswers(answers)
  // A request that brought nothing vouches for nothing: the whole answer lists only what each of its requests listed.
  const codes = answers.map((one) => new Set(one.listed.map(({ code }) => code)))
  const byAll = listed.filter(({ code }) => codes.every((known) => known.has(code)))
  return { listed: byAll, observations, ...(leftOut && { leftOut }) }
}

/**
 * What an answer of either shape holds: a list of indicators, or of tables with their `indicadores`.
 * @throws FetchFailure when it is no such answer; `datos: []` is one, with nothing in it
 */
export async function readPublicAnswer(body: string): Promise<Answer> {
  const answer = await parseLargeJson(body)
  if (!isRecord(answer) || !(Object.hasOwn(answer, 'estado') || Object.hasOwn(answer, 'datos'))) {
    throw new FetchFailure('the answer has neither "estado" nor "datos"')
  }
  if (Object.hasOwn(answer, 'estado') && answer.estado !== true) {
    throw new FetchFailure('the answer says that it is none ("estado" is not true)')
  }
  if (!Array.isArray(answer.datos)) throw new FetchFailure('"datos" is not a list')
  return mergeAnswers(answer.datos.flatMap(indicatorsOf).map(readIndicator))
}

/** The message of `{"CodigoError":"400","Mensaje":"..."}`, or the body as it is (upstream 1). */
export function errorText(body: string): string {
  try {
    const error = parseJson(body)
    return (isRecord(error) && textOf(error.Mensaje)) || body
  } catch {
    return body
  }
}

/**
 * The days within the window that another cambista says it has not synchronized: its API has the form of the bank's, and the
 * bank itself says no such thing.
 */
export function unsynchronizedDays(status: number, body: string, window: Window): Window | undefined {
  if (status !== 503) return undefined
  const [, first = '', last = ''] = UNSYNCHRONIZED.exec(errorText(body)) ?? []
  if (!isIsoDate(first) || !isIsoDate(last)) return undefined
  const days = { from: latest(first, window.from), to: earliest(last, window.to) }
  return days.from <= days.to ? days : undefined
}

/** What another cambista says beside an answer: indicators that it left out of a table, and to what its values are rounded. */
function withMirrorHeaders(answer: Answer, headers: Headers): Answer {
  const codes = (headers.get('x-left-out') ?? '').split(',').map((code) => code.trim())
  const leftOut = codes.filter((code) => /^\d{1,20}$/.test(code))
  const decimals = headers.get('x-rounded-to') ?? ''
  const roundedTo = /^\d{1,2}$/.test(decimals) ? Number(decimals) : undefined
  const observations = answer.observations.map((one) => ({ ...one, roundedTo }))
  return {
    ...answer,
    ...(roundedTo !== undefined && { observations }),
    ...(leftOut.length > 0 && { leftOut }),
  }
}

/** One after the other; a series is listed once, under its first name. */
export function mergeAnswers(answers: readonly Answer[]): Answer {
  const listed = new Map<string, { code: string; name: string }>()
  for (const series of answers.flatMap((answer) => answer.listed)) {
    if (!listed.has(series.code)) listed.set(series.code, series)
  }
  const leftOut = [...new Set(answers.flatMap((answer) => answer.leftOut ?? []))]
  const observations = answers.flatMap((answer) => answer.observations)
  return { listed: [...listed.values()], observations, ...(leftOut.length > 0 && { leftOut }) }
}

function indicatorsOf(entry: unknown): JsonRecord[] {
  const own = isRecord(entry) ? entry.indicadores : undefined
  const indicators = own === undefined || own === null ? [entry] : listOf(own, '"indicadores"')
  return indicators.map((indicator) => {
    if (isRecord(indicator)) return indicator
    throw new FetchFailure('"datos" holds something that is not an indicator')
  })
}

function readIndicator(indicator: JsonRecord): Answer {
  const code = textOf(indicator.codigoIndicador)
  const rows = listOf(indicator.series, '"series"')
  if (code === '') {
    // A heading between the rows of a table has no code; values without one cannot be attributed.
    if (rows.length === 0) return { listed: [], observations: [] }
    throw new FetchFailure('an indicator has values but no "codigoIndicador"')
  }
  return {
    listed: [{ code, name: textOf(indicator.nombreIndicador) }],
    observations: rows.flatMap((row) => readRow(code, row)),
  }
}

function readRow(code: string, row: unknown): Observation[] {
  if (!isRecord(row)) throw new FetchFailure(`"series" of ${code} holds something that is not a row`)
  const { fecha, valorDatoPorPeriodo: value } = row
  if (value === undefined || value === null) return []
  const when = textOf(fecha)
  const day = when.length === 10 ? when : when.replace(/^(\d{4}-\d{2}-\d{2})T.*$/, '$1')
  return [{ code, day, value: textOf(value), roundedTo: undefined }]
}

function publicUrl(base: string, { table, indicator, window }: FetchRequest): string {
  const what =
    indicator === undefined
      ? `cuadro/${encodeURIComponent(table)}`
      : `indicadoresEconomicos/${encodeURIComponent(indicator)}`
  const dates = `fechaInicio=${slashed(window.from)}&fechaFin=${slashed(window.to)}`
  return `${base}/Bccr.GE.SDDE.Publico.Indicadores.API/${what}/series?${dates}&idioma=ES`
}

function slashed(day: string): string {
  return day.replaceAll('-', '/')
}

function splitWindow({ from, to }: Window, days: number): Window[] {
  const windows: Window[] = []
  for (let start = from; start <= to; start = addDays(start, days)) {
    windows.push({ from: start, to: earliest(addDays(start, days - 1), to) })
  }
  return windows
}
