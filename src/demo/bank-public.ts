// The bank's public API (upstream 1).

import type { IncomingHttpHeaders } from 'node:http'
import { dayOf, earliest, isIsoDate, isoOf, latest } from '../dates.ts'
import { type Interval, joined } from '../intervals.ts'
import type { Books, Indicator } from './books.ts'
import { type BankReply, bankError } from './reply.ts'

const PATH = /^Bccr\.GE\.SDDE\.Publico\.Indicadores\.API\/(indicadoresEconomicos|cuadro)\/([^/]+)\/series$/

const DECIMALS = 8 // upstream 1: as seen on the wire

export type UnsynchronizedDays = Record<string, readonly Interval[]>

type PublicOptions = { token?: string; unsynchronized?: UnsynchronizedDays }

/** The answer to a request for the public API; undefined when the path is another one. */
export function publicAnswer(
  books: Books,
  { token, unsynchronized = {} }: PublicOptions,
  path: string,
  query: Record<string, string>,
  headers: IncomingHttpHeaders,
): BankReply | undefined {
  const parts = PATH.exec(path)
  if (!parts) return undefined
  if (token === undefined || headers.authorization !== `Bearer ${token}`) {
    return bankError(401, 'El token no es válido o expiró.')
  }
  const [, kind, code = ''] = parts
  const alone = kind === 'indicadoresEconomicos'
  const found = alone ? books.find(code) : books.indicatorsOf(code)
  const from = slashedDay(query.fechaInicio)
  const to = slashedDay(query.fechaFin)
  if (!found) return bankError(400, `El ${alone ? 'indicador' : 'cuadro'} ${code} no existe.`)
  if (from === undefined || to === undefined) return bankError(400, 'El formato de las fechas es aaaa/mm/dd.')

  const asked = [found].flat()
  const holes = new Map(asked.map(({ code }) => [code, holesIn(unsynchronized[code], from, to)]))
  const indicators = asked.filter(({ code }) => holes.get(code)?.length === 0)
  if (indicators.length === 0) return holeError([...holes.values()].flat())
  const leftOut = asked.filter((one) => !indicators.includes(one)).map(({ code }) => code)
  const headersBeside: Record<string, string> = leftOut.length > 0 ? { 'X-Left-Out': leftOut.join(',') } : {}
  const days = daysBetween(books, from, to)
  const series = indicators.map((indicator) => rowsOf(books, indicator, days))
  if (series.every((rows) => rows === '')) {
    const mensaje = 'No existen datos para las fechas suministradas.'
    const body = JSON.stringify({ estado: true, mensaje, datos: [] })
    return { status: 200, headers: headersBeside, body }
  }
  const items = indicators.map((indicator, index) => indicatorText(indicator, series[index] ?? ''))
  const table = `{"titulo":"Cuadro ${code}","periodicidad":"Diaria","indicadores":[${items.join(',')}]}`
  const datos = alone ? items.join(',') : table
  const body = `{"estado":true,"mensaje":"Consulta exitosa","datos":[${datos}]}`
  return { status: 200, headers: headersBeside, body }
}

/** As on the wire: a decimal with eight decimals. Anything else is published verbatim. */
export function wireNumber(value: string): string {
  const parts = /^(-?\d+)(?:\.(\d{1,8}))?$/.exec(value)
  return parts ? `${parts[1]}.${(parts[2] ?? '').padEnd(DECIMALS, '0')}` : value
}

/** The days of a range, as day numbers, that lie in some intervals. */
function holesIn(intervals: readonly Interval[] = [], first: number, last: number): Interval[] {
  const [from, to] = [isoOf(first), isoOf(last)]
  return intervals.flatMap((one) =>
    one.from <= to && one.to >= from ? { from: latest(one.from, from), to: earliest(one.to, to) } : [],
  )
}

/** The error of another cambista; it names the first of the days. */
function holeError(holes: readonly Interval[]): BankReply {
  const merged = [...holes].sort((a, b) => (a.from < b.from ? -1 : 1)).reduce<Interval[]>(joined, [])
  const [first] = merged
  const error = bankError(503, `Los días del ${first?.from} al ${first?.to} no se han sincronizado.`)
  return { ...error, headers: { 'Retry-After': '3600' } }
}

type Day = { day: number; iso: string }

function daysBetween(books: Books, from: number, to: number): Day[] {
  const days: Day[] = []
  for (let day = Math.max(from, books.firstDay); day <= Math.min(to, books.lastDay()); day++) {
    days.push({ day, iso: isoOf(day) })
  }
  return days
}

/** As text, so that a value keeps its digits. */
function rowsOf(books: Books, { code }: Indicator, days: Day[]): string {
  const rows: string[] = []
  for (const { day, iso } of days) {
    const value = books.valueOn(code, day, iso)
    if (value === undefined) continue
    const text = value === null ? 'null' : wireNumber(value)
    rows.push(`{"fecha":"${iso}","valorDatoPorPeriodo":${text}}`)
  }
  return rows.join(',')
}

function indicatorText({ code, name }: Indicator, rows: string): string {
  return `{"codigoIndicador":"${code}","nombreIndicador":${JSON.stringify(name)},"series":[${rows}]}`
}

function slashedDay(text = ''): number | undefined {
  const day = text.replaceAll('/', '-')
  return text.includes('/') && isIsoDate(day) ? dayOf(day) : undefined
}
