// Collects the values of an invoice from its XML, each by its path from the root. An ambiguous text has no values: an element that
// occurs twice, or is within a value, is a fault. So is XML that is not well-formed. Only the tokenizer of htmlparser2 is
// used, as its parser accepts malformed input. The tokenizer skips characters: each token must begin where the last ended.
// Characters are bytes (encoding.ts).

import { Tokenizer } from 'htmlparser2'
import { appendRaw, ENCODINGS, type RawText } from './encoding.ts'
import {
  type ElementRule,
  findKind,
  type InvoiceField,
  type InvoiceKind,
  KINDS,
  parseNamespace,
  REFERENCE,
} from './kinds.ts'
import {
  addMisreadings,
  BLANKS,
  CONTROL,
  EMPTY_END,
  END_OF_TAG,
  hasCharacters,
  NONCHARACTERS,
  PLAIN,
  parseDeclaration,
} from './markup.ts'

export type RawValues = Map<InvoiceField, RawText>

export type RawInvoice = {
  kind: InvoiceKind
  /** Null: a root without a namespace. */
  version: string | null
  /** Encoding in the XML declaration. */
  encoding: string | undefined
  /** Encodings in which the XML is not well-formed. */
  misread: ReadonlySet<string>
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
const MAX_NAMES = 100
const MAX_BYTES = 1600 // length of a value of 400 characters
const QUOTED = 2 // as QuoteType of the tokenizer has it: 0 no value, 1 without quotes
const BAD_TEXT = 'the XML has an entity that is not one of the five, or a stray < or &'
const BAD_TAG = 'the XML has a malformed tag'
const OUTSIDE = 'the XML has text outside of its root element'
export const BAD_CHARACTER = 'the XML has a character or a name that XML does not allow'

export function createElementReader(): ElementReader {
  let buffer = ''
  let bufferStart = 0 // the index of its first character in the whole
  let read = 0 // everything before this index was read
  let plainEnd = 0 // end of the last match of PLAIN
  let seam = '' // last two characters
  let isInEndTag = false // after its name
  let canDeclare = true
  let textEnd = 0
  let brackets = '' // at the end of the last text, at most two
  let encoding: string | undefined
  let root: Pick<RawInvoice, 'kind' | 'version'> | undefined
  let rootNamespace = ''
  let hasEnded = false // the root
  let earlyFault: string | undefined // before the kind of the root is known
  let outcome: { fault?: string } | undefined // a fault, or empty: no invoice
  let attribute = { name: '', value: '' }
  const open: EnteredElement[] = []
  const attributes = new Set<string>() // names in the open tag
  const names = new Set<string>() // validated names, but not those of plain tags
  const misread = new Set<string>()
  const values: RawValues = new Map()
  const references: RawValues[] = []
  const occurrences = new Set<ElementRule | InvoiceField>()

  const slice = (start: number, end: number) => {
    read = end
    return buffer.slice(start - bufferStart, end - bufferStart)
  }
  const checkedSlice = (start: number, end: number) => {
    const text = slice(start, end)
    if (CONTROL.test(text)) stop(BAD_CHARACTER)
    return text
  }
  /** Returns true for a token within plain text and tags, which needs no other check. */
  const isPlain = (start: number, end: number) => {
    if (start !== read) return false
    if (start >= plainEnd) {
      PLAIN.lastIndex = start - bufferStart
      PLAIN.test(buffer)
      plainEnd = bufferStart + PLAIN.lastIndex
    }
    return end <= plainEnd
  }
  const startToken = (start: number) => {
    if (start - read !== Number(isInEndTag) && !(isInEndTag && END_OF_TAG.test(slice(read, start))))
      stop(BAD_TAG)
    isInEndTag = false
  }
  const startMarkup = (start: number) => {
    startToken(start)
    canDeclare = false
  }
  const readTagName = (start: number, end: number) => {
    startToken(start - 1)
    attributes.clear()
    return readName(start, end)
  }
  const readName = (start: number, end: number) => {
    const name = checkedSlice(start, end)
    if (names.has(name)) return name
    if (names.size < MAX_NAMES) names.add(name)
    addMisreadings(name, misread)
    if (misread.size === ENCODINGS.length) stop(BAD_CHARACTER)
    return name
  }
  const stop = (fault?: string) => {
    if (fault !== undefined && !root) {
      earlyFault ??= fault
      return
    }
    outcome ??= fault === undefined ? {} : { fault }
    tokenizer.pause()
  }
  const addText = (more: string | number) => {
    const element = open.at(-1)
    if (!element) {
      if (typeof more === 'number' || !BLANKS.test(more)) stop(OUTSIDE)
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
    if (brackets === '' && isPlain(start, end)) {
      if (open.length > 0 && open.at(-1)?.rule?.field === undefined) read = end
      else addText(slice(start, end))
      return
    }
    startToken(start)
    const text = checkedSlice(start, end)
    const run = start === textEnd ? brackets + text : text // a chunk may end within a text
    textEnd = end
    brackets = text.endsWith(']') ? run.slice(-2) : ''
    if (text[0] === '<' || text.includes('&')) stop(BAD_TEXT)
    else if (run.includes(']]>')) stop('the XML has ]]> in a text')
    else addText(text)
  }
  const selectFields = (field: InvoiceField): RawValues =>
    field.startsWith('reference') ? (references.at(-1) as RawValues) : values

  const openElement = (start: number, end: number) => {
    const qualified = isPlain(start - 1, end) ? slice(start, end) : readTagName(start, end)
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
    if (earlyFault !== undefined) return stop(earlyFault)
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
        if (!BLANKS.test(slice(read, start))) stop(BAD_TAG)
        attribute = { name: readName(start, end), value: '' }
        if (attributes.has(attribute.name)) stop('the XML has an attribute that stands twice')
        attributes.add(attribute.name)
      },
      onattribdata(start, end) {
        if (!hasCharacters(checkedSlice(read, start))) stop(BAD_CHARACTER)
        const more = checkedSlice(start, end)
        if (more.includes('&') || more.includes('<')) stop(BAD_TEXT)
        attribute.value += more
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend(quote, end) {
        read = end
        if (quote < QUOTED) return stop('the XML has an attribute without quotes')
        const [, prefix] = /^xmlns(?::(.+))?$/.exec(attribute.name) ?? [undefined, null]
        const element = open.at(-1)
        if (prefix === null || !element) return
        element.namespaces ??= new Map()
        element.namespaces.set(prefix ?? '', attribute.value)
      },
      onopentagend(end) {
        if (end !== read && !BLANKS.test(slice(read, end))) stop(BAD_TAG)
        read = end + 1
        enterElement()
      },
      onselfclosingtag(end) {
        if (end - read !== 1 && !EMPTY_END.test(slice(read, end))) stop(BAD_TAG)
        read = end + 1
        enterElement()
        closeElement()
      },
      onclosetag(start, end) {
        const isWhole = isPlain(start - 2, end + 1)
        if (!isWhole) startToken(start - 2)
        if (open.at(-1)?.qualified !== slice(start, end)) return stop('an end tag ends no open element')
        if (isWhole) read = end + 1
        else isInEndTag = true
        closeElement()
      },
      ontext: readText,
      ontextentity(codePoint, end) {
        if (end > plainEnd) {
          const start = buffer.indexOf('&', read - bufferStart) + bufferStart
          startToken(start)
          if (!hasCharacters(slice(start, end))) stop(BAD_CHARACTER)
        }
        read = end
        isInEndTag = false
        addText(codePoint)
      },
      oncdata(start, end, offset) {
        startMarkup(start - '<![CDATA['.length)
        if (open.length === 0) stop(OUTSIDE)
        addText(checkedSlice(start, end - offset))
        read = end + 1
      },
      ondeclaration: () => stop(root && 'the XML has a document type within or after its root'),
      onprocessinginstruction(start, end) {
        const mayDeclare = canDeclare && open.length === 0 && !hasEnded
        startMarkup(start - 2)
        const text = checkedSlice(start, end)
        const [target = ''] = text.split(/[\t\n\r ]/, 1)
        readName(start, start + target.length)
        read = end + 2
        if (target.toLowerCase() !== 'xml') return
        const declaration = mayDeclare ? parseDeclaration(text) : undefined
        if (!declaration) return stop('the XML has a late or malformed declaration')
        encoding = declaration.encoding
      },
      oncomment(start, end) {
        startMarkup(start - '<!--'.length)
        const comment = checkedSlice(start, end + 1)
        if (!comment.endsWith('>') || comment.indexOf('--') !== comment.length - 3)
          stop('the XML has -- in a comment')
      },
      onend() {},
    },
  )

  return {
    write(text) {
      if (outcome) return false
      buffer = buffer.slice(read - bufferStart) + text
      bufferStart = read
      const around = seam + text.slice(0, 2)
      if (NONCHARACTERS.some((bytes) => text.includes(bytes) || around.includes(bytes))) misread.add('utf-8')
      seam = (text.length > 1 ? text : around).slice(-2)
      tokenizer.write(text)
      return outcome === undefined
    },
    end() {
      if (!outcome) tokenizer.end()
      const rest = buffer.slice(read - bufferStart)
      if (hasEnded && (isInEndTag ? !END_OF_TAG.test(rest) : rest !== '')) stop(BAD_TAG)
      if (!root) return undefined
      const fault = outcome ? outcome.fault : hasEnded ? undefined : `the end of ${root.kind} is missing`
      if (fault !== undefined) return { kind: root.kind, fault }
      return outcome ? undefined : { ...root, encoding, misread, values, references }
    },
  }
}

/** Returns prefix and name. */
function splitName(qualified: string): [string, string] {
  const colon = qualified.indexOf(':')
  return [qualified.slice(0, Math.max(0, colon)), qualified.slice(colon + 1)]
}
