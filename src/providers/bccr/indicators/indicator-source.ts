// Reads indicators from the central bank's public API, which requires the token. The bank's website has no single series
// by code.

import type { Interval } from '../../../values/intervals.ts'
import { isJsonObject } from '../../../values/json-object.ts'
import { parseSourceJson, scalarText } from '../../json.ts'
import { FetchFailure, type IndicatorFacts, type IndicatorSource } from '../../provider.ts'
import { createRequester } from '../../request.ts'
import { publicRequest, readPublicAnswer, requestedDays } from '../public.ts'
import { catalogueNames, listedIndicators, namedIndicators } from './known.ts'

const TIME_ZONE = 'America/Costa_Rica'

export const bccrIndicators: IndicatorSource = {
  named: namedIndicators,
  listed: listedIndicators,
  catalogueNames,
  connect(settings, signal, tuning) {
    const requester = createRequester({ ...settings, timeZone: TIME_ZONE }, signal, tuning)
    const source = { url: settings.url.replace(/\/+$/, ''), token: settings.token.trim() }
    const resource = (code: string) => `indicadoresEconomicos/${encodeURIComponent(code)}`
    return {
      async read(code, window: Interval) {
        const request = publicRequest(source, { name: code, path: `${resource(code)}/series`, window })
        const answer = await requester.get(request, (body) =>
          readPublicAnswer(body, requestedDays(window, requester)),
        )
        // Nothing was published, but the bank knows the indicator: an unknown one is a 400 (upstream 1).
        if (answer.listed.length === 0) answer.listed.push({ code, name: '' })
        return answer
      },
      readFacts(code) {
        const request = publicRequest(source, { name: code, path: `${resource(code)}/metadata` })
        return requester.get(request, (body) => readFacts(code, body))
      },
      get sourceDay() {
        return requester.sourceDay()
      },
    }
  },
}

/**
 * Parses an answer of metadata (upstream 5).
 * @throws FetchFailure for any other body, or one of another indicator
 */
export function readFacts(code: string, body: string): IndicatorFacts {
  const answer = parseSourceJson(body)
  const entries = isJsonObject(answer) && Array.isArray(answer.datos) ? answer.datos.filter(isJsonObject) : []
  const entry = entries.find((one) => scalarText(one.codIndicador ?? one.codigoIndicador) === code)
  if (!entry) throw new FetchFailure('the answer has no metadata of this indicator')
  const periodicity = scalarText(entry.periodicidad).toLowerCase()
  return {
    name: scalarText(entry.nombre ?? entry.nombreIndicador),
    unit: scalarText(entry.unidadDeMedida) || null,
    periodicity: periodicity || null,
  }
}
