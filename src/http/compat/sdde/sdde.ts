// The bank's API of 2026, for programs written against it: an indicator, or one of the tables 1 and 520. The names
// of its description fields are not known, only their content.

import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import { EARLIEST_DAY, earliest, type IsoDate, isIsoDate } from '../../../values/dates.ts'
import type { Api } from '../../endpoint/api.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/errors.ts'
import { lowerCaseNames } from '../any-case.ts'
import type { IndicatorQuery } from '../bccr/operation.ts'
import { findIndicator, findIndicatorValues, type IndicatorValues, listIndicators } from '../indicators.ts'
import {
  completeParts,
  firstInterval,
  type MissingDays,
  type RangePart,
  readMissingDays,
} from '../missing-days.ts'
import { checkRowCount } from '../rows.ts'
import { type CompatDeps, type CompatRequest, compatEndpoint } from '../shape.ts'

const ROOT = '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const SUCCESS = 'Consulta exitosa'
const NO_DATA = 'No existen datos para las fechas suministradas.'
const INVALID = 'Parámetros de entrada inválidos.'
const DECIMALS = 8
const DATE = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/

const MESSAGES: Readonly<Record<number, string>> = {
  400: INVALID,
  401: 'El token no es válido o expiró.',
  404: 'No existe el recurso.',
  405: 'Método no permitido.',
  429: 'Demasiadas solicitudes: intente de nuevo en un minuto.',
}

const ERRORS: ErrorShape = {
  challenge: 'Bearer',
  body(status, message, details) {
    const missing = readMissingDays(details)
    const words = missing ? missingDaysMessage(missing) : (MESSAGES[status] ?? message)
    return JSON.stringify({ CodigoError: String(status), Mensaje: words })
  },
  schema: v.object({ CodigoError: v.string(), Mensaje: v.string() }),
}

type IndicatorGroup = { title: string; includes(series: SeriesRow): boolean }

const TABLES: Readonly<Record<string, IndicatorGroup>> = {
  1: {
    title: 'Tipo cambio de compra y de venta del dólar de los Estados Unidos de América',
    includes: ({ rate_type }) => rate_type !== 'referencia',
  },
  520: { title: 'Paridad de monedas', includes: ({ rate_type }) => rate_type === 'referencia' },
}

/** Text of an indicator. */
type Item = { text: string; isEmpty: boolean; roundedTo: number | undefined }
type TableAnswer = {
  items: readonly Item[]
  table: IndicatorGroup | undefined
  periodicity: string
  /** The codes of the table that lack days. */
  leftOut: readonly string[]
}

export function sddeApi(deps: CompatDeps): Api {
  const allDays = ({ today }: CompatRequest) => ({ from: EARLIEST_DAY, to: today })
  return {
    prefixes: ['/compat/sdde'],
    errors: ERRORS,
    endpoints: [
      ...endpoints(deps, 'series', parseRange, seriesItem),
      ...endpoints(deps, 'metadata', allDays, metadataItem),
    ],
  }
}

function endpoints(
  deps: CompatDeps,
  resource: 'series' | 'metadata',
  parseDays: (request: CompatRequest) => { from: IsoDate; to: IsoDate },
  createItem: (values: IndicatorValues) => Item,
): AnyEndpoint[] {
  const endpoint = (
    path: 'indicadoreseconomicos' | 'cuadro',
    findMembers: (snapshot: RateSnapshot, code: string) => Members,
  ) =>
    compatEndpoint(deps, {
      path: `${ROOT}/${path}/{code}/${resource}`,
      parse: (request): IndicatorQuery => ({ code: request.params.code ?? '', ...parseDays(request) }),
      async find(snapshot, { code, ...days }): Promise<TableAnswer> {
        const { series, table } = findMembers(snapshot, code)
        const parts: RangePart<Item>[] = []
        let rows = 0
        for (const one of series) {
          const values = await findIndicatorValues(deps, snapshot, one, days)
          rows += values.values.length
          if (resource === 'series') checkRowCount(rows)
          const missing = resource === 'series' ? missingDays(values) : undefined
          parts.push({ code: one.external_code, value: createItem(values), missing })
          if (table) await setImmediate() // a table may be of half a million values
        }
        const { whole, leftOut } = await completeParts(deps, 'sdde', parts, { areNamed: table === undefined })
        return { items: whole, table, periodicity: seriesPeriodicity(series[0]), leftOut }
      },
      encode,
      leftOut: ({ leftOut }) => leftOut,
      roundedTo: ({ items }) =>
        items.reduce<number | undefined>((least, one) => smallest(least, one.roundedTo), undefined),
    })
  return [
    endpoint('indicadoreseconomicos', (snapshot, code) => {
      const series = findIndicator(snapshot, code)
      if (series) return { series: [series], table: undefined }
      deps.unserved.indicator('sdde', code)
      throw new AppError('bad-request', INVALID)
    }),
    endpoint('cuadro', (snapshot, code) => {
      const table = Object.hasOwn(TABLES, code) ? TABLES[code] : undefined
      if (table) return { series: listIndicators(snapshot).filter(table.includes), table }
      deps.unserved.indicator('sdde', `cuadro ${code}`)
      throw new AppError('bad-request', INVALID)
    }),
  ]
}

type Members = { series: readonly SeriesRow[]; table: IndicatorGroup | undefined }

/** Parses the days; future days become today. @throws AppError `bad-request` */
function parseRange({ query, today }: CompatRequest): { from: IsoDate; to: IsoDate } {
  const parameters = lowerCaseNames(query)
  return {
    from: parseDay(parameters.get('fechainicio')),
    to: earliest(parseDay(parameters.get('fechafin')), today),
  }
}

function parseDay(text = ''): IsoDate {
  const [, year = '', month = '', day = ''] = DATE.exec(text.trim()) ?? []
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (!isIsoDate(date)) throw new AppError('bad-request', INVALID)
  return date
}

function seriesItem({ series, values, roundedTo }: IndicatorValues): Item {
  const rows = values.map(({ day, value }) => ({
    fecha: day,
    valorDatoPorPeriodo: rawNumber(wireDecimal(value)),
  }))
  const text = JSON.stringify({ ...seriesNames(series), series: rows })
  return { text, isEmpty: rows.length === 0, roundedTo }
}

/** Another server like this one takes what is absent for days without data: what is not answered is missing, too. */
function missingDays({ holes, unserved }: IndicatorValues): MissingDays | undefined {
  if (holes.length > 0) return { days: holes }
  return unserved.length > 0 ? { days: unserved, isRounded: true } : undefined
}

/** In the words by which another server like this one reads the days (decisions 2.6). */
function missingDaysMessage(missing: MissingDays): string {
  const { from, to } = firstInterval(missing)
  const rest = missing.isRounded ? ' con todos sus decimales' : ''
  return `Los días del ${from} al ${to} no se han sincronizado${rest}.`
}

/** As the bank writes a value: with eight decimals, or more where it has more. */
function wireDecimal(value: string): string {
  const [whole, decimals = ''] = value.split('.')
  return `${whole}.${decimals.padEnd(DECIMALS, '0')}`
}

function metadataItem({ series, values }: IndicatorValues): Item {
  const text = JSON.stringify({
    ...seriesNames(series),
    periodicidad: seriesPeriodicity(series),
    unidad: series.unit,
    fechaInicio: values[0]?.day ?? null,
    fechaFin: values.at(-1)?.day ?? null,
  })
  return { text, isEmpty: false, roundedTo: undefined }
}

function seriesNames({ external_code, name }: SeriesRow) {
  return { codigoIndicador: external_code, nombreIndicador: name }
}

function seriesPeriodicity(series: SeriesRow | undefined): string {
  const word = series?.periodicity ?? ''
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function encode({ items, table, periodicity }: TableAnswer): string {
  if (items.every(({ isEmpty }) => isEmpty)) {
    return JSON.stringify({ estado: true, mensaje: NO_DATA, datos: [] })
  }
  const indicators = items.map(({ text }) => text).join(',')
  const head = table && JSON.stringify({ titulo: table.title, periodicidad: periodicity })
  const data = head ? `${head.slice(0, -1)},"indicadores":[${indicators}]}` : indicators
  return `{"estado":true,"mensaje":${JSON.stringify(SUCCESS)},"datos":[${data}]}`
}
