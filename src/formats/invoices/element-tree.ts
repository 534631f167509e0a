// Selects the values of an invoice among its elements, each by its path from the root. An ambiguous text has no values: an
// element that occurs twice, or is within a value, is a fault.

import { appendRaw, type RawText } from './encoding.ts'
import {
  type ElementRule,
  findKind,
  type InvoiceField,
  type InvoiceKind,
  KINDS,
  parseNamespace,
  REFERENCE,
  type UnreadableInvoice,
} from './kinds.ts'
import { namespaceFault } from './likeness.ts'
import { BLANKS } from './markup.ts'

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

/** Undefined: the root is of no invoice. */
export type ElementsResult = RawInvoice | UnreadableInvoice | undefined

type EnteredElement = {
  qualified: string
  /** Undefined: neither it nor its children are read. */
  rule: ElementRule | undefined
  namespaces: Map<string, string> | undefined
}

const MAX_DEPTH = 24
const MAX_REFERENCES = 10
const MAX_BYTES = 1600 // length of a value of 400 characters
const FOREIGN = 'its namespace is not of Hacienda'
export const OUTSIDE = 'the XML has text outside of its root element'

export class ElementTree {
  readonly #pause: () => void
  readonly #open: EnteredElement[] = []
  readonly #occurrences = new Set<ElementRule | InvoiceField>()
  readonly #values: RawValues = new Map()
  readonly #references: RawValues[] = []
  #root: Pick<RawInvoice, 'kind' | 'version'> | undefined
  #rootNamespace = ''
  #isForeign = false // the namespace of the root is not Hacienda's
  #hasEnded = false // the root
  #earlyFault: string | undefined // before the kind of the root is known
  #outcome: { fault?: string } | undefined // a fault, or empty: no invoice

  /** `pause`: called once nothing that follows is of interest. */
  constructor(pause: () => void) {
    this.#pause = pause
  }

  get isStopped(): boolean {
    return this.#outcome !== undefined
  }

  /** Place in relation to the root. */
  get place(): 'before' | 'inside' | 'after' {
    if (this.#open.length > 0) return 'inside'
    return this.#hasEnded ? 'after' : 'before'
  }

  /** True where text is neither read nor a fault. */
  get skipsText(): boolean {
    return this.#open.length > 0 && this.#open.at(-1)?.rule?.field === undefined
  }

  stop(fault?: string): void {
    if (fault !== undefined && !this.#root) {
      this.#earlyFault ??= fault
      return
    }
    this.#outcome ??= fault === undefined ? {} : { fault }
    this.#pause()
  }

  open(qualified: string): void {
    if (this.#hasEnded) this.stop('the XML has a second root element')
    else if (this.#open.length >= MAX_DEPTH) this.stop(`elements nest deeper than ${MAX_DEPTH}`)
    else this.#open.push({ qualified, rule: undefined, namespaces: undefined })
  }

  declareNamespace(prefix: string, namespace: string): void {
    const element = this.#open.at(-1)
    if (!element) return
    element.namespaces ??= new Map()
    element.namespaces.set(prefix, namespace)
  }

  /** Finds the meaning of an element, after its attributes. */
  enter(): void {
    const element = this.#open.at(-1) as EnteredElement
    const parent = this.#open.at(-2)?.rule
    if (this.#open.length === 1) this.#enterRoot(element)
    else if (parent?.field !== undefined) this.stop(`an element stands within ${parent.name}`)
    else if (parent) this.#enterChild(element, parent)
  }

  addText(more: string | number): void {
    const element = this.#open.at(-1)
    if (!element) {
      if (typeof more === 'number' || !BLANKS.test(more)) this.stop(OUTSIDE)
      return
    }
    const field = element.rule?.field
    if (field === undefined) return
    const raw = this.#selectFields(field).get(field) as RawText
    appendRaw(raw, more)
    const size = raw.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length : 1), 0)
    if (size > MAX_BYTES) this.stop(`${element.rule?.name} is too long`)
  }

  /** `endTag`: its name; undefined for a tag without content. */
  close(endTag = this.#open.at(-1)?.qualified): void {
    if (endTag !== this.#open.at(-1)?.qualified) this.stop('an end tag ends no open element')
    else {
      this.#open.pop()
      this.#hasEnded = this.#open.length === 0
    }
  }

  result(markup: Pick<RawInvoice, 'encoding' | 'misread'>): ElementsResult {
    const root = this.#root
    if (!root) return undefined
    if (this.#isForeign) {
      const clave = this.#values.get('clave')?.join('') ?? ''
      return /^\s*\d{50}\s*$/.test(clave) ? { kind: root.kind, fault: FOREIGN } : undefined
    }
    const missing = this.#hasEnded ? undefined : `the end of ${root.kind} is missing`
    const fault = this.#outcome ? this.#outcome.fault : missing
    if (fault !== undefined) return { kind: root.kind, fault }
    return this.#outcome
      ? undefined
      : { ...root, ...markup, values: this.#values, references: this.#references }
  }

  #enterRoot(element: EnteredElement) {
    const [prefix, name] = splitName(element.qualified)
    const kind = findKind(name)
    const namespace = this.#findNamespace(prefix)
    if (!kind || namespace === undefined) return this.stop()
    const meaning = parseNamespace(namespace)
    this.#root = { kind, version: meaning?.version ?? null }
    const otherFault = meaning ? undefined : namespaceFault(namespace)
    this.#isForeign = !meaning && namespace !== '' && otherFault === undefined
    const fault = this.#earlyFault ?? otherFault
    if (fault !== undefined && !this.#isForeign) return this.stop(fault)
    if (meaning && meaning.kind !== kind)
      return this.stop(`the root is ${kind}, its namespace is of ${meaning.kind}`)
    this.#rootNamespace = namespace
    element.rule = KINDS[kind].elements
  }

  #enterChild(element: EnteredElement, parent: ElementRule) {
    const [prefix, name] = splitName(element.qualified)
    const rule = parent.children.get(name.toLowerCase())
    const isOfRoot = this.#isForeign || this.#findNamespace(prefix) === this.#rootNamespace
    if (!rule || !isOfRoot) return
    element.rule = rule
    if (rule.name === REFERENCE) this.#startReference(rule)
    else this.#startValue(rule)
  }

  /** Returns the namespace of a prefix, '' without one; undefined: the prefix is not declared. */
  #findNamespace(prefix: string): string | undefined {
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const namespace = this.#open[at]?.namespaces?.get(prefix)
      if (namespace !== undefined) return namespace
    }
    return prefix === '' ? '' : undefined
  }

  #startReference({ children }: ElementRule) {
    for (const one of children.values()) {
      this.#occurrences.delete(one)
      if (one.field) this.#occurrences.delete(one.field)
    }
    if (this.#references.push(new Map()) > MAX_REFERENCES)
      this.stop(`there are more than ${MAX_REFERENCES} ${REFERENCE}`)
  }

  #startValue(rule: ElementRule) {
    const { field, name } = rule
    if (this.#occurrences.has(rule) || (field && this.#occurrences.has(field)))
      return this.stop(`${name} stands twice`)
    this.#occurrences.add(rule)
    if (field === undefined) return
    this.#occurrences.add(field)
    this.#selectFields(field).set(field, [])
  }

  #selectFields(field: InvoiceField): RawValues {
    return field.startsWith('reference') ? (this.#references.at(-1) as RawValues) : this.#values
  }
}

/** Returns prefix and name. */
function splitName(qualified: string): [string, string] {
  const colon = qualified.indexOf(':')
  return [qualified.slice(0, Math.max(0, colon)), qualified.slice(colon + 1)]
}
