// The service behind the central bank's website: no credentials, but only tables, at most 100 days at a time and
// rounded (upstream 2). It is unofficial, so that an answer of another shape is a failure, never a guess.

import { addDays, type IsoDate, isIsoDate } from '../../dates.ts'
import { isRecord, type JsonRecord, listOf, parseJson, textOf } from '../json.ts'
import { type Answer, FetchFailure, type FetchRequest, type Observation } from '../provider.ts'
import { RefusedFailure, type Requester } from '../request.ts'
import { errorText } from './public.ts'

export type SitePage = Answer & { oldest: IsoDate | undefined }

export type SiteReader = (request: FetchRequest) => Promise<Answer>

const ORIGIN = 'https://sdd.bccr.fi.cr'
const CSRF_PATH = 'Bccr.GE.SDDE.IndicadoresSitioExterno.ServiciosUsuario.API/Token/GenereCSRF'
const TABLE_PATH =
  'Bccr.GE.SDDE.IndicadoresSitioExterno.GrupoVariables.API/CuadroGrupoVariables/ObtenerDatosCuadro'
const CSRF_MS = 3_600_000 // valid for a day, reused for an hour (upstream 2)
const PAGES_KEPT = 4 // a year of a table: 317 and 318 asked one after the other cost one reading
const DEEPEST = 16
const MOST_COLUMNS = 200 // every indicator is read at every column
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/

/** A conversation with the site: it remembers its CSRF token and the last few pages. */
export function createSiteReader(requester: Requester, url: string): SiteReader {
  const pages = new Map<string, SitePage>()
  let csrf: { token: string; since: number } | undefined

  const signOn = async () => {
    if (csrf && performance.now() - csrf.since < CSRF_MS) return csrf.token
    const request = {
      name: 'site CSRF',
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
      name: `site table ${table}`,
      url: siteUrl(url, table, until),
      headers: { Accept: 'application/json', token_csrf: token, Origin: ORIGIN },
      secrets: [token],
      readError: errorText,
    }
    return requester.get(request, readSitePage)
  }

  const page = async (table: string, until: IsoDate, again: boolean) => {
    const key = `${table} ${until}`
    const known = again ? undefined : pages.get(key)
    if (known) return known
    pages.delete(key)
    const fresh = await fetchPage(table, until).catch((error: unknown) => {
      if (!(error instanceof RefusedFailure) || error.status === 404) throw error
      csrf = undefined
      return fetchPage(table, until)
    })
    pages.set(key, fresh)
    for (const oldest of pages.keys()) if (pages.size > PAGES_KEPT) pages.delete(oldest)
    return fresh
  }

  return (request) => readBackwards(request, page)
}

/**
 * The bare token of the sign-on answer.
 * @throws FetchFailure when it does not look like one
 */
export function readCsrfToken(body: string): string {
  const token = body.replace(/^["\s]+|["\s]+$/g, '')
  if (/^[\x21-\x7e]{1,4096}$/.test(token) && !/[<{]/.test(token)) return token
  throw new FetchFailure('the answer is not a CSRF token')
}

/**
 * All values of one page.
 * @throws FetchFailure when the body is no page, or one of its columns cannot be dated
 */
export function readSitePage(body: string): SitePage {
  const page = parseJson(body)
  if (!isRecord(page) || !Object.hasOwn(page, 'columnas') || !Object.hasOwn(page, 'indicadoresRaiz')) {
    throw new FetchFailure('the answer has no "columnas" or no "indicadoresRaiz"')
  }
  const days = readColumns(listOf(page.columnas, '"columnas"'))
  const result: SitePage = { listed: [], observations: [], oldest: [...days.values()].sort()[0] }
  const decimals = decimalsOf(page.informacionDelCuadro)
  for (const indicator of walk(listOf(page.indicadoresRaiz, '"indicadoresRaiz"'), 0)) {
    const code = textOf(indicator.idIndicador)
    const observations = readSeries(code, indicator.series, days, decimals)
    // A heading has neither an id nor values of its own.
    if (code === '' || code === '0') {
      if (observations.length > 0) throw new FetchFailure('an indicator has values but no "idIndicador"')
      continue
    }
    result.listed.push({ code, name: textOf(indicator.nombreEspanol) })
    result.observations.push(...observations)
  }
  return result
}

/** Pages until the window is covered: a page holds the last days up to its end, whatever its start (upstream 2). */
async function readBackwards(
  { table, indicator, window, again = false }: FetchRequest,
  page: (table: string, until: IsoDate, again: boolean) => Promise<SitePage>,
): Promise<Answer> {
  const names = new Map<string, string>()
  const pages: Observation[][] = []
  const isAsked = (code: string) => indicator === undefined || code === indicator
  let until = window.to
  while (until >= window.from) {
    const { listed, observations: found, oldest } = await page(table, until, again)
    for (const { code, name } of listed) if (isAsked(code) && !names.has(code)) names.set(code, name)
    if (oldest === undefined) break
    if (oldest > until) {
      throw new FetchFailure(`site table ${table}: asked for days up to ${until}, it begins on ${oldest}`)
    }
    // What is dated after the window is passed on from the first page only, for others to reject.
    const last = until === window.to ? undefined : until
    pages.unshift(
      found.filter(
        ({ code, day }) => isAsked(code) && day >= window.from && (last === undefined || day <= last),
      ),
    )
    until = addDays(oldest, -1)
  }
  return { listed: [...names].map(([code, name]) => ({ code, name })), observations: pages.flat() }
}

/** The day of each value column, by its field. */
function readColumns(columns: unknown[]): Map<string, IsoDate> {
  if (columns.length > MOST_COLUMNS) throw new FetchFailure(`"columnas" are more than ${MOST_COLUMNS}`)
  const days = new Map<string, IsoDate>()
  for (const column of columns) {
    const field = isRecord(column) ? textOf(column.field) : ''
    if (field === 'nombre') continue
    const title = isRecord(column) ? textOf(column.tituloIngles) : ''
    const day = readTitle(title)
    if (!/^serie\d+$/.test(field) || day === undefined) {
      throw new FetchFailure(`the column "${field.slice(0, 40)}" has no day, but "${title.slice(0, 40)}"`)
    }
    if (days.has(field)) throw new FetchFailure(`the column "${field}" is there twice`)
    days.set(field, day)
  }
  if (new Set(days.values()).size < days.size) throw new FetchFailure('two columns have the same day')
  return days
}

/** `15 dec 2025` as a day. */
function readTitle(title: string): IsoDate | undefined {
  const parts = /^(\d{1,2}) ([a-z]{3}) (\d{4})$/i.exec(title)
  if (!parts) return undefined
  const [, day = '', month = '', year = ''] = parts
  const number = MONTHS.indexOf(month.toLowerCase()) + 1
  const date = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`
  return isIsoDate(date) ? date : undefined
}

function* walk(indicators: unknown[], depth: number): Generator<JsonRecord> {
  if (depth > DEEPEST) throw new FetchFailure('"indicadores" nest too deep')
  for (const indicator of indicators) {
    if (!isRecord(indicator)) throw new FetchFailure('the answer holds something that is not an indicator')
    yield indicator
    yield* walk(listOf(indicator.indicadores, '"indicadores"'), depth + 1)
  }
}

function readSeries(
  code: string,
  series: unknown,
  days: Map<string, IsoDate>,
  decimals: number,
): Observation[] {
  if (series === undefined || series === null) return []
  if (!isRecord(series)) throw new FetchFailure(`"series" of ${code} is not an object`)
  const observations: Observation[] = []
  for (const [field, day] of days) {
    const text = textOf(series[`${field}Ingles`])
    if (text === '') continue
    const value = GROUPED.test(text) ? text.replaceAll(',', '') : text
    const shown = /^-?\d+\.(\d+)$/.exec(value)?.[1]?.length ?? 0
    observations.push({ code, day, value, roundedTo: Math.max(decimals, shown) })
  }
  return observations
}

function decimalsOf(about: unknown): number {
  const text = isRecord(about) ? textOf(about.decimales) : ''
  return /^\d{1,2}$/.test(text) ? Number(text) : 0
}

function siteUrl(base: string, table: string, until: IsoDate): string {
  // The start bounds nothing: the answer is always the last 100 days up to the end (upstream 2).
  const dates = `FechaInicio=${addDays(until, -99)}T00:00:00&FechaFin=${until}`
  return `${base}/${TABLE_PATH}?IdGrupoVariable=${encodeURIComponent(table)}&${dates}&CantidadSeriesAMostrar=100`
}
