// The bank's public API (upstream 1).

import type { IncomingHttpHeaders } from 'node:http'
import { dayOf, isIsoDate, isoOf } from '../dates.ts'
import type { Books, Indicator } from './books.ts'
import { type BankReply, bankError } from './reply.ts'

const PATH = /^Bccr\.GE\.SDDE\.Publico\.Indicadores\.API\/(indicadoresEconomicos|cuadro)\/([^/]+)\/series$/

/** The answer to a request for the public API; undefined when the path is another one. */
export function publicAnswer(
  books: Books,
  token: string | undefined,
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

  const indicators = [found].flat()
  const days = daysBetween(books, from, to)
  const series = indicators.map((indicator) => rowsOf(books, indicator, days))
  if (series.every((rows) => rows === '')) {
    const mensaje = 'No existen datos para las fechas suministradas.'
    return { status: 200, body: JSON.stringify({ estado: true, mensaje, datos: [] }) }
  }
  const items = indicators.map((indicator, index) => indicatorText(indicator, series[index] ?? ''))
  const table = `{"titulo":"Cuadro ${code}","periodicidad":"Diaria","indicadores":[${items.join(',')}]}`
  const datos = alone ? items.join(',') : table
  return { status: 200, body: `{"estado":true,"mensaje":"Consulta exitosa","datos":[${datos}]}` }
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
    if (value !== undefined) rows.push(`{"fecha":"${iso}","valorDatoPorPeriodo":${value}}`)
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
