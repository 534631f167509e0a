// What a call of the old web service asks for, in whichever binding it came: one of two operations, an indicator, and days.

import { EARLIEST_DAY, type IsoDate, isIsoDate, LATEST_DAY } from '../../../dates.ts'

/** `hasRows`: it answers a DataSet, and not a text with XML. */
export type Operation = { name: string; hasRows: boolean }

/** What is asked for; the answer depends on nothing else. */
export type Query = { code: string; from: IsoDate; to: IsoDate }

/** Parameters by their names in small letters. */
export type Parameters = ReadonlyMap<string, string>

export const OPERATIONS: readonly Operation[] = [
  { name: 'ObtenerIndicadoresEconomicos', hasRows: true },
  { name: 'ObtenerIndicadoresEconomicosXML', hasRows: false },
]

/** In the order in which the description has them. */
export const PARAMETERS = [
  'Indicador',
  'FechaInicio',
  'FechaFinal',
  'Nombre',
  'SubNiveles',
  'CorreoElectronico',
  'Token',
] as const

const NEEDED = PARAMETERS.slice(0, 3)
const OLD_PREFIX = 'tc' // of before 2019, when there was no token
const DATE = /^\s*(\d{1,2})\/(\d{1,2})\/(\d{4})\s*$/

export function findOperation(name: string): Operation | undefined {
  return OPERATIONS.find((one) => one.name.toLowerCase() === name.toLowerCase())
}

/** The name of a parameter without which a form or a URL is refused; undefined: none is absent. */
export function absentParameter(sent: Parameters): string | undefined {
  const prefix = sent.has('tcindicador') ? OLD_PREFIX : ''
  const absent = NEEDED.find((name) => sentAs(sent, name) === undefined)
  return absent && prefix + absent
}

/** Undefined for what is missing or no date; days before and after all that there are become the first and the last. */
export function queryIn(sent: Parameters): Query | undefined {
  const code = sentAs(sent, 'Indicador')?.trim()
  const from = dayIn(sentAs(sent, 'FechaInicio') ?? '')
  const to = dayIn(sentAs(sent, 'FechaFinal') ?? '')
  return code && from && to ? { code, from, to } : undefined
}

function sentAs(sent: Parameters, name: string): string | undefined {
  return sent.get(name.toLowerCase()) ?? sent.get(OLD_PREFIX + name.toLowerCase())
}

/** A day that is written day/month/year. */
function dayIn(text: string): IsoDate | undefined {
  const [, day = '', month = '', year = ''] = DATE.exec(text) ?? []
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (year === '' || year >= EARLIEST_DAY.slice(0, 4)) {
    if (year <= LATEST_DAY.slice(0, 4)) return isIsoDate(date) ? date : undefined
    return isIsoDate(`2000${date.slice(4)}`) ? LATEST_DAY : undefined
  }
  return isIsoDate(`2000${date.slice(4)}`) ? EARLIEST_DAY : undefined
}
