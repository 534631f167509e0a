// The text of an HTML fragment, folded to one line (decisions#by-company). Only the tokenizer of htmlparser2 is used:
// its parser has a stack of open elements, which takes quadratic time on deep nesting.

import { Tokenizer } from 'htmlparser2'

const BLOCKS = new Set(
  `address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol
  optgroup option p plaintext pre search section summary table tbody td tfoot th thead title tr ul xmp`.split(
    /\s+/,
  ),
)
const HIDDEN = new Set(['script', 'style', 'iframe', 'noembed', 'noframes']) // they contain no elements, only their end tag
const TEMPLATE = 'template' // hidden too, but may be nested

export function plainText(html: string): string {
  let text = ''
  let hiddenElement = '' // name of the element that is being skipped
  let templates = 0

  const add = (more: string) => {
    if (hiddenElement === '' && templates === 0) text += more
  }
  const tagName = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const ignore = () => {}

  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => add(html.slice(start, end)),
      ontextentity: (codePoint) => add(String.fromCodePoint(codePoint)),
      onopentagname(start, end) {
        const name = tagName(start, end)
        if (BLOCKS.has(name)) add(' ')
        else if (HIDDEN.has(name)) hiddenElement = name
        else if (name === TEMPLATE) templates++
      },
      onclosetag(start, end) {
        const name = tagName(start, end)
        if (BLOCKS.has(name)) add(' ')
        else if (name === hiddenElement) hiddenElement = ''
        else if (name === TEMPLATE && templates > 0) templates--
      },
      onopentagend: ignore,
      onselfclosingtag: ignore,
      onattribname: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return text.replaceAll(/\s+/g, ' ').trim()
}
