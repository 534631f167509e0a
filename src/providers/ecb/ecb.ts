// European Central Bank: reference rates of the euro on TARGET working days, from its data API. README.md has the facts.

import type { Provider, SourceAnswer, Window } from '../provider.ts'
import { RefusedFailure } from '../request.ts'
import { openConnection } from '../source-connection.ts'
import { CURRENCY_CODES, ecbCatalogue, FIRST_DAY, TABLE } from './catalogue.ts'

const TIME_ZONE = 'Europe/Berlin'

export const ecb: Provider = {
  id: 2,
  code: 'ecb',
  name: 'European Central Bank',
  country: 'EU',
  website: 'https://www.ecb.europa.eu',
  isOptional: true,
  attribution: 'Source: European Central Bank, euro foreign exchange reference rates',
  terms:
    'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
  pivot: 'EUR',
  timeZone: TIME_ZONE,
  // Usually published at 16:00.
  publication: { time: '17:00', days: 'working days' },
  benchmark: { base: 'EUR', quote: 'USD', noun: 'euro', staleDays: 4 },
  roundedSource: undefined,
  settings: {
    schedule: {
      option: 'ecb-cron',
      fallback: '30 16,18 * * 1-5',
      help: 'when to sync the European Central Bank, in the time of Frankfurt, once it is enabled',
      spanish: 'cuándo se sincroniza el Banco Central Europeo, en hora de Fráncfort, si está habilitado',
    },
    url: {
      option: 'ecb-url',
      fallback: 'https://data-api.ecb.europa.eu',
      help: 'base of the data API of the European Central Bank',
      spanish: 'dirección base de la API de datos del Banco Central Europeo',
    },
    pace: {
      option: 'ecb-pace',
      fallback: '1000',
      help: 'least milliseconds between two requests to the European Central Bank',
      spanish: 'mínimo de milisegundos entre dos solicitudes al Banco Central Europeo',
    },
    token: undefined,
  },
  catalogue: ecbCatalogue,
  groups: [{ name: TABLE, table: TABLE, indicators: undefined, chunkDays: 366, startsOn: FIRST_DAY }],
  connect: (settings, signal, tuning) =>
    openConnection(settings, signal, { timeZone: TIME_ZONE, tuning }, ({ requester, notifyWeekly }) => {
      const base = settings.url.replace(/\/+$/, '')
      let isListRefused = false
      const readKey = async (key: string, window: Window): Promise<SourceAnswer> => {
        const { readEcbRates } = await import('./rates.ts') // imported here for a faster start
        const { unknown, ...answer } = await requester.get(
          {
            ...{ name: TABLE, url: ratesUrl(base, key, window), isFixed: true },
            ...{ headers: { Accept: 'text/csv' }, secrets: [] },
          },
          (body) => readEcbRates(body, window, requester.sourceDay()),
        )
        // A request without a list returns currencies that ended, too.
        for (const code of key === '' ? [] : unknown)
          notifyWeekly(`${TABLE}: unknown currency ${code}, not stored`)
        return answer
      }
      return {
        async read({ window }) {
          if (isListRefused) return readKey('', window)
          try {
            return await readKey(CURRENCY_CODES.join('+'), window)
          } catch (error) {
            if (!(error instanceof RefusedFailure) || error.fact.status !== 404) throw error
            const answer = await readKey('', window)
            isListRefused = true
            return answer
          }
        },
      }
    }),
}

/** Returns the URL of a window. `key`: currencies with `+` between them; empty: all. */
function ratesUrl(base: string, key: string, { from, to }: Window): string {
  const query = `startPeriod=${from}&endPeriod=${to}&format=csvdata&detail=dataonly`
  return `${base}/service/data/EXR/D.${key}.EUR.SP00.A?${query}`
}
