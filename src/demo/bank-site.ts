// Website API of the fake bank (upstream 2).

import type { IncomingHttpHeaders } from 'node:http'
import { dayNumber, isIsoDate, isoDate } from '../values/dates.ts'
import type { Books, Indicator } from './books.ts'
import type { BankReply } from './reply.ts'

const CSRF_PATH = 'Bccr.GE.SDDE.IndicadoresSitioExterno.ServiciosUsuario.API/Token/GenereCSRF'
const TABLE_PATH =
  'Bccr.GE.SDDE.IndicadoresSitioExterno.GrupoVariables.API/CuadroGrupoVariables/ObtenerDatosCuadro'
const ORIGIN = 'https://sdd.bccr.fi.cr'
const MAX_COLUMNS = 100
const DECIMALS = 2
const SPANISH_MONTHS = ['ene', 'feb', 'mar', 'abr', 'may', 'jun', 'jul', 'ago', 'set', 'oct', 'nov', 'dic']
const ENGLISH_MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Answers a request to the website's API; undefined: another path. `tokens`: issued so far. */
export function siteAnswer(
  books: Books,
  tokens: Set<string>,
  path: string,
  query: Record<string, string>,
  headers: IncomingHttpHeaders,
): BankReply | undefined {
  if (path === CSRF_PATH)
    return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: issueToken(tokens) }
  if (path !== TABLE_PATH) return undefined
  const token = headers.token_csrf ?? headers['token-csrf']
  if (typeof token !== 'string' || headers.origin !== ORIGIN) return { status: 500, body: '' }
  if (!tokens.has(token)) return { status: 401, body: '' }
  const indicators = books.listIndicators(query.IdGrupoVariable ?? '')
  const until = query.FechaFin ?? ''
  if (!indicators || !isIsoDate(until)) return { status: 500, body: '' }
  return { status: 200, body: JSON.stringify(tableBody(books, indicators, dayNumber(until))) }
}

/** Rounds half away from zero and groups digits, like .NET's `{0:N2}`; other texts are unchanged. */
export function groupedText(value: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value)
  if (!parts) return value
  const [, sign, whole = '', fraction = ''] = parts
  const truncated = BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
  const rounded = String(truncated + (fraction.charAt(DECIMALS) >= '5' ? 1n : 0n)).padStart(DECIMALS + 1, '0')
  const grouped = rounded.slice(0, -DECIMALS).replace(/\B(?=(\d{3})+$)/g, ',')
  return `${sign}${grouped}.${rounded.slice(-DECIMALS)}`
}

/** Returns the table of indicators, with a column for each of the last days. `until`: number of a day. */
function tableBody(books: Books, indicators: Indicator[], until: number) {
  const days = lastDays(books, indicators, until)
  return {
    informacionDelCuadro: { idPeriodicidad: 1, decimales: DECIMALS },
    columnas: [
      { field: 'nombre', tituloEspanol: 'Indicadores', tituloIngles: 'Indicators', format: null },
      ...days.map((day, index) => ({
        field: `serie${index + 1}`,
        tituloEspanol: columnTitle(day, SPANISH_MONTHS),
        tituloIngles: columnTitle(day, ENGLISH_MONTHS),
        format: `{0:N${DECIMALS}}`,
      })),
    ],
    indicadoresRaiz: indicators.map(({ code, name }, index) => ({
      id: index + 1,
      idIndicador: Number(code),
      nombreEspanol: name,
      indicadores: [],
      series: seriesFields(books, code, days),
    })),
    notas: [],
    enlaces: [],
  }
}

/** Returns the last days up to `until` on which the table has a value, oldest first. */
function lastDays(books: Books, indicators: Indicator[], until: number): number[] {
  const days: number[] = []
  const last = Math.min(until, books.lastDay())
  for (let day = last; day >= books.firstDay && days.length < MAX_COLUMNS; day--) {
    const iso = isoDate(day)
    if (indicators.some(({ code }) => typeof books.valueOn(code, day, iso) === 'string')) days.push(day)
  }
  return days.reverse()
}

function seriesFields(books: Books, code: string, days: number[]): Record<string, string> {
  const series: Record<string, string> = {}
  days.forEach((day, index) => {
    const value = books.valueOn(code, day, isoDate(day))
    const text = typeof value === 'string' ? groupedText(value) : ''
    series[`serie${index + 1}`] = text.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'))
    series[`serie${index + 1}Ingles`] = text
  })
  return series
}

function columnTitle(day: number, months: string[]): string {
  const [year = '', month = '', date = ''] = isoDate(day).split('-')
  return `${date} ${months[Number(month) - 1]} ${year}`
}

function issueToken(tokens: Set<string>): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const token = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'BCCR-SDDE', jti: tokens.size + 1 })}.stand-in`
  tokens.add(token)
  return token
}
