// Server of the Banco de Pruebas on this machine: invented values of working days, for clients with its token.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { dueDay } from '../../../src/domain/rates/freshness.ts'
import { addDays, dayNumber, type IsoDate } from '../../../src/values/dates.ts'
import type { TestClock } from '../temporary.ts'
import { pruebas } from './pruebas.ts'

export type PruebasSource = {
  url: string
  /** Tokens of the requests, oldest first. */
  tokens: string[]
  /** Answers HTTP 400, which is not retried within a run. */
  isDown: boolean
  /** Newest published day; undefined: the day that is due. */
  stopsOn: IsoDate | undefined
}

export const PRUEBAS_TOKEN = 'secret.of-pruebas'

export async function startPruebas(t: TestContext, clock: TestClock): Promise<PruebasSource> {
  const source: PruebasSource = { url: '', tokens: [], isDown: false, stopsOn: undefined }
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://pruebas')
    const token = String(request.headers['x-token'])
    source.tokens.push(token)
    response.setHeader('Date', clock.now.toUTCString())
    response.statusCode = source.isDown ? 400 : token === PRUEBAS_TOKEN ? 200 : 401
    if (response.statusCode !== 200) return void response.end('no')
    const newest = source.stopsOn ?? dueDay(pruebas, clock.read)
    response.end(ratesDocument(searchParams.get('from') ?? '', searchParams.get('to') ?? '', newest))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  source.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return source
}

/** Rate of a currency per euro; its last two digits are those of the day. */
export function pruebasValue(currency: string, day: IsoDate): string {
  return `${{ USD: '1.08', GBP: '0.85', JPY: '163.', SEK: '11.' }[currency]}${day.slice(-2)}`
}

function ratesDocument(from: IsoDate, to: IsoDate, newest: IsoDate): string {
  const codes = pruebas.catalogue.map(({ quote }) => quote)
  const lines = codes.map((one) => `<series code="EUR.${one}"/>`)
  for (let day = from; day <= to && day <= newest; day = addDays(day, 1)) {
    if ([0, 6].includes((dayNumber(day) + 4) % 7)) continue
    const rates = codes.map((one) => `<rate code="EUR.${one}" value="${pruebasValue(one, day)}"/>`)
    lines.push(`<day date="${day}">${rates.join('')}</day>`)
  }
  return `<rates>${lines.join('\n')}</rates>`
}
