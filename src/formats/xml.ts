// Parses a small XML document of a web service, a call or an answer, to a tree. Document types, entities and deep nesting are
// rejected. Only the tokenizer of htmlparser2 is used, as its parser accepts malformed input.

import { Tokenizer } from 'htmlparser2'
import { AppError } from '../runtime/errors.ts'

export type XmlElement = {
  /** Without its prefix. */
  name: string
  /** Empty: none. */
  namespace: string
  text: string
  children: XmlElement[]
}

type OpenElement = XmlElement & {
  qualified: string
  prefixes: Map<string, string>
  parent: OpenElement | undefined
}

const MAX_DEPTH = 16
const QUOTED = 2 // as QuoteType of the tokenizer has it: 0 no value, 1 without quotes
const NAME = /^(?:([^\s:<>&"'=/]+):)?([^\s:<>&"'=/]+)$/
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'

/** Returns the root. @throws AppError `bad-request` if malformed, too deep, or with a DTD or entities */
export function parseXml(xml: string): XmlElement {
  let root: OpenElement | undefined
  let open: OpenElement | undefined
  let attribute = { name: '', value: '' }

  const text = (more: string) => {
    if (/[<&]/.test(more)) throw xmlError('an entity that is not one of the five, or a stray < or &')
    add(more)
  }
  const add = (more: string) => {
    if (open) open.text += more
    else if (more.trim() !== '') throw xmlError('text outside of the root element')
  }
  const close = () => {
    const element = open as OpenElement
    element.namespace = elementNamespace(element)
    open = element.parent
  }

  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: true },
    {
      onopentagname(start, end) {
        const qualified = xml.slice(start, end)
        const [, , name] = NAME.exec(qualified) ?? []
        if (name === undefined) throw xmlError('an element without a name')
        if (root && !open) throw xmlError('two root elements')
        if (elementDepth(open) >= MAX_DEPTH) throw xmlError(`elements nest deeper than ${MAX_DEPTH}`)
        const element: OpenElement = {
          ...{ name, namespace: '', text: '', children: [] },
          ...{ qualified, prefixes: new Map(), parent: open },
        }
        root ??= element
        open?.children.push(element)
        open = element
      },
      onattribname(start, end) {
        attribute = { name: xml.slice(start, end), value: '' }
      },
      onattribdata(start, end) {
        const more = xml.slice(start, end)
        if (/[<&]/.test(more)) throw xmlError('an entity that is not one of the five, or a stray < or &')
        attribute.value += more
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend(quote) {
        if (quote < QUOTED) throw xmlError('an attribute without quotes')
        const [, prefix] = /^xmlns(?::(.+))?$/.exec(attribute.name) ?? [undefined, null]
        if (prefix !== null) open?.prefixes.set(prefix ?? '', attribute.value)
      },
      onopentagend() {},
      onselfclosingtag: close,
      onclosetag(start, end) {
        const name = xml.slice(start, end)
        if (open?.qualified !== name) throw xmlError('an end tag that ends nothing')
        close()
      },
      ontext: (start, end) => text(xml.slice(start, end)),
      ontextentity: (codePoint) => add(String.fromCodePoint(codePoint)),
      oncdata: (start, end, offset) => add(xml.slice(start, end - offset)),
      ondeclaration() {
        throw xmlError('a document type')
      },
      onprocessinginstruction(start, end) {
        if (!/^xml\s/.test(xml.slice(start, end)) || root) throw xmlError('a processing instruction')
      },
      oncomment() {},
      onend() {},
    },
  )
  tokenizer.write(xml)
  tokenizer.end()
  if (!root || open) throw xmlError('no document, or one that ends early')
  return root
}

function elementNamespace(element: OpenElement): string {
  const [, prefix = ''] = NAME.exec(element.qualified) ?? []
  if (prefix === 'xml') return XML_NAMESPACE
  for (let at: OpenElement | undefined = element; at; at = at.parent) {
    const namespace = at.prefixes.get(prefix)
    if (namespace !== undefined) return namespace
  }
  if (prefix !== '') throw xmlError('a prefix without a namespace')
  return ''
}

function elementDepth(element: OpenElement | undefined): number {
  let depth = 0
  for (let at = element; at; at = at.parent) depth += 1
  return depth
}

function xmlError(problem: string): AppError {
  return new AppError('bad-request', `the XML has ${problem}`)
}
