// Finds signs of an invoice in XML whose root is none: such a document is a fault, and not silence.

import { findKind, KINDS, parseNamespace, type UnreadableInvoice } from './kinds.ts'

const HACIENDA = 'https?:\\/\\/(?:[\\w-]+\\.)*(?:comprobanteselectronicos|hacienda)\\.go\\.cr\\/'
const OTHER_VERSION = new RegExp(`^${HACIENDA}(?:.*\\/v(\\d[\\d.]{0,9}))?`, 'i')
const DECLARED = new RegExp(`\\sxmlns(?::[\\w.-]+)?\\s*=\\s*["'](${HACIENDA}[^"'<]*)`, 'i')
const START_TAG = new RegExp(`<(?:([\\w.-]+):)?(${Object.keys(KINDS).join('|')})(?=[\\s/>]|$)([^<>]*)`, 'gi')
const NO_MARKUP = /<!--.*?(?:-->|$)|<!\[CDATA\[.*?(?:\]\]>|$)|<\?.*?(?:\?>|$)/gs

/** Returns the fault of a namespace of Hacienda that is not read. Undefined: it is of somebody else. */
export function namespaceFault(namespace: string): string | undefined {
  const [hacienda, version] = OTHER_VERSION.exec(namespace) ?? []
  if (hacienda === undefined) return undefined
  return version === undefined || /^4\.[2-4]$/.test(version)
    ? 'its namespace is none of an invoice'
    : `its namespace is of version ${version}, and 4.2, 4.3 and 4.4 are read`
}

/**
 * Returns the fault of XML whose root is none of an invoice, if it has signs of one. Signs are the start tag of a known
 * root, and a namespace of Hacienda. Undefined: it has none.
 */
export function findLikeness(start: string): UnreadableInvoice | undefined {
  const markup = start.replaceAll(NO_MARKUP, '')
  const [, namespace] = DECLARED.exec(markup) ?? []
  const root = markup.matchAll(START_TAG).find(([, prefix, , attributes = '']) => {
    const own = prefix === undefined ? 'xmlns' : `xmlns:${prefix}`
    return !attributes.split(/[\s=]+/).includes(own)
  })
  if (namespace === undefined && !root) return undefined
  const isRead = namespace === undefined || parseNamespace(namespace) !== undefined
  return {
    kind: findKind(root?.[2] ?? '') ?? findKind(namespace?.split('/').at(-1) ?? '') ?? null,
    fault: markup.includes('>')
      ? ((isRead ? undefined : namespaceFault(namespace)) ?? 'the root element is none of an invoice')
      : 'the end of the root element is missing',
  }
}
