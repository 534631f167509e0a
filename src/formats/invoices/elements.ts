// Collects the values of an invoice from its XML, each by its path from the root. An ambiguous text has no values: an element that
// occurs twice, or is within a value, is a fault. Only the tokenizer of htmlparser2 is used, as its parser accepts
// malformed input. Characters are bytes (encoding.ts).

import { Tokenizer } from 'htmlparser2'
import { appendRaw, type RawText } from './encoding.ts'
import {
  type ElementRule,
  findKind,
  type InvoiceField,
  type InvoiceKind,
  KINDS,
  parseNamespace,
  REFERENCE,
} from './kinds.ts'

export type RawValues = Map<InvoiceField, RawText>

export type RawInvoice = {
  kind: InvoiceKind
  /** Null: a root without a namespace. */
  version: string | null
  /** Encoding in the XML declaration. */
  encoding: string | undefined
  values: RawValues
  references: RawValues[]
}

/** `fault` is a sentence. Undefined: no invoice. */
export type ElementsResult = RawInvoice | { kind: InvoiceKind; fault: string } | undefined

export type ElementReader = {
  /** Returns false once nothing that follows is of interest. */
  write(text: string): boolean
  end(): ElementsResult
}

type EnteredElement = {
  qualified: string
  /** Undefined: neither it nor its children are read. */
  rule: ElementRule | undefined
  namespaces: Map<string, string> | undefined
}

const MAX_DEPTH = 24
const MAX_REFERENCES = 10
const MAX_BYTES = 1600 // length of a value of 400 characters
const QUOTED = 2 // as QuoteType of the tokenizer has it: 0 no value, 1 without quotes
const BAD_TEXT = 'the XML has an entity that is not one of the five, or a stray < or &'

export function createElementReader(): ElementReader {
  let buffer = ''
  let bufferStart = 0 // the index of its first character in the whole
  let read = 0 // everything before this index was read
  let encoding: string | undefined
  let root: Omit<RawInvoice, 'values' | 'references' | 'encoding'> | undefined
  let rootNamespace = ''
  let hasEnded = false // the root
  let outcome: { fault?: string } | undefined // a fault, or empty: no invoice
  let attribute = { name: '', value: '' }
  const open: EnteredElement[] = []
  const values: RawValues = new Map()
  const references: RawValues[] = []
  const occurrences = new Set<ElementRule | InvoiceField>()

  const slice = (start: number, end: number) => {
    read = end
    return buffer.slice(start - bufferStart, end - bufferStart)
  }
  const stop = (fault?: string) => {
    outcome ??= fault === undefined ? {} : { fault }
    tokenizer.pause()
  }
  const addText = (more: string | number) => {
    const element = open.at(-1)
    if (!element) {
      if (typeof more === 'number' || more.trim() !== '') stop('the XML has text outside of its root element')
      return
    }
    const field = element.rule?.field
    if (field === undefined) return
    const raw = selectFields(field).get(field) as RawText
    appendRaw(raw, more)
    if (
      raw.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length : 1), 0) > MAX_BYTES
    ) {
      stop(`${element.rule?.name} is too long`)
    }
  }
  const readText = (start: number, end: number) => {
    const text = slice(start, end)
    if (text[0] === '&' || text[0] === '<') stop(BAD_TEXT)
    else addText(text)
  }
  const selectFields = (field: InvoiceField): RawValues =>
    field.startsWith('reference') ? (references.at(-1) as RawValues) : values

  const openElement = (start: number, end: number) => {
    const qualified = slice(start, end)
    if (hasEnded) return stop('the XML has a second root element')
    if (open.length >= MAX_DEPTH) return stop(`elements nest deeper than ${MAX_DEPTH}`)
    open.push({ qualified, rule: undefined, namespaces: undefined })
  }

  /** Finds the meaning of an element, after its attributes. */
  const enterElement = () => {
    const element = open.at(-1) as EnteredElement
    if (open.length === 1) return enterRoot(element)
    const parent = open.at(-2)?.rule
    if (!parent) return
    if (parent.field !== undefined) return stop(`an element stands within ${parent.name}`)
    const [prefix, name] = splitName(element.qualified)
    const rule = parent.children.get(name.toLowerCase())
    if (!rule || findNamespace(prefix) !== rootNamespace) return
    element.rule = rule
    if (rule.name === REFERENCE) {
      for (const one of [...rule.children.values()]) {
        occurrences.delete(one)
        if (one.field) occurrences.delete(one.field)
      }
      if (references.push(new Map()) > MAX_REFERENCES)
        stop(`there are more than ${MAX_REFERENCES} ${REFERENCE}`)
      return
    }
    if (occurrences.has(rule) || (rule.field && occurrences.has(rule.field)))
      return stop(`${rule.name} stands twice`)
    occurrences.add(rule)
    if (rule.field === undefined) return
    occurrences.add(rule.field)
    selectFields(rule.field).set(rule.field, [])
  }

  const enterRoot = (element: EnteredElement) => {
    const [prefix, name] = splitName(element.qualified)
    const kind = findKind(name)
    const namespace = findNamespace(prefix)
    if (!kind || namespace === undefined) return stop()
    const meaning = parseNamespace(namespace)
    if (namespace !== '' && !meaning) return stop()
    root = { kind, version: meaning?.version ?? null }
    if (meaning && meaning.kind !== kind)
      return stop(`the root is ${kind}, its namespace is of ${meaning.kind}`)
    rootNamespace = namespace
    element.rule = KINDS[kind].elements
  }

  /** Returns the namespace of a prefix, '' without one; undefined: the prefix is not declared. */
  const findNamespace = (prefix: string): string | undefined => {
    for (let at = open.length - 1; at >= 0; at -= 1) {
      const namespace = open[at]?.namespaces?.get(prefix)
      if (namespace !== undefined) return namespace
    }
    return prefix === '' ? '' : undefined
  }

  const closeElement = () => {
    open.pop()
    hasEnded = open.length === 0
  }

  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: true },
    {
      onopentagname: openElement,
      onattribname(start, end) {
        attribute = { name: slice(start, end), value: '' }
      },
      onattribdata(start, end) {
        const more = slice(start, end)
        if (more[0] === '&' || more.includes('<')) stop(root && BAD_TEXT)
        attribute.value += more
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend(quote, end) {
        read = end
        if (quote < QUOTED) return stop(root && 'the XML has an attribute without quotes')
        const [, prefix] = /^xmlns(?::(.+))?$/.exec(attribute.name) ?? [undefined, null]
        const element = open.at(-1)
        if (prefix === null || !element) return
        element.namespaces ??= new Map()
        element.namespaces.set(prefix ?? '', attribute.value)
      },
      onopentagend(end) {
        read = end
        enterElement()
      },
      onselfclosingtag(end) {
        read = end
        enterElement()
        closeElement()
      },
      onclosetag(start, end) {
        if (open.at(-1)?.qualified !== slice(start, end))
          return stop(root && 'an end tag ends no open element')
        closeElement()
      },
      ontext: readText,
      ontextentity(codePoint, end) {
        read = end
        addText(codePoint)
      },
      oncdata: (start, end, offset) => addText(slice(start, end - offset)),
      ondeclaration: () => stop(),
      onprocessinginstruction(start, end) {
        const [, declared] = /^xml\s.*?\bencoding\s*=\s*["']([\w.-]+)["']/s.exec(slice(start, end)) ?? []
        if (open.length === 0) encoding ??= declared
      },
      oncomment(_start, end) {
        read = end
      },
      onend() {},
    },
  )

  return {
    write(text) {
      if (outcome) return false
      buffer = buffer.slice(read - bufferStart) + text
      bufferStart = read
      tokenizer.write(text)
      return outcome === undefined
    },
    end() {
      if (!outcome) tokenizer.end()
      if (!root) return undefined
      const fault = outcome ? outcome.fault : hasEnded ? undefined : `the end of ${root.kind} is missing`
      if (fault !== undefined) return { kind: root.kind, fault }
      return outcome ? undefined : { ...root, encoding, values, references }
    },
  }
}

/** Returns prefix and name. */
function splitName(qualified: string): [string, string] {
  const colon = qualified.indexOf(':')
  return [qualified.slice(0, Math.max(0, colon)), qualified.slice(colon + 1)]
}
