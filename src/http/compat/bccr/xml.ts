// A small XML document as a tree, for what is sent to a web service. What could make much of little is refused: a document
// type with its entities, depth. Only the tokenizer of htmlparser2 is used, as its parser forgives what is not well formed.

import { Tokenizer } from 'htmlparser2'
import { AppError } from '../../../errors.ts'

export type XmlElement = {
  /** Without its prefix. */
  name: string
  /** Empty: none. */
  namespace: string
  text: string
  children: XmlElement[]
}

type Open = XmlElement & { qualified: string; prefixes: Map<string, string>; parent: Open | undefined }

const DEEPEST = 16
const QUOTED = 2 // as QuoteType of the tokenizer has it: 0 no value, 1 without quotes
const NAME = /^(?:([^\s:<>&"'=/]+):)?([^\s:<>&"'=/]+)$/
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'

/** The root of a document. @throws AppError `bad-request` for what is not well formed, too deep, or has a DTD or entities */
export function parseXml(xml: string): XmlElement {
  let root: Open | undefined
  let open: Open | undefined
  let attribute = { name: '', value: '' }

  const text = (more: string) => {
    if (/[<&]/.test(more)) throw refused('an entity that is not one of the five, or a stray < or &')
    add(more)
  }
  const add = (more: string) => {
    if (open) open.text += more
    else if (more.trim() !== '') throw refused('text outside of the root element')
  }
  const close = () => {
    const closed = open as Open
    closed.namespace = namespaceOf(closed)
    open = closed.parent
  }

  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: true },
    {
      onopentagname(start, end) {
        const qualified = xml.slice(start, end)
        const [, , name] = NAME.exec(qualified) ?? []
        if (name === undefined) throw refused('an element without a name')
        if (root && !open) throw refused('two root elements')
        if (depthOf(open) >= DEEPEST) throw refused(`elements nest deeper than ${DEEPEST}`)
        const element: Open = {
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
        if (/[<&]/.test(more)) throw refused('an entity that is not one of the five, or a stray < or &')
        attribute.value += more
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend(quote) {
        if (quote < QUOTED) throw refused('an attribute without quotes')
        const [, prefix] = /^xmlns(?::(.+))?$/.exec(attribute.name) ?? [undefined, null]
        if (prefix !== null) open?.prefixes.set(prefix ?? '', attribute.value)
      },
      onopentagend() {},
      onselfclosingtag: close,
      onclosetag(start, end) {
        const name = xml.slice(start, end)
        if (open?.qualified !== name) throw refused('an end tag that ends nothing')
        close()
      },
      ontext: (start, end) => text(xml.slice(start, end)),
      ontextentity: (codePoint) => add(String.fromCodePoint(codePoint)),
      oncdata: (start, end, offset) => add(xml.slice(start, end - offset)),
      ondeclaration() {
        throw refused('a document type')
      },
      onprocessinginstruction(start, end) {
        if (!/^xml\s/.test(xml.slice(start, end)) || root) throw refused('a processing instruction')
      },
      oncomment() {},
      onend() {},
    },
  )
  tokenizer.write(xml)
  tokenizer.end()
  if (!root || open) throw refused('no document, or one that ends early')
  return root
}

function namespaceOf(element: Open): string {
  const [, prefix = ''] = NAME.exec(element.qualified) ?? []
  if (prefix === 'xml') return XML_NAMESPACE
  for (let at: Open | undefined = element; at; at = at.parent) {
    const namespace = at.prefixes.get(prefix)
    if (namespace !== undefined) return namespace
  }
  if (prefix !== '') throw refused('a prefix without a namespace')
  return ''
}

function depthOf(element: Open | undefined): number {
  let depth = 0
  for (let at = element; at; at = at.parent) depth += 1
  return depth
}

function refused(what: string): AppError {
  return new AppError('bad-request', `the XML has ${what}`)
}
