// Client of the API of the central bank's website (upstream 2). No credentials are needed, but there are only tables,
// of at most 100 days, rounded. The API is unofficial, so an answer of another shape is a failure, never a guess.

import { addDays, earliest, type IsoDate, isIsoDate, latest } from '../../values/dates.ts'
import { isJsonObject, type JsonObject } from '../../values/json-object.ts'
import { listItems, parseSourceJson, scalarText } from '../json.ts'
import {
  completeAnswer,
  FetchFailure,
  type FetchRequest,
  type Observation,
  type SourceAnswer,
} from '../provider.ts'
import { type AnswerDays, readDay, readPublishedValues } from '../published-value.ts'
import { RefusedFailure, type Requester } from '../request.ts'
import { errorText, requestedDays } from './public.ts'

export type SitePage = SourceAnswer & { oldest: IsoDate | undefined }

export type SiteReader = (request: FetchRequest) => Promise<SourceAnswer>

const ORIGIN = 'https://sdd.bccr.fi.cr'
const CSRF_PATH = 'Bccr.GE.SDDE.IndicadoresSitioExterno.ServiciosUsuario.API/Token/GenereCSRF'
const TABLE_PATH =
  'Bccr.GE.SDDE.IndicadoresSitioExterno.GrupoVariables.API/CuadroGrupoVariables/ObtenerDatosCuadro'
const CSRF_MS = 3_600_000 // valid for a day, reused for an hour (upstream 2)
const CACHED_PAGES = 4 // a year of a table: a read of 318 after 317 needs no further request
const LATE_DAYS = 30 // a page ends on the requested day, or with the newest value
const MOST_LEVELS = 16
const MOST_COLUMNS = 200 // each indicator is read at each column
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Creates a reader that caches its CSRF token and the last few pages. */
export function createSiteReader(requester: Requester, url: string): SiteReader {
  const pages = new Map<string, SitePage>()
  let csrf: { token: string; since: number } | undefined

  const signOn = async () => {
    if (csrf && performance.now() - csrf.since < CSRF_MS) return csrf.token
    const request = {
      name: 'the website of the bank gave no token (CSRF)',
      url: `${url}/${CSRF_PATH}`,
      headers: { Accept: 'text/plain, */*;q=0.1' },
      secrets: [],
      readError: errorText,
    }
    csrf = { token: await requester.get(request, readCsrfToken), since: performance.now() }
    return csrf.token
  }

  const fetchPage = async (table: string, until: IsoDate) => {
    const token = await signOn()
    const request = {
      name: `the website of the bank, table ${table}`,
      url: siteUrl(url, table, until),
      headers: { Accept: 'application/json', token_csrf: token, Origin: ORIGIN },
      secrets: [token],
      readError: errorText,
    }
    // A page has days before those of its request.
    return requester.get(request, (body) => readSitePage(body, requestedDays({ to: until }, requester)))
  }

  const page = async (table: string, until: IsoDate, again: boolean) => {
    const key = `${table} ${until}`
    const cachedPage = again ? undefined : pages.get(key)
    if (cachedPage) return cachedPage
    pages.delete(key)
    const fresh = await fetchPage(table, until).catch((error: unknown) => {
      if (!(error instanceof RefusedFailure) || error.fact.status === 404) throw error
      csrf = undefined
      return fetchPage(table, until)
    })
    pages.set(key, fresh)
    for (const oldest of pages.keys()) if (pages.size > CACHED_PAGES) pages.delete(oldest)
    return fresh
  }

  return (request) => readBackwards(request, page)
}

/**
 * Parses the bare token of the sign-on answer.
 * @throws FetchFailure for a body that is no token
 */
export function readCsrfToken(body: string): string {
  const token = body.replace(/^["\s]+|["\s]+$/g, '')
  if (/^[\x21-\x7e]{1,4096}$/.test(token) && !/[<{]/.test(token)) return token
  throw new FetchFailure('the answer is not a CSRF token')
}

/**
 * Parses the values of a page.
 * @throws FetchFailure when the body is no page, a column is of another day, the page ends long before the request, or a
 * value is no number
 */
export function readSitePage(body: string, requested: AnswerDays): SitePage {
  const page = parseSourceJson(body)
  if (!isJsonObject(page) || !Object.hasOwn(page, 'columnas') || !Object.hasOwn(page, 'indicadoresRaiz')) {
    throw new FetchFailure('the answer has no "columnas" or no "indicadoresRaiz"')
  }
  const days = readColumns(listItems(page.columnas, '"columnas"'), requested)
  const columnDays = [...days.values()].sort()
  const { to = '', tomorrow = to } = requested
  const newest = columnDays.at(-1) ?? to
  if (to !== '' && newest < addDays(earliest(to, tomorrow), -LATE_DAYS))
    throw new FetchFailure(`days up to ${to} were requested, the newest column is of ${newest}`)
  const result: SitePage = { listed: [], observations: [], oldest: columnDays[0] }
  const decimals = tableDecimals(page.informacionDelCuadro)
  for (const indicator of walkIndicators(listItems(page.indicadoresRaiz, '"indicadoresRaiz"'), 0)) {
    const code = scalarText(indicator.idIndicador)
    const observations = readSeries(code, indicator.series, days, decimals)
    // A heading has neither an id nor values of its own.
    if (code === '' || code === '0') {
      if (observations.length > 0) throw new FetchFailure('an indicator has values but no "idIndicador"')
      continue
    }
    result.listed.push({ code, name: scalarText(indicator.nombreEspanol) })
    result.observations.push(...readPublishedValues(observations, 'thousands'))
  }
  return result
}

/**
 * Reads pages backwards over the window, as the start of a request has no effect (upstream 2). A page without days, and
 * one that omits a series of another page, are requested twice (decisions#coverage).
 */
async function readBackwards(
  { table, indicator, window, again = false }: FetchRequest,
  page: (table: string, until: IsoDate, again: boolean) => Promise<SitePage>,
): Promise<SourceAnswer> {
  const isRequested = ({ code }: { code: string }) => indicator === undefined || code === indicator
  const names = new Map<string, string>()
  const pages: { answer: SourceAnswer; until: IsoDate; oldest: IsoDate }[] = []
  let until = window.to
  while (until >= window.from) {
    let answer = await page(table, until, again)
    // The caller requests an empty window again.
    if (answer.oldest === undefined && pages.length > 0) answer = await page(table, until, true)
    const { listed, oldest } = answer
    for (const { code, name } of listed.filter(isRequested)) if (!names.has(code)) names.set(code, name)
    if (oldest === undefined) break
    if (oldest > until) {
      throw new FetchFailure(
        `the website of the bank, table ${table}: asked for days up to ${until}, it begins on ${oldest}`,
      )
    }
    pages.push({ answer, until, oldest })
    until = addDays(oldest, -1)
  }
  if (indicator !== undefined && names.size === 0 && pages.some(({ answer }) => answer.listed.length > 0))
    throw new FetchFailure(`the website of the bank, table ${table}: it has no indicator ${indicator}`)
  for (const one of pages) {
    const listed = new Set(one.answer.listed.map(({ code }) => code))
    if ([...names.keys()].every((code) => listed.has(code))) continue
    one.answer = completeAnswer(await page(table, one.until, true), one.answer)
  }
  const observations = pages.reverse().flatMap(({ answer, until, oldest }) => {
    const from = latest(oldest, window.from)
    // Values after the window are returned from the first page only; the caller rejects them.
    const isInPage = ({ day }: Observation) => day >= from && (until === window.to || day <= until)
    return answer.observations.filter((one) => isRequested(one) && isInPage(one))
  })
  return { listed: [...names].map(([code, name]) => ({ code, name })), observations }
}

/** Maps the field of each value column to its day. */
function readColumns(columns: unknown[], requested: AnswerDays): Map<string, IsoDate> {
  if (columns.length > MOST_COLUMNS) throw new FetchFailure(`"columnas" are more than ${MOST_COLUMNS}`)
  const days = new Map<string, IsoDate>()
  for (const column of columns) {
    const field = isJsonObject(column) ? scalarText(column.field) : ''
    if (field === 'nombre') continue
    const title = isJsonObject(column) ? scalarText(column.tituloIngles) : ''
    const day = readTitle(title)
    if (!/^serie\d+$/.test(field) || day === undefined) {
      throw new FetchFailure(`the column "${field.slice(0, 40)}" has no day, but "${title.slice(0, 40)}"`)
    }
    if (days.has(field)) throw new FetchFailure(`the column "${field}" is there twice`)
    days.set(field, readDay(day, requested))
  }
  if (new Set(days.values()).size < days.size) throw new FetchFailure('two columns have the same day')
  return days
}

/** Parses `15 dec 2025`. */
function readTitle(title: string): IsoDate | undefined {
  const parts = /^(\d{1,2}) ([a-z]{3}) (\d{4})$/i.exec(title)
  if (!parts) return undefined
  const [, day = '', month = '', year = ''] = parts
  const number = MONTHS.indexOf(month.toLowerCase()) + 1
  const date = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`
  return isIsoDate(date) ? date : undefined
}

function* walkIndicators(indicators: unknown[], depth: number): Generator<JsonObject> {
  if (depth > MOST_LEVELS) throw new FetchFailure('"indicadores" nest too deep')
  for (const indicator of indicators) {
    if (!isJsonObject(indicator))
      throw new FetchFailure('the answer holds something that is not an indicator')
    yield indicator
    yield* walkIndicators(listItems(indicator.indicadores, '"indicadores"'), depth + 1)
  }
}

function readSeries(
  code: string,
  series: unknown,
  days: Map<string, IsoDate>,
  decimals: number,
): Observation[] {
  if (series === undefined || series === null) return []
  if (!isJsonObject(series)) throw new FetchFailure(`"series" of ${code} is not an object`)
  const stray = Object.keys(series).find((field) => isStrayValue(field, series[field], days))
  if (stray !== undefined) throw new FetchFailure(`${code} has a value of "${stray}", which is no column`)
  const observations: Observation[] = []
  for (const [field, day] of days) {
    const text = scalarText(series[`${field}Ingles`])
    if (text === '') continue
    const ownDecimals = /^-?[\d,]+\.(\d+)$/.exec(text)?.[1]?.length ?? 0
    observations.push({ code, day, value: text, roundedTo: Math.max(decimals, ownDecimals) })
  }
  return observations
}

/** Returns true for a value without a column: its day is missing in the page. */
function isStrayValue(field: string, value: unknown, days: Map<string, IsoDate>): boolean {
  const [, column = ''] = /^(serie\d+)Ingles$/.exec(field) ?? []
  return column !== '' && !days.has(column) && scalarText(value) !== ''
}

function tableDecimals(about: unknown): number {
  const text = isJsonObject(about) ? scalarText(about.decimales) : ''
  return /^\d{1,2}$/.test(text) ? Number(text) : 0
}

function siteUrl(base: string, table: string, until: IsoDate): string {
  // The start has no effect: the answer is always the last 100 days up to the end (upstream 2).
  const dates = `FechaInicio=${addDays(until, -99)}T00:00:00&FechaFin=${until}`
  return `${base}/${TABLE_PATH}?IdGrupoVariable=${encodeURIComponent(table)}&${dates}&CantidadSeriesAMostrar=100`
}
