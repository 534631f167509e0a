// SOAP as the old web service used it: an envelope in, an envelope of the same version out.

import type { XmlElement } from '../../../formats/xml.ts'
import type { Reply } from '../../endpoint/endpoint.ts'
import { lowerCaseNames } from '../any-case.ts'
import type { Parameters } from './operation.ts'
import { DECLARATION, escapeText, NAMESPACE } from './rows.ts'

export type SoapVersion = '1.1' | '1.2'

/** A call; its name may be no operation. */
export type SoapCall = { version: SoapVersion; name: string; parameters: Parameters }

const ENVELOPES: Record<SoapVersion, string> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

export const SOAP_TYPES: Record<SoapVersion, string> = {
  '1.1': 'text/xml; charset=utf-8',
  '1.2': 'application/soap+xml; charset=utf-8',
}

/** Returns the version of a content type. */
export function soapVersion(contentType: string | null): SoapVersion {
  return /^\s*application\/soap\+xml\b/i.test(contentType ?? '') ? '1.2' : '1.1'
}

/** Parses the call in an envelope; undefined: none. Some clients write its elements in no namespace. */
export function parseCall(envelope: XmlElement): SoapCall | undefined {
  const version = (['1.1', '1.2'] as const).find((one) => ENVELOPES[one] === envelope.namespace)
  if (!version || envelope.name !== 'Envelope') return undefined
  const body = envelope.children.find(
    ({ name, namespace }) => name === 'Body' && namespace === envelope.namespace,
  )
  const call = body?.children.find(isServiceElement)
  if (!call) return undefined
  const parameters = call.children.filter(isServiceElement).map(({ name, text }) => [name, text] as const)
  return { version, name: call.name, parameters: lowerCaseNames(parameters) }
}

/** Encodes a result; undefined: empty, as for a wrong token. */
export function encodeEnvelope(version: SoapVersion, operation: string, result: string | undefined): string {
  const content =
    result === undefined
      ? `<${operation}Response xmlns="${NAMESPACE}" />`
      : `<${operation}Response xmlns="${NAMESPACE}"><${operation}Result>${result}</${operation}Result></${operation}Response>`
  return wrapEnvelope(version, content)
}

/** Replies with a fault; `isServerFault`: not caused by the client. */
export function faultReply(
  version: SoapVersion,
  message: string,
  { status = 500, isServerFault = false }: { status?: number; isServerFault?: boolean } = {},
): Reply {
  const text = escapeText(message)
  const fault =
    version === '1.1'
      ? `<faultcode>soap:${isServerFault ? 'Server' : 'Client'}</faultcode><faultstring>${text}</faultstring><detail />`
      : `<soap:Code><soap:Value>soap:${isServerFault ? 'Receiver' : 'Sender'}</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">${text}</soap:Text></soap:Reason><soap:Detail />`
  const body = wrapEnvelope(version, `<soap:Fault>${fault}</soap:Fault>`)
  return { status, body, headers: { 'content-type': SOAP_TYPES[version] } }
}

function isServiceElement({ namespace }: XmlElement): boolean {
  return namespace === NAMESPACE || namespace === ''
}

// The prefix is the same in both versions: clients look for `soap:Envelope`.
function wrapEnvelope(version: SoapVersion, content: string): string {
  const namespaces = `xmlns:soap="${ENVELOPES[version]}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"`
  return `${DECLARATION}<soap:Envelope ${namespaces}><soap:Body>${content}</soap:Body></soap:Envelope>`
}
