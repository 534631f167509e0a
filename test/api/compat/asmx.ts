// Support for the tests of the old web service: an app with few values, keys of every kind, each binding.

import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import type { TestApp, TestAppOptions } from '../../support/app.ts'
import { asOtherProcess, openApp } from '../support.ts'

export const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx'
export const URL_KEY = 'cbk_for_urls'
export const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
export const NOTHING = '&lt;Datos_de_INGC011_CAT_INDICADORECONOMIC /&gt;'

const VALUES: Record<string, Record<string, string>> = {
  318: { '2026-03-22': '658.99', '2026-03-23': '620.18000000', '2026-03-24': '451', '2026-03-25': '600' },
  333: { '2026-03-20': '1.08765432', '2026-03-23': '1.1' },
}

/** An app for a file: the dollar of four days, tomorrow among them, and two days of the euro. */
export async function openAsmx(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openApp({
    listen: { compat: { open: undefined, serveRounded: false } },
    backfillFrom: '2026-03-01',
    bank: { value: (code, day) => VALUES[code]?.[day] ?? (code in VALUES ? null : undefined) },
    ...options,
  })
  await app.sync()
  await addKey(app, { secret: URL_KEY, kind: 'url' })
  return app
}

export function addKey(
  app: TestApp,
  key: { secret: string; kind: 'header' | 'url' | 'bank'; network?: string; provider?: string },
): Promise<number> {
  const { secret, ...more } = key
  const row = { name: hashOfSecret(secret).slice(0, 8), hash: hashOfSecret(secret), ...more }
  return asOtherProcess(app, (db) => insertApiKey(db, { ...row, createdAt: app.clock.read().toISOString() }))
}

/** Parameters that most programs send: the venta of some days, all seven parameters. */
export function parameters(other: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams({
    Indicador: '318',
    FechaInicio: '22/03/2026',
    FechaFinal: '24/03/2026',
    Nombre: 'N',
    SubNiveles: 'N',
    CorreoElectronico: 'a@b.cr',
    Token: URL_KEY,
    ...other,
  })
}

export const XML_OPERATION = 'ObtenerIndicadoresEconomicosXML'
export const SET_OPERATION = 'ObtenerIndicadoresEconomicos'

/** GET as a program does that has only a URL. */
export function getAsmx(app: TestApp, operation: string, query = parameters()): Promise<Response> {
  return fetch(`${app.app.url}${ASMX}/${operation}?${query}`)
}

export function postForm(app: TestApp, operation: string, query = parameters()): Promise<Response> {
  return fetch(`${app.app.url}${ASMX}/${operation}`, { method: 'POST', body: query })
}

const ENVELOPES = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

/** An envelope as .NET writes it. */
export function envelope(operation: string, query = parameters(), version: '1.1' | '1.2' = '1.1'): string {
  const fields = [...query].map(([name, value]) => `<${name}>${value}</${name}>`).join('')
  return `${DECLARATION}<s:Envelope xmlns:s="${ENVELOPES[version]}"><s:Body><${operation} xmlns="http://ws.sdde.bccr.fi.cr">${fields}</${operation}></s:Body></s:Envelope>`
}

export function postSoap(
  app: TestApp,
  body: string | Buffer,
  contentType = 'text/xml; charset=utf-8',
): Promise<Response> {
  return fetch(`${app.app.url}${ASMX}`, {
    method: 'POST',
    body,
    headers: { 'content-type': contentType, soapaction: '"http://ws.sdde.bccr.fi.cr/Whatever"' },
  })
}

/** Returns the content of `soap:Body`. */
export function soapBody(text: string): string {
  const [, content] = /<soap:Body>(.*)<\/soap:Body><\/soap:Envelope>$/s.exec(text) ?? []
  if (content === undefined) throw new Error(`no envelope: ${text}`)
  return content
}
