// The link of an exchange rate certificate, also in its QR code: the parameters of a conversion. The link of an issued
// one has the instant of its data and the digest too.

import { isDay } from './days.ts'
import { type ShownSide, SIDES } from './fragment.ts'

export type CertificateLink = {
  /** Digits and a point, with a minus for a credit note. */
  amount: string
  source: string
  target: string
  side: ShownSide | 'both'
  on: string
  /** Undefined: not issued yet. */
  issue?: { asOf: string; sha256: string } | undefined
}

const AMOUNT = /^-?(?!0+(\.0*)?$)\d{1,30}(\.\d{1,20})?$/
const CURRENCY = /^[A-Z]{3}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/
const DIGEST = /^[\da-f]{64}$/

/** @returns undefined if the link is incomplete or damaged */
export function parseCertificateLink(query: string): CertificateLink | undefined {
  const params = new URLSearchParams(query)
  const param = (name: string) => params.get(name) ?? ''
  const [amount, source, target, on] = [param('amount'), param('source'), param('target'), param('on')]
  const side = [...SIDES, 'both' as const].find((one) => one === param('side'))
  const isConversion = AMOUNT.test(amount) && CURRENCY.test(source) && CURRENCY.test(target) && isDay(on)
  if (!isConversion || !side) return undefined
  const link = { amount, source, target, side, on }
  if (!params.has('as_of') && !params.has('sha256')) return link
  const issue = { asOf: param('as_of'), sha256: param('sha256').toLowerCase() }
  return INSTANT.test(issue.asOf) && DIGEST.test(issue.sha256) ? { ...link, issue } : undefined
}

/** Returns the parameters after `#rates/certificate?`. */
export function encodeCertificateLink({ issue, ...params }: CertificateLink): string {
  const query = new URLSearchParams({
    ...params,
    ...(issue && { as_of: issue.asOf, sha256: issue.sha256 }),
  })
  return query.toString().replaceAll('%3A', ':') // a shorter QR code
}

/** Path of the statement, with the comparison of the digest if the certificate is issued. */
export function statementPath({ amount, source, target, side, on, issue }: CertificateLink): string {
  const params = new URLSearchParams({
    amount: amount.replace('-', ''), // the API takes positive amounts
    ...{ from: source, to: target, type: side, on },
    ...(issue && { as_of: issue.asOf, sha256: issue.sha256 }),
  })
  return `/api/v1/convert/statement?${params}`
}

/** Code of a certificate, such as `9DF2-2788-DC42`: the first 12 digits of the digest. */
export function certificateCode(sha256: string): string {
  return (sha256.slice(0, 12).toUpperCase().match(/.{4}/g) ?? []).join('-')
}

/** Returns the digest in groups of eight digits. */
export function digestGroups(sha256: string): string[] {
  return sha256.match(/.{8}/g) ?? []
}

/** Limits of the server's change log that an error names: it begins later, or has a gap. */
export function changeLogLimits(
  body: string | undefined,
): { from: string } | { gap: { from: string; to: string } } | undefined {
  try {
    const { record_from: from, gap } = JSON.parse(body ?? '') as Record<string, unknown>
    if (typeof from === 'string') return { from }
    return gap === undefined ? undefined : { gap: gap as { from: string; to: string } }
  } catch {
    return undefined // a proxy answers with HTML
  }
}

/** Days without a value between that of a leg and the day of the certificate are a weekend. */
export function isWeekend(published: string, on: string): boolean {
  const days = (Date.parse(on) - Date.parse(published)) / 86_400_000
  const isFree = (day: number) => [0, 6].includes(new Date(Date.parse(on) - day * 86_400_000).getUTCDay())
  return days > 0 && days <= 2 && Array.from({ length: days }, (_, day) => day).every(isFree)
}
