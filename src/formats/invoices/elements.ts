// Reads the elements of an invoice from its XML, and rejects XML that is not well-formed. Only the tokenizer of
// htmlparser2 is used, as its parser accepts malformed input. The tokenizer skips characters: each token must begin where
// the last ended. Characters are bytes (encoding.ts).

import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { type ElementsResult, ElementTree, OUTSIDE } from './element-tree.ts'
import { ENCODINGS } from './encoding.ts'
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

export type ElementReader = {
  /** Returns false once nothing that follows is of interest. */
  write(text: string): boolean
  end(): ElementsResult
}

const MAX_NAMES = 100
const QUOTED = 2 // as QuoteType of the tokenizer has it: 0 no value, 1 without quotes
const BAD_TEXT = 'the XML has an entity that is not one of the five, or a stray < or &'
const BAD_TAG = 'the XML has a malformed tag'
export const BAD_CHARACTER = 'the XML has a character or a name that XML does not allow'

export function createElementReader(): ElementReader {
  return new TokenReader()
}

class TokenReader implements ElementReader, TokenizerCallbacks {
  readonly #tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: true }, this)
  readonly #tree = new ElementTree(() => this.#tokenizer.pause())
  #buffer = ''
  #bufferStart = 0 // the index of its first character in the whole
  #read = 0 // everything before this index was read
  #plainEnd = 0 // end of the last match of PLAIN
  #seam = '' // last two characters
  #isInEndTag = false // after its name
  #canDeclare = true
  #textEnd = 0
  #brackets = '' // at the end of the last text, at most two
  #encoding: string | undefined
  #attribute = ''
  #attributeValue = ''
  readonly #attributes = new Set<string>() // names in the open tag
  readonly #names = new Set<string>() // validated names, but not those of plain tags
  readonly #misread = new Set<string>()

  write(text: string) {
    if (this.#tree.isStopped) return false
    this.#buffer = this.#buffer.slice(this.#read - this.#bufferStart) + text
    this.#bufferStart = this.#read
    const around = this.#seam + text.slice(0, 2)
    if (NONCHARACTERS.some((bytes) => text.includes(bytes) || around.includes(bytes)))
      this.#misread.add('utf-8')
    this.#seam = (text.length > 1 ? text : around).slice(-2)
    this.#tokenizer.write(text)
    return !this.#tree.isStopped
  }

  end() {
    const tree = this.#tree
    if (!tree.isStopped) this.#tokenizer.end()
    const rest = this.#buffer.slice(this.#read - this.#bufferStart)
    if (tree.place === 'after' && (this.#isInEndTag ? !END_OF_TAG.test(rest) : rest !== ''))
      tree.stop(BAD_TAG)
    return tree.result({ encoding: this.#encoding, misread: this.#misread })
  }

  onopentagname(start: number, end: number) {
    if (this.#isPlain(start - 1, end)) return this.#tree.open(this.#slice(start, end))
    this.#startToken(start - 1)
    this.#attributes.clear()
    this.#tree.open(this.#readName(start, end))
  }

  onattribname(start: number, end: number) {
    if (!BLANKS.test(this.#slice(this.#read, start))) this.#tree.stop(BAD_TAG)
    this.#attribute = this.#readName(start, end)
    this.#attributeValue = ''
    if (this.#attributes.has(this.#attribute)) this.#tree.stop('the XML has an attribute that stands twice')
    this.#attributes.add(this.#attribute)
  }

  onattribdata(start: number, end: number) {
    if (!hasCharacters(this.#checkedSlice(this.#read, start))) this.#tree.stop(BAD_CHARACTER)
    const more = this.#checkedSlice(start, end)
    if (more.includes('&') || more.includes('<')) this.#tree.stop(BAD_TEXT)
    this.#attributeValue += more
  }

  onattribentity(codePoint: number) {
    this.#attributeValue += String.fromCodePoint(codePoint)
  }

  onattribend(quote: number, end: number) {
    this.#read = end
    if (quote < QUOTED) return this.#tree.stop('the XML has an attribute without quotes')
    const [isNamespace, prefix = ''] = /^xmlns(?::(.+))?$/.exec(this.#attribute) ?? []
    if (isNamespace !== undefined) this.#tree.declareNamespace(prefix, this.#attributeValue)
  }

  onopentagend(end: number) {
    if (end !== this.#read && !BLANKS.test(this.#slice(this.#read, end))) this.#tree.stop(BAD_TAG)
    this.#read = end + 1
    this.#tree.enter()
  }

  onselfclosingtag(end: number) {
    if (end - this.#read !== 1 && !EMPTY_END.test(this.#slice(this.#read, end))) this.#tree.stop(BAD_TAG)
    this.#read = end + 1
    this.#tree.enter()
    this.#tree.close()
  }

  onclosetag(start: number, end: number) {
    const isWhole = this.#isPlain(start - 2, end + 1)
    if (!isWhole) this.#startToken(start - 2)
    this.#tree.close(this.#slice(start, end))
    if (isWhole) this.#read = end + 1
    else this.#isInEndTag = true
  }

  ontext(start: number, end: number) {
    if (this.#brackets === '' && this.#isPlain(start, end)) {
      if (this.#tree.skipsText) this.#read = end
      else this.#tree.addText(this.#slice(start, end))
      return
    }
    this.#startToken(start)
    const text = this.#checkedSlice(start, end)
    const run = start === this.#textEnd ? this.#brackets + text : text // a chunk may end within a text
    this.#textEnd = end
    this.#brackets = text.endsWith(']') ? run.slice(-2) : ''
    if (text[0] === '<' || text.includes('&')) this.#tree.stop(BAD_TEXT)
    else if (run.includes(']]>')) this.#tree.stop('the XML has ]]> in a text')
    else this.#tree.addText(text)
  }

  ontextentity(codePoint: number, end: number) {
    if (end > this.#plainEnd) {
      const start = this.#buffer.indexOf('&', this.#read - this.#bufferStart) + this.#bufferStart
      this.#startToken(start)
      if (!hasCharacters(this.#slice(start, end))) this.#tree.stop(BAD_CHARACTER)
    }
    this.#read = end
    this.#isInEndTag = false
    this.#tree.addText(codePoint)
  }

  oncdata(start: number, end: number, offset: number) {
    this.#startMarkup(start - '<![CDATA['.length)
    if (this.#tree.place !== 'inside') this.#tree.stop(OUTSIDE)
    this.#tree.addText(this.#checkedSlice(start, end - offset))
    this.#read = end + 1
  }

  ondeclaration() {
    this.#tree.stop('the XML has a document type')
  }

  onprocessinginstruction(start: number, end: number) {
    const mayDeclare = this.#canDeclare && this.#tree.place === 'before'
    this.#startMarkup(start - 2)
    const text = this.#checkedSlice(start, end)
    const [target = ''] = text.split(/[\t\n\r ]/, 1)
    this.#readName(start, start + target.length)
    this.#read = end + 2
    if (target.toLowerCase() !== 'xml') return
    const declaration = mayDeclare ? parseDeclaration(text) : undefined
    if (!declaration) return this.#tree.stop('the XML has a late or malformed declaration')
    this.#encoding = declaration.encoding
  }

  oncomment(start: number, end: number) {
    this.#startMarkup(start - '<!--'.length)
    const comment = this.#checkedSlice(start, end + 1)
    if (!comment.endsWith('>') || comment.indexOf('--') !== comment.length - 3)
      this.#tree.stop('the XML has -- in a comment')
  }

  onend() {}

  #slice(start: number, end: number) {
    this.#read = end
    return this.#buffer.slice(start - this.#bufferStart, end - this.#bufferStart)
  }

  #checkedSlice(start: number, end: number) {
    const text = this.#slice(start, end)
    if (CONTROL.test(text)) this.#tree.stop(BAD_CHARACTER)
    return text
  }

  /** Returns true for a token within plain text and tags, which needs no other check. */
  #isPlain(start: number, end: number) {
    if (start !== this.#read) return false
    if (start >= this.#plainEnd) {
      PLAIN.lastIndex = start - this.#bufferStart
      PLAIN.test(this.#buffer)
      this.#plainEnd = this.#bufferStart + PLAIN.lastIndex
    }
    return end <= this.#plainEnd
  }

  #startToken(start: number) {
    const isNext = start - this.#read === Number(this.#isInEndTag)
    if (!isNext && !(this.#isInEndTag && END_OF_TAG.test(this.#slice(this.#read, start))))
      this.#tree.stop(BAD_TAG)
    this.#isInEndTag = false
  }

  #startMarkup(start: number) {
    this.#startToken(start)
    this.#canDeclare = false
  }

  #readName(start: number, end: number) {
    const name = this.#checkedSlice(start, end)
    if (this.#names.has(name)) return name
    if (this.#names.size < MAX_NAMES) this.#names.add(name)
    addMisreadings(name, this.#misread)
    if (this.#misread.size === ENCODINGS.length) this.#tree.stop(BAD_CHARACTER)
    return name
  }
}
