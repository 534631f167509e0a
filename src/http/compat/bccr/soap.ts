// SOAP, as much of it as the old web service spoke: an envelope in, an envelope out, of the version in which it was asked.

import type { Reply } from '../../api/endpoint.ts'
import { inAnyCase } from '../any-case.ts'
import type { Parameters } from './operation.ts'
import { DECLARATION, escapeText, NAMESPACE } from './rows.ts'
import type { XmlElement } from './xml.ts'

export type SoapVersion = '1.1' | '1.2'

/** A call as it came; what it is named may be no operation. */
export type SoapCall = { version: SoapVersion; name: string; parameters: Parameters }

const ENVELOPES: Record<SoapVersion, string> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

export const SOAP_TYPES: Record<SoapVersion, string> = {
  '1.1': 'text/xml; charset=utf-8',
  '1.2': 'application/soap+xml; charset=utf-8',
}

/** The version that a content type stands for. */
export function versionOf(contentType: string | null): SoapVersion {
  return /^\s*application\/soap\+xml\b/i.test(contentType ?? '') ? '1.2' : '1.1'
}

/** The call in an envelope; undefined: it is none. Some clients write what it holds in no namespace. */
export function callIn(envelope: XmlElement): SoapCall | undefined {
  const version = (['1.1', '1.2'] as const).find((one) => ENVELOPES[one] === envelope.namespace)
  if (!version || envelope.name !== 'Envelope') return undefined
  const body = envelope.children.find(
    ({ name, namespace }) => name === 'Body' && namespace === envelope.namespace,
  )
  const call = body?.children.find(isOurs)
  if (!call) return undefined
  const sent = call.children.filter(isOurs).map(({ name, text }) => [name, text] as const)
  return { version, name: call.name, parameters: inAnyCase(sent) }
}

/** The envelope of a result; undefined: of none, as for a wrong token. */
export function envelopeOf(version: SoapVersion, operation: string, result: string | undefined): string {
  const content =
    result === undefined
      ? `<${operation}Response xmlns="${NAMESPACE}" />`
      : `<${operation}Response xmlns="${NAMESPACE}"><${operation}Result>${result}</${operation}Result></${operation}Response>`
  return enveloped(version, content)
}

/** What is answered where there is no result; `isOurs`: not by a fault of the client. */
export function faultReply(
  version: SoapVersion,
  message: string,
  { status = 500, isOurs = false }: { status?: number; isOurs?: boolean } = {},
): Reply {
  const text = escapeText(message)
  const fault =
    version === '1.1'
      ? `<faultcode>soap:${isOurs ? 'Server' : 'Client'}</faultcode><faultstring>${text}</faultstring><detail />`
      : `<soap:Code><soap:Value>soap:${isOurs ? 'Receiver' : 'Sender'}</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">${text}</soap:Text></soap:Reason><soap:Detail />`
  const body = enveloped(version, `<soap:Fault>${fault}</soap:Fault>`)
  return { status, body, headers: { 'content-type': SOAP_TYPES[version] } }
}

function isOurs({ namespace }: XmlElement): boolean {
  return namespace === NAMESPACE || namespace === ''
}

// The prefix is the same in both versions: clients look for `soap:Envelope`.
function enveloped(version: SoapVersion, content: string): string {
  const namespaces = `xmlns:soap="${ENVELOPES[version]}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"`
  return `${DECLARATION}<soap:Envelope ${namespaces}><soap:Body>${content}</soap:Body></soap:Envelope>`
}
