// The Banco Central de Costa Rica. The same data come from two services: the public API with the operator's
// token, exact, and the website's own without one, rounded. Which one answers may change once in a run: when the
// token is refused, the site takes over.

import { bccrCatalogue, DOLLAR_TABLE, PARITY_TABLE } from './bccr-catalogue.ts'
import { readPublic } from './bccr-public.ts'
import { createSiteReader } from './bccr-site.ts'
import type { Answer, Ask, Feed, Notice, Provider, ProviderSettings, Session } from './provider.ts'
import { createRequester, RefusedFailure, type RequestTuning } from './request.ts'

const FIRST_DOLLAR_DAY = '1983-01-01' // upstream 3
const HOW_TO_RENEW =
  'make a new one at https://sdd.bccr.fi.cr/es/IndicadoresEconomicos/Inicio/ (Mi Perfil, Generar token)'

export const bccr: Provider = {
  code: 'bccr',
  name: 'Banco Central de Costa Rica',
  country: 'CR',
  website: 'https://www.bccr.fi.cr',
  catalogue: bccrCatalogue,
  feeds: [
    dollarFeed('317'),
    dollarFeed('318'),
    { name: PARITY_TABLE, table: PARITY_TABLE, indicator: undefined, chunkDays: 92, startsOn: undefined },
  ],
  connect: (settings, signal) => openSession(settings, signal),
}

/** A session whose waiting and bounds a test may replace. */
export function openSession(
  settings: ProviderSettings,
  signal: AbortSignal,
  tuning: RequestTuning = {},
): Session {
  const url = settings.url.replace(/\/+$/, '')
  const requester = createRequester(settings, signal, tuning)
  const readSite = createSiteReader(requester, url)
  let notices: Notice[] = []
  let token = settings.token?.trim() || undefined

  const giveUpToken = (why: string) => {
    token = undefined
    const message = `the central bank's API token ${why}, so the website's rounded values are read: ${HOW_TO_RENEW}`
    notices.push({ message })
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    giveUpToken('holds characters that no token has')
  }

  const readOnce = async (ask: Ask): Promise<Answer> => {
    if (token === undefined) return readSite(ask)
    try {
      return await readPublic(requester, { url, token, nameOf }, ask)
    } catch (error) {
      if (!(error instanceof RefusedFailure)) throw error
      giveUpToken(`was refused (HTTP ${error.status})`)
      return readSite(ask)
    }
  }

  // One ask at a time, even of a caller that does not wait: the source is asked gently.
  let last: Promise<unknown> = Promise.resolve()
  return {
    read(ask) {
      const answer = last.then(() => readOnce(ask))
      last = answer.catch(() => undefined)
      return answer
    },
    get asksAlone() {
      return token !== undefined
    },
    notices() {
      const taken = notices
      notices = []
      return taken
    },
  }
}

function dollarFeed(indicator: string): Feed {
  return {
    name: indicator,
    table: DOLLAR_TABLE,
    indicator,
    chunkDays: 366,
    startsOn: FIRST_DOLLAR_DAY,
  }
}

function nameOf(code: string): string {
  return bccrCatalogue.find((series) => series.externalCode === code)?.name ?? code
}
