// Banco Central de Costa Rica. The public API needs a token and is exact. The API of its website has the same data
// without a token, rounded. A run changes from the first to the second when its token is refused.

import type { Provider, ProviderSettings, RequestTuning, SourceConnection } from '../provider.ts'
import { RefusedFailure } from '../request.ts'
import { openConnection } from '../source-connection.ts'
import { bccrCatalogue, DOLLAR_TABLE, PARITY_TABLE } from './catalogue.ts'
import { readPublic } from './public.ts'
import { bccrSettings } from './settings.ts'
import { createSiteReader } from './site.ts'

const TIME_ZONE = 'America/Costa_Rica'
const DOLLAR_SIDES = ['317', '318']
const FIRST_DOLLAR_DAY = '1983-01-01' // upstream 3
const HOW_TO_RENEW =
  'make a new one at https://sdd.bccr.fi.cr/es/IndicadoresEconomicos/Inicio/ (Mi Perfil, Generar token)'

export const bccr: Provider = {
  id: 1,
  code: 'bccr',
  name: 'Banco Central de Costa Rica',
  country: 'CR',
  website: 'https://www.bccr.fi.cr',
  attribution: 'Fuente: Banco Central de Costa Rica',
  terms: undefined,
  pivot: 'USD',
  timeZone: TIME_ZONE,
  // The dollar has a value for each calendar day, published the evening before (upstream 4).
  publication: { time: '00:00', days: 'every day' },
  benchmark: { base: 'USD', quote: 'CRC', noun: 'dollar', staleDays: 2 },
  roundedSource: "the bank's website",
  settings: bccrSettings,
  catalogue: bccrCatalogue,
  groups: [
    {
      name: DOLLAR_SIDES.join('/'),
      table: DOLLAR_TABLE,
      indicators: DOLLAR_SIDES,
      chunkDays: 366,
      startsOn: FIRST_DOLLAR_DAY,
    },
    { name: PARITY_TABLE, table: PARITY_TABLE, indicators: undefined, chunkDays: 92, startsOn: undefined },
  ],
  connect: openBccrConnection,
  spreadsheets: async () => (await import('./sheets/read.ts')).readBankFile,
  indicators: async () => (await import('./indicators/indicator-source.ts')).bccrIndicators,
}

/** Opens a connection; `tuning` overrides its waits and bounds in tests. */
export function openBccrConnection(
  settings: ProviderSettings,
  signal: AbortSignal,
  tuning: RequestTuning = {},
): SourceConnection {
  return openConnection(settings, signal, { timeZone: TIME_ZONE, tuning }, ({ requester, notify }) => {
    const url = settings.url.replace(/\/+$/, '')
    const readSite = createSiteReader(requester, url)
    let token = settings.token?.trim() || undefined
    const dropToken = (why: string, isRefused = false) => {
      token = undefined
      const message = `the central bank's API token ${why}, so the website's rounded values are read: ${HOW_TO_RENEW}`
      notify({ message, token: true, isRefused })
    }
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
      dropToken('contains characters that no token has')
    }
    return {
      isTokenUsed: () => token !== undefined,
      async read(request) {
        if (token === undefined) return readSite(request)
        try {
          return await readPublic(requester, { url, token }, request)
        } catch (error) {
          if (!(error instanceof RefusedFailure)) throw error
          const { status } = error.fact
          const why = status === 403 ? ', perhaps for the program or its address' : ''
          dropToken(`was refused (HTTP ${status})${why}`, true)
          return readSite(request)
        }
      },
    }
  })
}
