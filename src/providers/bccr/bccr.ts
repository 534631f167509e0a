// The Banco Central de Costa Rica. The same data come from two services: the public API with the operator's
// token, exact, and the website's own without one, rounded. Which one answers may change once in a run: when the
// token is refused, the site takes over.

import type {
  Answer,
  FetchRequest,
  Notice,
  Provider,
  ProviderSettings,
  RequestTuning,
  Session,
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
  code: 'bccr',
  name: 'Banco Central de Costa Rica',
  country: 'CR',
  website: 'https://www.bccr.fi.cr',
  pivot: 'USD',
  timeZone: TIME_ZONE,
  // Every calendar day has its dollar, published the evening before (upstream 4).
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
  connect: openSession,
  spreadsheets: async () => (await import('./sheets/read.ts')).readBankFile,
}

/** A session whose waiting and bounds a test may replace. */
export function openSession(
  settings: ProviderSettings,
  signal: AbortSignal,
  tuning: RequestTuning = {},
): Session {
  const url = settings.url.replace(/\/+$/, '')
  const requester = createRequester({ ...settings, timeZone: TIME_ZONE }, signal, tuning)
  const readSite = createSiteReader(requester, url)
  let notices: Notice[] = []
  let token = settings.token?.trim() || undefined

  const giveUpToken = (why: string) => {
    token = undefined
    const message = `the central bank's API token ${why}, so the website's rounded values are read: ${HOW_TO_RENEW}`
    notices.push({ message, token: true })
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    giveUpToken('holds characters that no token has')
  }

  const readOnce = async (request: FetchRequest): Promise<Answer> => {
    if (token === undefined) return readSite(request)
    try {
      return await readPublic(requester, { url, token, nameOf }, request)
    } catch (error) {
      if (!(error instanceof RefusedFailure)) throw error
      const why = error.status === 403 ? ', perhaps for the program or its address' : ''
      giveUpToken(`was refused (HTTP ${error.status})${why}`)
      return readSite(request)
    }
  }

  // One ask at a time, even of a caller that does not wait: the source is asked gently.
  let last: Promise<unknown> = Promise.resolve()
  return {
    read(request) {
      const answer = last.then(() => readOnce(request))
      last = answer.catch(() => undefined)
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
    notices() {
      const taken = notices
      notices = []
      return taken
    },
  }
}

function nameOf(code: string): string {
  return bccrCatalogue.find((series) => series.externalCode === code)?.name ?? code
}
