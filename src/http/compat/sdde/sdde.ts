// The bank's API of 2026, for programs written against it: an indicator, or one of the tables 1 and 520. A developer
// wrote down the names of its description fields (upstream 5). Other fields of ours are beside them.

import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import type { IndicatorSnapshot } from '../../../domain/indicators/reader.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import { EARLIEST_DAY, earliest, type IsoDate, isIsoDate } from '../../../values/dates.ts'
import { type Api, pathParameters } from '../../endpoint/api.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import { lowerCaseNames } from '../any-case.ts'
import type { IndicatorQuery } from '../bccr/operation.ts'
import {
  findIndicator,
  findIndicatorValues,
  findStoredValues,
  type IndicatorValues,
  isStoredIndicator,
  lackedDays,
  listIndicators,
  type MirroredSeries,
  padDecimals,
} from '../indicators.ts'
import {
  completeParts,
  firstInterval,
  type MissingDays,
  type RangePart,
  readMissingDays,
} from '../missing-days.ts'
import { checkRowCount } from '../rows.ts'
import {
  type CompatDeps,
  type CompatEndpoint,
  type CompatRequest,
  compatEndpoint,
  compatReply,
  compatRoute,
  PROVIDER,
} from '../shape.ts'

const ROOT = '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const SUCCESS = 'Consulta exitosa'
const NO_DATA = 'No existen datos para las fechas suministradas.'
const INVALID = 'Parámetros de entrada inválidos.'
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
  const resources: readonly MirrorResource[] = [
    { name: 'series', parseDays: parseRange, createItem: seriesItem },
    { name: 'metadata', parseDays: allDays, createItem: metadataItem },
  ]
  return {
    prefixes: ['/compat/sdde'],
    errors: ERRORS,
    endpoints: resources.flatMap((resource) => [
      indicatorEndpoint(deps, resource),
      tableEndpoint(deps, resource),
    ]),
  }
}

/** Resource of the API: its name, the days of a request, and the encoder of a series. */
type MirrorResource = {
  name: 'series' | 'metadata'
  parseDays: (request: CompatRequest) => { from: IsoDate; to: IsoDate }
  createItem: (values: IndicatorValues) => Item
}

function tableEndpoint(deps: CompatDeps, resource: MirrorResource): AnyEndpoint {
  return compatEndpoint(deps, {
    ...description('cuadro', resource),
    async find(snapshot, { code, ...days }): Promise<TableAnswer> {
      const table = Object.hasOwn(TABLES, code) ? TABLES[code] : undefined
      if (!table) throw unknownCode(deps, code, `cuadro ${code}`)
      const series = listIndicators(snapshot).filter(table.includes)
      const parts: RangePart<Item>[] = []
      let rows = 0
      for (const one of series) {
        const values = await findIndicatorValues(deps, snapshot, one, days)
        rows += values.values.length
        if (resource.name === 'series') checkRowCount(rows)
        parts.push(rangePart(resource, values))
        await setImmediate() // a table may be of half a million values
      }
      const { whole, leftOut } = await completeParts(deps, 'sdde', parts, {
        areNamed: false,
        provider: PROVIDER,
      })
      return { items: whole, table, periodicity: capitalized(series[0]?.periodicity ?? ''), leftOut }
    },
  })
}

function indicatorEndpoint(deps: CompatDeps, resource: MirrorResource): AnyEndpoint {
  const ofRate: CompatEndpoint<IndicatorQuery, TableAnswer> = {
    ...description('indicadoreseconomicos', resource),
    async find(snapshot, { code, ...days }) {
      const series = findIndicator(snapshot, code)
      if (!series) throw unknownCode(deps, code)
      return oneAnswer(deps, resource, await findIndicatorValues(deps, snapshot, series, days))
    },
  }
  const ofIndicator: CompatEndpoint<
    IndicatorQuery & { source: 'indicator' },
    TableAnswer,
    IndicatorSnapshot
  > = {
    ...ofRate,
    // The source is in the key of the answer, since both sources have revisions of their own.
    parse: (request) => ({ ...parseMirrorQuery(resource, request), source: 'indicator' }),
    find: async (snapshot, query) => oneAnswer(deps, resource, await findStoredValues(snapshot, query)),
  }
  return compatRoute(ofRate, (event, client) => {
    const { code = '' } = pathParameters(event)
    if (findIndicator(deps.cache.snapshot(), code)) return compatReply(deps, ofRate, event, client)
    return isStoredIndicator(deps.indicators, code).then((isStored) =>
      isStored
        ? compatReply({ ...deps, ...deps.indicators }, ofIndicator, event, client)
        : compatReply(deps, ofRate, event, client),
    )
  })
}

function description(path: 'indicadoreseconomicos' | 'cuadro', resource: MirrorResource) {
  return {
    path: `${ROOT}/${path}/{code}/${resource.name}` as const,
    parse: (request: CompatRequest) => parseMirrorQuery(resource, request),
    encode,
    leftOut: ({ leftOut }: TableAnswer) => leftOut,
    roundedTo: ({ items }: TableAnswer) =>
      items.reduce<number | undefined>((least, one) => smallest(least, one.roundedTo), undefined),
  }
}

function parseMirrorQuery({ parseDays }: MirrorResource, request: CompatRequest): IndicatorQuery {
  return { code: request.params.code ?? '', ...parseDays(request) }
}

async function oneAnswer(
  deps: CompatDeps,
  resource: MirrorResource,
  values: IndicatorValues,
): Promise<TableAnswer> {
  const parts = [rangePart(resource, values)]
  const { whole, leftOut } = await completeParts(deps, 'sdde', parts, { areNamed: true, provider: PROVIDER })
  return { items: whole, table: undefined, periodicity: '', leftOut }
}

function rangePart({ name, createItem }: MirrorResource, values: IndicatorValues): RangePart<Item> {
  const missing = name === 'series' ? lackedDays(values) : undefined
  return { code: values.series.code, value: createItem(values), missing }
}

/** Logs a code without data. Returns the error of the request. */
function unknownCode({ unserved }: CompatDeps, code: string, name = code): AppError {
  unserved.indicator('sdde', name)
  return new AppError('bad-request', INVALID)
}

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
  // Another server like this one knows a rounded value by its decimals.
  const rows = values.map((one) => ({
    fecha: one.day,
    valorDatoPorPeriodo: rawNumber(padDecimals(one.value, one.roundedTo)),
  }))
  const text = JSON.stringify({ ...seriesNames(series), series: rows })
  return { text, isEmpty: rows.length === 0, roundedTo }
}

/** In the words by which another server like this one reads the days (decisions#mirror). */
function missingDaysMessage(missing: MissingDays): string {
  const { from, to } = firstInterval(missing)
  const rest = missing.isRounded ? ' con todos sus decimales' : ''
  return `Los días del ${from} al ${to} no se han sincronizado${rest}.`
}

/**
 * Describes a series, in the fields of the bank and in those of ours. The bank's time of publication is not known, so
 * `ultimaPublicacion` is the day of the newest value.
 */
function metadataItem({ series, values }: IndicatorValues): Item {
  const { code, name, unit } = series
  const first = values[0]?.day ?? null
  const newest = values.at(-1)?.day ?? null
  const text = JSON.stringify({
    ...seriesNames(series),
    ...{ codIndicador: Number(code), nombre: name, periodicidad: capitalized(series.periodicity) },
    ...{ unidadDeMedida: unit, unidad: unit },
    ...{ primerDato: first, ultimoDatoSerie: newest, ultimaPublicacion: newest },
    ...{ fechaInicio: first, fechaFin: newest },
  })
  return { text, isEmpty: false, roundedTo: undefined }
}

function seriesNames({ code, name }: MirroredSeries) {
  return { codigoIndicador: code, nombreIndicador: name }
}

function capitalized(word: string): string {
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
