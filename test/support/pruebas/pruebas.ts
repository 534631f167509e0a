// The Banco de Pruebas, an invented provider for tests that differs from the central bank in everything. Its values
// are XML per euro, of working days at 16:00 in Helsinki, and need a token.

import {
  type CatalogueSeries,
  FetchFailure,
  type Observation,
  type Provider,
  type RequestTuning,
  type SourceAnswer,
  type Window,
} from '../../../src/providers/provider.ts'
import { readDay, readPublishedValues } from '../../../src/providers/published-value.ts'
import { createRequester } from '../../../src/providers/request.ts'

const TIME_ZONE = 'Europe/Helsinki'
const TABLE = 'daily'
const CURRENCIES = ['USD', 'GBP', 'JPY', 'SEK']

export const pruebas: Provider = {
  id: 2,
  code: 'pruebas',
  name: 'Banco de Pruebas',
  country: 'FI',
  website: 'https://pruebas.example',
  attribution: 'Source: Banco de Pruebas',
  terms: undefined,
  pivot: 'EUR',
  timeZone: TIME_ZONE,
  publication: { time: '16:00', days: 'working days' },
  benchmark: { base: 'EUR', quote: 'USD', noun: 'euro', staleDays: 4 },
  roundedSource: undefined,
  settings: {
    schedule: {
      option: 'pruebas-cron',
      fallback: '30 16 * * 1-5',
      help: 'when to sync, in the time of Helsinki',
      spanish: 'cuándo se sincroniza, en hora de Helsinki',
    },
    url: {
      option: 'pruebas-url',
      fallback: 'https://pruebas.example/rates',
      help: 'base of its rates',
      spanish: 'dirección base de sus tipos de cambio',
    },
    pace: {
      option: 'pruebas-pace',
      fallback: '500',
      help: 'least milliseconds between two requests to it',
      spanish: 'mínimo de milisegundos entre dos solicitudes',
    },
    token: {
      option: 'pruebas-token-file',
      help: 'file with its token (or the token itself in CAMBISTA_PRUEBAS_TOKEN)',
      spanish: 'archivo con su token (o el token mismo en CAMBISTA_PRUEBAS_TOKEN)',
      name: 'the token of Pruebas',
      absence: 'no token of Pruebas, so it gives nothing',
    },
  },
  catalogue: CURRENCIES.map(euroSeries),
  groups: [{ name: TABLE, table: TABLE, indicators: undefined, chunkDays: 400, startsOn: '2026-01-01' }],
  connect(settings, signal, tuning: RequestTuning = {}) {
    const requester = createRequester({ ...settings, timeZone: TIME_ZONE }, signal, tuning)
    const { token = '' } = settings
    return {
      read: ({ table, window }) =>
        requester.get(
          {
            name: table,
            url: `${settings.url}/${table}.xml?from=${window.from}&to=${window.to}`,
            headers: { Accept: 'application/xml', 'X-Token': token },
            secrets: [token],
          },
          (body) => readRates(body, window),
        ),
      supportsSingleSeries: false,
      exact: true,
      get sourceDay() {
        return requester.sourceDay()
      },
      notices: () => [],
    }
  },
}

function euroSeries(currency: string): CatalogueSeries {
  return {
    externalCode: `EUR.${currency}`,
    name: `${currency} per euro`,
    base: 'EUR',
    quote: currency,
    rateType: 'referencia',
    table: TABLE,
    plausibleRange: undefined,
  }
}

/**
 * Parses `<rates><series code="EUR.USD"/>…<day date="2026-03-24"><rate code="EUR.USD" value="1.0842"/>…</day>…</rates>`
 * @throws FetchFailure for any other or incomplete text
 */
async function readRates(body: string, window: Window): Promise<SourceAnswer> {
  const { Parser } = await import('htmlparser2') // lazy, because each start loads the providers
  const listed: SourceAnswer['listed'] = []
  const observations: Observation[] = []
  let root: string | undefined
  let isWhole = false
  let day = ''
  const parser = new Parser(
    {
      onopentag(name, { code = '', date = '', value = '' }) {
        root ??= name
        if (name === 'day') day = readDay(date, window)
        else if (name === 'series') listed.push({ code, name: code })
        else if (name === 'rate') observations.push({ code, day, value, roundedTo: undefined })
      },
      onclosetag(name, isImplied) {
        isWhole = name === 'rates' && !isImplied
      },
    },
    { xmlMode: true },
  )
  parser.end(body)
  if (root !== 'rates') throw new FetchFailure('the answer is no document of rates')
  if (!isWhole) throw new FetchFailure('the document of rates is not whole')
  return { listed, observations: readPublishedValues(observations, 'plain') }
}
