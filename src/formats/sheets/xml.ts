// Reads a part of a workbook, element by element, without the prefixes that some programs write. Nothing is made of a
// document type, and there are no entities but the five of XML, so that little never becomes much.

import { Parser } from 'htmlparser2'
import { AppError } from '../errors.ts'

export type XmlReader = {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(name: string): void
}

const DEEPEST = 64

/** @throws AppError `failed` for what has a document type, is too deep, or does not end as it began */
export function readXml(xml: string, reader: XmlReader): void {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1
        if (depth > DEEPEST) throw refused('elements nest too deep')
        reader.open(local(name), attributes)
      },
      ontext: (text) => reader.text?.(text),
      onclosetag(name, isImplied) {
        // A tag that closes itself, <a/>, is implied, too.
        if (isImplied && xml[parser.endIndex - 1] !== '/') throw refused(`${name} has no end`)
        depth -= 1
        reader.close?.(local(name))
      },
      onprocessinginstruction(name) {
        if (name.startsWith('!')) throw refused('it has a document type')
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(xml)
  if (depth > 0) throw refused('it ends early')
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function refused(why: string): AppError {
  return new AppError('failed', `a part of the workbook is no valid XML: ${why}`)
}
