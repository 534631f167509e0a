// Banco de México: five currencies in pesos on Mexican working days, from its SIE API, which needs a token. README.md
// has the facts.

import { FetchFailure, type Provider, type ProviderSettings } from '../provider.ts'
import { type ConnectedSource, type ConnectionTools, openConnection } from '../source-connection.ts'
import { banxicoCatalogue, SERIES_IDS, TABLE } from './catalogue.ts'

const TIME_ZONE = 'America/Mexico_City'
const HOW_TO_GET =
  'make one at https://www.banxico.org.mx/SieAPIRest/service/v1/token and write it into the file of --banxico-token-file'

export const banxico: Provider = {
  id: 5,
  code: 'banxico',
  name: 'Banco de México',
  country: 'MX',
  website: 'https://www.banxico.org.mx',
  isOptional: true,
  attribution: 'Fuente: Banco de México, SIE',
  terms: 'https://www.banxico.org.mx/footer-en/terms-and-conditions.html',
  pivot: 'MXN',
  timeZone: TIME_ZONE,
  publication: { time: '13:30', days: 'working days' },
  benchmark: { base: 'USD', quote: 'MXN', noun: 'dollar', staleDays: 5 },
  roundedSource: undefined,
  settings: {
    schedule: {
      option: 'banxico-cron',
      fallback: '0 14 * * 1-5',
      help: 'when to sync the Banco de México, in the time of Mexico City, once it is enabled',
      spanish: 'cuándo se sincroniza el Banco de México, en hora de Ciudad de México, si está habilitado',
    },
    url: {
      option: 'banxico-url',
      fallback: 'https://www.banxico.org.mx',
      help: 'base of the SIE API of the Banco de México',
      spanish: 'dirección base de la API SIE del Banco de México',
    },
    pace: {
      option: 'banxico-pace',
      fallback: '1000',
      help: 'least milliseconds between two requests to the Banco de México',
      spanish: 'mínimo de milisegundos entre dos solicitudes al Banco de México',
    },
    token: {
      option: 'banxico-token-file',
      help: 'file with the token of the Banco de México (or the token itself in CAMBISTA_BANXICO_TOKEN), which it requires',
      spanish:
        'archivo con el token del Banco de México (o el token mismo en CAMBISTA_BANXICO_TOKEN), que es obligatorio',
      name: 'the token of Banxico',
      absence: 'no token of the Banco de México, so its syncs fail',
      emptyIsNone: true,
      installed: { file: 'banxico-token', title: 'token of Banxico, if used' },
    },
  },
  catalogue: banxicoCatalogue,
  groups: [{ name: TABLE, table: TABLE, indicators: undefined, chunkDays: 1830, startsOn: undefined }],
  connect: (settings, signal, tuning) =>
    openConnection(settings, signal, { timeZone: TIME_ZONE, tuning }, (tools) => openSie(settings, tools)),
}

function openSie(
  settings: ProviderSettings,
  { requester, notify, notifyWeekly }: ConnectionTools,
): ConnectedSource {
  const token = settings.token?.trim() ?? ''
  let refusal: FetchFailure | undefined
  return {
    async read({ window }) {
      if (refusal) throw refusal
      if (!/^[\x21-\x7e]+$/.test(token)) {
        const fault = token === '' ? 'there is no token' : 'the token has characters that no token has'
        refusal = new FetchFailure(`${TABLE}: ${fault}: ${HOW_TO_GET}`)
        throw refusal
      }
      // Imported here for a faster start.
      const { ErrorAnswer, readSieAnswer, sieErrorText } = await import('./series.ts')
      let hasErrorBody = false
      const request = {
        name: TABLE,
        url: `${settings.url.replace(/\/+$/, '')}/SieAPIRest/service/v1/series/${SERIES_IDS.join(',')}/datos/${window.from}/${window.to}`,
        headers: { Accept: 'application/json', 'Bmx-Token': token },
        secrets: [token],
        isFixed: true as const,
        readError(body: string) {
          const words = sieErrorText(body)
          hasErrorBody = words !== undefined
          return words ?? body
        },
      }
      const readBody = async (body: string) => {
        try {
          return await readSieAnswer(body, window)
        } catch (error) {
          hasErrorBody = error instanceof ErrorAnswer
          throw error
        }
      }
      try {
        const { refusedTitles, unknown, ...answer } = await requester.get(request, readBody)
        for (const message of refusedTitles) notify({ message: `${TABLE}: ${message}` })
        for (const id of unknown) notifyWeekly(`${TABLE}: unknown series ${id}, not stored`)
        return answer
      } catch (error) {
        if (!(error instanceof FetchFailure)) throw error
        const { status } = error.fact
        if (status !== 401 && status !== 403 && !(hasErrorBody && (status === 400 || status === undefined)))
          throw error
        refusal = error
        notify({
          message: `${TABLE}: the token was refused: ${HOW_TO_GET}`,
          token: true,
          isRefused: true,
        })
        throw error
      }
    },
  }
}
