// The bank's own API of 2026, for programs that are written against it: an indicator, or one of the tables 1 and 520. Of its
// descriptions only what they hold is known, not how each field is called.

import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import { EARLIEST_DAY, earliest, type IsoDate, isIsoDate } from '../../../dates.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { AppError } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import type { Api } from '../../api/api.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { inAnyCase } from '../any-case.ts'
import { findIndicator, type IndicatorValues, indicatorsIn, valuesBetween } from '../indicators.ts'
import { firstOf, type MissingDays, missingDaysOf, type Part, wholeParts } from '../missing-days.ts'
import { checkRows } from '../rows.ts'
import { type Asked, type ShapeDeps, shapeEndpoint } from '../shape.ts'

const ROOT = '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const DONE = 'Consulta exitosa'
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
    const missing = missingDaysOf(details)
    const words = missing ? missingInWords(missing) : (MESSAGES[status] ?? message)
    return JSON.stringify({ CodigoError: String(status), Mensaje: words })
  },
  schema: v.object({ CodigoError: v.string(), Mensaje: v.string() }),
  invalid: v.object({ CodigoError: v.string(), Mensaje: v.string() }),
}

type Table = { title: string; holds(series: SeriesRow): boolean }

const TABLES: Readonly<Record<string, Table>> = {
  1: {
    title: 'Tipo cambio de compra y de venta del dólar de los Estados Unidos de América',
    holds: ({ rate_type }) => rate_type !== 'referencia',
  },
  520: { title: 'Paridad de monedas', holds: ({ rate_type }) => rate_type === 'referencia' },
}

type Query = { code: string; from: IsoDate; to: IsoDate }
/** What is written of an indicator, and whether there is anything to say. */
type Item = { text: string; isEmpty: boolean; roundedTo: number | undefined }
type Found = {
  items: readonly Item[]
  table: Table | undefined
  periodicity: string
  /** The codes of the table that lack days. */
  leftOut: readonly string[]
}

export function sddeApi(deps: ShapeDeps): Api {
  const ever = ({ today }: Asked) => ({ from: EARLIEST_DAY, to: today })
  return {
    prefixes: ['/compat/sdde'],
    errors: ERRORS,
    endpoints: [
      ...endpoints(deps, 'series', rangeOf, seriesItem),
      ...endpoints(deps, 'metadata', ever, metadataItem),
    ],
  }
}

function endpoints(
  deps: ShapeDeps,
  what: string,
  daysOf: (asked: Asked) => { from: IsoDate; to: IsoDate },
  itemOf: (found: IndicatorValues) => Item,
): AnyEndpoint[] {
  const endpoint = (path: string, membersOf: (snapshot: RateSnapshot, code: string) => Members) =>
    shapeEndpoint(deps, {
      path: `${ROOT}/${path}/{code}/${what}`,
      summary: `API of the bank: ${path}, ${what}`,
      contentType: JSON_TYPE,
      ask: (asked): Query => ({ code: asked.params.code ?? '', ...daysOf(asked) }),
      async find(snapshot, { code, ...days }): Promise<Found> {
        const { series, table } = membersOf(snapshot, code)
        const parts: Part<Item>[] = []
        let rows = 0
        for (const one of series) {
          const found = await valuesBetween(deps, snapshot, one, days)
          rows += found.values.length
          if (what === 'series') checkRows(rows)
          const missing = what === 'series' ? missingIn(found) : undefined
          parts.push({ code: one.external_code, value: itemOf(found), missing })
          if (table) await setImmediate() // a table may be of half a million values
        }
        const { whole, leftOut } = await wholeParts(deps, 'sdde', parts, { areNamed: table === undefined })
        return { items: whole, table, periodicity: periodicityOf(series[0]), leftOut }
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
      deps.missed.indicator('sdde', code)
      throw new AppError('bad-request', INVALID)
    }),
    endpoint('cuadro', (snapshot, code) => {
      const table = Object.hasOwn(TABLES, code) ? TABLES[code] : undefined
      if (table) return { series: indicatorsIn(snapshot).filter(table.holds), table }
      deps.missed.indicator('sdde', `cuadro ${code}`)
      throw new AppError('bad-request', INVALID)
    }),
  ]
}

type Members = { series: readonly SeriesRow[]; table: Table | undefined }

/** The days asked for, not beyond today: what lies there is not in force. @throws AppError `bad-request` */
function rangeOf({ query, today }: Asked): { from: IsoDate; to: IsoDate } {
  const sent = inAnyCase(query)
  return { from: dayIn(sent.get('fechainicio')), to: earliest(dayIn(sent.get('fechafin')), today) }
}

function dayIn(text = ''): IsoDate {
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
  const text = JSON.stringify({ ...namesOf(series), series: rows })
  return { text, isEmpty: rows.length === 0, roundedTo }
}

/** Another server like this one takes what is absent for days without data: what is not answered is missing, too. */
function missingIn({ holes, unserved }: IndicatorValues): MissingDays | undefined {
  if (holes.length > 0) return { days: holes }
  return unserved.length > 0 ? { days: unserved, isRounded: true } : undefined
}

/** In the words by which another server like this one reads the days (decisions 2.6). */
function missingInWords(missing: MissingDays): string {
  const { from, to } = firstOf(missing)
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
    ...namesOf(series),
    periodicidad: periodicityOf(series),
    unidad: series.unit,
    fechaInicio: values[0]?.day ?? null,
    fechaFin: values.at(-1)?.day ?? null,
  })
  return { text, isEmpty: false, roundedTo: undefined }
}

function namesOf({ external_code, name }: SeriesRow) {
  return { codigoIndicador: external_code, nombreIndicador: name }
}

function periodicityOf(series: SeriesRow | undefined): string {
  const word = series?.periodicity ?? ''
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function encode({ items, table, periodicity }: Found): string {
  if (items.every(({ isEmpty }) => isEmpty)) {
    return JSON.stringify({ estado: true, mensaje: NO_DATA, datos: [] })
  }
  const indicators = items.map(({ text }) => text).join(',')
  const head = table && JSON.stringify({ titulo: table.title, periodicidad: periodicity })
  const data = head ? `${head.slice(0, -1)},"indicadores":[${indicators}]}` : indicators
  return `{"estado":true,"mensaje":${JSON.stringify(DONE)},"datos":[${data}]}`
}
