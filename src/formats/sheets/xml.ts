// Parses XML of a workbook element by element, without namespace prefixes. Document types are rejected, and only the
// five entities of XML exist, so that a small file cannot expand.

import { Parser } from 'htmlparser2'
import { AppError } from '../../runtime/errors.ts'

export type XmlReader = {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(name: string): void
}

const MOST_LEVELS = 64

/** @throws AppError `failed` for a document type, over 64 levels, or an element without its end */
export function readXml(xml: string, reader: XmlReader): void {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1
        if (depth > MOST_LEVELS) throw xmlError('elements nest too deep')
        reader.open(localName(name), attributes)
      },
      ontext: (text) => reader.text?.(text),
      onclosetag(name, isImplied) {
        // The end of a self-closing tag, <a/>, is implied, too.
        if (isImplied && xml[parser.endIndex - 1] !== '/') throw xmlError(`${name} has no end`)
        depth -= 1
        reader.close?.(localName(name))
      },
      onprocessinginstruction(name) {
        if (name.startsWith('!')) throw xmlError('it has a document type')
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(xml)
  if (depth > 0) throw xmlError('it ends early')
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function xmlError(why: string): AppError {
  return new AppError('failed', `a part of the workbook is no valid XML: ${why}`)
}
