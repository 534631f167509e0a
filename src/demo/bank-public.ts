// Public API of the fake bank (upstream 1).

import type { IncomingHttpHeaders } from 'node:http'
import { dayNumber, earliest, isIsoDate, isoDate, latest } from '../values/dates.ts'
import { addInterval, type Interval } from '../values/intervals.ts'
import type { Books, Indicator } from './books.ts'
import { type BankReply, bankError } from './reply.ts'

const PATH =
  /^Bccr\.GE\.SDDE\.Publico\.Indicadores\.API\/(indicadoresEconomicos|cuadro)\/([^/]+)\/(series|metadata)$/

const DECIMALS = 8 // upstream 1: on the wire

export type UnsynchronizedDays = Record<string, readonly Interval[]>

type PublicOptions = { token?: string; unsynchronized?: UnsynchronizedDays }

/** Answers a request to the public API; undefined: another path. */
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
  const [, kind, code = '', resource] = parts
  const alone = kind === 'indicadoresEconomicos'
  const match = alone ? books.find(code) : books.listIndicators(code)
  const from = parseSlashDay(query.fechaInicio)
  const to = parseSlashDay(query.fechaFin)
  if (!match) return bankError(400, `El ${alone ? 'indicador' : 'cuadro'} ${code} no existe.`)
  if (resource === 'metadata') return metadataReply([match].flat())
  if (from === undefined || to === undefined) return bankError(400, 'El formato de las fechas es aaaa/mm/dd.')

  const requested = [match].flat()
  const holes = new Map(requested.map(({ code }) => [code, clipHoles(unsynchronized[code], from, to)]))
  const indicators = requested.filter(({ code }) => holes.get(code)?.length === 0)
  if (indicators.length === 0) return holeError([...holes.values()].flat())
  const leftOut = requested.filter((one) => !indicators.includes(one)).map(({ code }) => code)
  const extraHeaders: Record<string, string> = leftOut.length > 0 ? { 'X-Left-Out': leftOut.join(',') } : {}
  const days = listDays(books, from, to)
  const series = indicators.map((indicator) => rowsText(books, indicator, days))
  if (series.every((rows) => rows === '')) {
    const mensaje = 'No existen datos para las fechas suministradas.'
    const body = JSON.stringify({ estado: true, mensaje, datos: [] })
    return { status: 200, headers: extraHeaders, body }
  }
  const items = indicators.map((indicator, index) => indicatorText(indicator, series[index] ?? ''))
  const table = `{"titulo":"Cuadro ${code}","periodicidad":"Diaria","indicadores":[${items.join(',')}]}`
  const datos = alone ? items.join(',') : table
  const body = `{"estado":true,"mensaje":"Consulta exitosa","datos":[${datos}]}`
  return { status: 200, headers: extraHeaders, body }
}

/** Formats a decimal with eight decimals, as on the wire; other texts are unchanged. */
export function wireNumber(value: string): string {
  const parts = /^(-?\d+)(?:\.(\d{1,8}))?$/.exec(value)
  return parts ? `${parts[1]}.${(parts[2] ?? '').padEnd(DECIMALS, '0')}` : value
}

/** Returns the parts of the intervals within a range of day numbers. */
function clipHoles(intervals: readonly Interval[] = [], first: number, last: number): Interval[] {
  const [from, to] = [isoDate(first), isoDate(last)]
  return intervals.flatMap((one) =>
    one.from <= to && one.to >= from ? { from: latest(one.from, from), to: earliest(one.to, to) } : [],
  )
}

/** Returns the error of another cambista, with the first of the holes. */
function holeError(holes: readonly Interval[]): BankReply {
  const merged = [...holes].sort((a, b) => (a.from < b.from ? -1 : 1)).reduce<Interval[]>(addInterval, [])
  const [first] = merged
  const error = bankError(503, `Los días del ${first?.from} al ${first?.to} no se han sincronizado.`)
  return { ...error, headers: { 'Retry-After': '3600' } }
}

/** Answers with metadata as upstream 5 has them: the code is a number here. */
function metadataReply(indicators: readonly Indicator[]): BankReply {
  const datos = indicators.map(({ code, name, unit, periodicity }) => ({
    ...{ codIndicador: Number(code), nombre: name, periodicidad: periodicity ?? 'Diaria' },
    ...(unit !== undefined && { unidadDeMedida: unit }),
  }))
  return { status: 200, body: JSON.stringify({ estado: true, mensaje: 'Consulta exitosa', datos }) }
}

type Day = { day: number; iso: string }

function listDays(books: Books, from: number, to: number): Day[] {
  const days: Day[] = []
  for (let day = Math.max(from, books.firstDay); day <= Math.min(to, books.lastDay()); day++) {
    days.push({ day, iso: isoDate(day) })
  }
  return days
}

/** Formats rows as text, so that all digits of a value remain. */
function rowsText(books: Books, { code }: Indicator, days: Day[]): string {
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

function parseSlashDay(text = ''): number | undefined {
  const day = text.replaceAll('/', '-')
  return text.includes('/') && isIsoDate(day) ? dayNumber(day) : undefined
}
