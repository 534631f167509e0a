// The link of a certificate, also in its QR code (decisions#statements). The fragment of the page's address has the
// parameters of the statement and its digest.

import { isIsoDate, utcInstant } from '../../../values/dates.ts'
import { positiveAmount } from '../../../values/decimal.ts'
import type { StatementQuery } from './statement.ts'

/** `sign`: of the amount and the result; a credit note has the statement of its positive amount. */
export type StatementLink = {
  query: Omit<StatementQuery, 'provider'>
  sign: '' | '-'
  asOf: string
  sha256: string
}

const VIEW = '#rates/certificate?'
const CURRENCY = /^[A-Z]{3}$/
const DIGEST = /^[\da-f]{64}$/

/** Parses the link, or its part from `#` on. Undefined: it is no link of a certificate, or incomplete. */
export function parseStatementLink(link: string): StatementLink | undefined {
  const start = link.indexOf(VIEW)
  if (start < 0) return undefined
  const params = new URLSearchParams(link.slice(start + VIEW.length).trim())
  const param = (name: string) => params.get(name) ?? ''
  const sign = param('amount').startsWith('-') ? '-' : ''
  const amount = positiveAmount(param('amount').slice(sign.length))
  const [from, to] = [param('source').toUpperCase(), param('target').toUpperCase()]
  const type = sideParam(params.get('side') ?? 'venta')
  const asOf = utcInstant(param('as_of'))
  const [day, sha256] = [param('on'), param('sha256').toLowerCase()]
  if (amount === undefined || type === undefined || asOf === undefined) return undefined
  if (![from, to].every((code) => CURRENCY.test(code)) || !isIsoDate(day) || !DIGEST.test(sha256))
    return undefined
  return { query: { amount, from, to, type, day }, sign, asOf, sha256 }
}

function sideParam(text: string): StatementQuery['type'] | undefined {
  return (['compra', 'venta', 'both'] as const).find((one) => one === text)
}
