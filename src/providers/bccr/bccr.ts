// Banco Central de Costa Rica. The public API needs a token and is exact. The API of its website has the same data
// without a token, rounded. A run changes from the first to the second when its token is refused.

import type {
  FetchRequest,
  Notice,
  Provider,
  ProviderSettings,
  RequestTuning,
  SourceAnswer,
  SourceConnection,
} from '../provider.ts'
import { createRequester, RefusedFailure } from '../request.ts'
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
  const url = settings.url.replace(/\/+$/, '')
  const requester = createRequester({ ...settings, timeZone: TIME_ZONE }, signal, tuning)
  const readSite = createSiteReader(requester, url)
  const notices: Notice[] = []
  let token = settings.token?.trim() || undefined

  const dropToken = (why: string, isRefused = false) => {
    token = undefined
    const message = `the central bank's API token ${why}, so the website's rounded values are read: ${HOW_TO_RENEW}`
    notices.push({ message, token: true, isRefused })
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    dropToken('contains characters that no token has')
  }

  const readOnce = async (request: FetchRequest): Promise<SourceAnswer> => {
    if (token === undefined) return readSite(request)
    try {
      return await readPublic(requester, { url, token, seriesName }, request)
    } catch (error) {
      if (!(error instanceof RefusedFailure)) throw error
      const why = error.status === 403 ? ', perhaps for the program or its address' : ''
      dropToken(`was refused (HTTP ${error.status})${why}`, true)
      return readSite(request)
    }
  }

  // Requests are sequential, even when a caller does not wait, to spare the source.
  let last: Promise<unknown> = Promise.resolve()
  return {
    read(request) {
      const answer = last.then(() => readOnce(request))
      last = answer.catch(() => undefined) // the caller gets the error
      return answer
    },
    get supportsSingleSeries() {
      return token !== undefined
    },
    get exact() {
      return token !== undefined
    },
    get sourceDay() {
      return requester.sourceDay()
    },
    notices: () => notices.splice(0),
  }
}

function seriesName(code: string): string {
  return bccrCatalogue.find((series) => series.externalCode === code)?.name ?? code
}
