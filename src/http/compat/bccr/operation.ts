// Parses a call of the old web service, in any binding: one of two operations, an indicator, and days.

import { EARLIEST_DAY, type IsoDate, isIsoDate, LATEST_DAY } from '../../../values/dates.ts'

/** `hasRows`: it answers a DataSet, and not a text with XML. */
export type Operation = { name: string; hasRows: boolean }

/** Inputs of an answer. */
export type IndicatorQuery = { code: string; from: IsoDate; to: IsoDate }

/** Parameters by their names in small letters. */
export type Parameters = ReadonlyMap<string, string>

export const OPERATIONS: readonly Operation[] = [
  { name: 'ObtenerIndicadoresEconomicos', hasRows: true },
  { name: 'ObtenerIndicadoresEconomicosXML', hasRows: false },
]

const REQUIRED = ['Indicador', 'FechaInicio', 'FechaFinal'] as const
const OLD_PREFIX = 'tc' // parameters before 2019, when tokens came
const DATE = /^\s*(\d{1,2})\/(\d{1,2})\/(\d{4})\s*$/

export function findOperation(name: string): Operation | undefined {
  return OPERATIONS.find((one) => one.name.toLowerCase() === name.toLowerCase())
}

/** Returns the name of a missing required parameter; undefined: none. */
export function missingParameter(parameters: Parameters): string | undefined {
  const prefix = parameters.has('tcindicador') ? OLD_PREFIX : ''
  const missing = REQUIRED.find((name) => parameterValue(parameters, name) === undefined)
  return missing && prefix + missing
}

/** Parses a call; undefined: a part is missing or no date. Days out of range become the first or the last. */
export function parseIndicatorQuery(parameters: Parameters): IndicatorQuery | undefined {
  const code = parameterValue(parameters, 'Indicador')?.trim()
  const from = parseDay(parameterValue(parameters, 'FechaInicio') ?? '')
  const to = parseDay(parameterValue(parameters, 'FechaFinal') ?? '')
  return code && from && to ? { code, from, to } : undefined
}

function parameterValue(parameters: Parameters, name: string): string | undefined {
  return parameters.get(name.toLowerCase()) ?? parameters.get(OLD_PREFIX + name.toLowerCase())
}

/** Parses day/month/year. A year out of range becomes the first or the last day. */
function parseDay(text: string): IsoDate | undefined {
  const [, day = '', month = '', year = ''] = DATE.exec(text) ?? []
  const isEarly = year < EARLIEST_DAY.slice(0, 4)
  const isLate = year > LATEST_DAY.slice(0, 4)
  const date = `${isEarly || isLate ? 2000 : year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (!isIsoDate(date)) return undefined
  if (isEarly) return EARLIEST_DAY
  return isLate ? LATEST_DAY : date
}
