// Banco de Guatemala: quetzales per dollar, both sides, of each calendar day, from its SOAP service. README.md has the
// facts.

import type { CatalogueSeries, Provider, Window } from '../provider.ts'
import { openConnection } from '../source-connection.ts'

const TIME_ZONE = 'America/Guatemala'
const TABLE = 'banguat'
const PATH = '/variables/ws/TipoCambio.asmx'
const ACTION = 'http://www.banguat.gob.gt/variables/ws/TipoCambioRango'

export const banguat: Provider = {
  id: 3,
  code: 'banguat',
  name: 'Banco de Guatemala',
  country: 'GT',
  website: 'https://www.banguat.gob.gt',
  isOptional: true,
  attribution: 'Fuente: Banco de Guatemala',
  terms: undefined,
  pivot: 'GTQ',
  timeZone: TIME_ZONE,
  publication: { time: '08:00', days: 'every day' },
  benchmark: { base: 'USD', quote: 'GTQ', noun: 'dollar', staleDays: 2 },
  roundedSource: undefined,
  settings: {
    schedule: {
      option: 'banguat-cron',
      fallback: '0 9 * * *',
      help: 'when to sync the Banco de Guatemala, in the time of Guatemala, once it is enabled',
      spanish: 'cuándo se sincroniza el Banco de Guatemala, en hora de Guatemala, si está habilitado',
    },
    url: {
      option: 'banguat-url',
      fallback: 'https://www.banguat.gob.gt',
      help: 'base of the service of the Banco de Guatemala',
      spanish: 'dirección base del servicio del Banco de Guatemala',
    },
    pace: {
      option: 'banguat-pace',
      fallback: '1000',
      help: 'least milliseconds between two requests to the Banco de Guatemala',
      spanish: 'mínimo de milisegundos entre dos solicitudes al Banco de Guatemala',
    },
    token: undefined,
  },
  catalogue: [dollarSide('compra'), dollarSide('venta')],
  groups: [
    {
      ...{ name: TABLE, table: TABLE, indicators: undefined, chunkDays: 366, startsOn: undefined },
      publishesDaily: true,
    },
  ],
  connect: (settings, signal, tuning) =>
    openConnection(settings, signal, { timeZone: TIME_ZONE, tuning }, ({ requester, notifyWeekly }) => ({
      async read({ window }) {
        const { readDollar, readFault } = await import('./dollar.ts') // imported here for a faster start
        const request = {
          name: TABLE,
          url: settings.url.replace(/\/+$/, '') + PATH,
          method: 'POST' as const,
          body: rangeCall(window),
          headers: {
            Accept: 'text/xml',
            'Content-Type': 'text/xml; charset=utf-8',
            SOAPAction: `"${ACTION}"`,
          },
          secrets: [],
          isFixed: true as const,
          readError: readFault,
          // Its edge resets connections from some networks before TLS is up.
          unreachableHint: ': its network refuses some clients; try from another',
        }
        const { unknown, ...answer } = await requester.get(request, (body) => readDollar(body, window))
        for (const code of unknown) notifyWeekly(`${TABLE}: unknown currency ${code}, not stored`)
        return answer
      },
    })),
}

function dollarSide(rateType: 'compra' | 'venta'): CatalogueSeries {
  return {
    externalCode: `2.${rateType}`,
    name: `Tipo de cambio de ${rateType} del dólar de los Estados Unidos`,
    base: 'USD',
    quote: 'GTQ',
    rateType,
    table: TABLE,
    plausibleRange: { low: '6.5', high: '9' },
  }
}

/** Returns the SOAP call for the days of a window. */
function rangeCall({ from, to }: Window): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
  <soap:Body>
    <TipoCambioRango xmlns="http://www.banguat.gob.gt/variables/ws/">
      <fechainit>${slashDay(from)}</fechainit>
      <fechafin>${slashDay(to)}</fechafin>
    </TipoCambioRango>
  </soap:Body>
</soap:Envelope>
`
}

function slashDay(day: string): string {
  return day.split('-').reverse().join('/')
}
