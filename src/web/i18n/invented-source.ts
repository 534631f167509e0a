// The source in the texts of a page with invented values, such as the demo. A page of the bank does not fetch this file.

import type { Language } from '../model/formats.ts'
import type { Text } from './table-texts.ts'

const BANK =
  /(\b(?:[Ee]l|[ad]el|al|[Tt]he) )?(?:(?:Banco Central|[Cc]entral [Bb]ank)(?: (?:de|of) Costa Rica)?(?: \(BCCR\))?|BCCR)( (?=[a-z]))?/g
const LAW = /\b(?:Ley|Law) \d/ // laws name the bank itself
const INVENTED = {
  es: { bank: 'banco inventado', values: 'Valores inventados', rest: 'Valores inventados ' },
  en: { bank: 'invented bank', values: 'Invented values', rest: 'Invented ' },
}

/** Replaces the name of the bank in a text. Values stay, such as the name of an issuer. */
export function renameSource(text: Text, language: Language): Text {
  return (...values) => renameBank(text(...(values.map(hideName) as never[])), language).replaceAll('\0', '')
}

function renameBank(text: string, language: Language): string {
  if (LAW.test(text)) return text
  const { bank, values, rest } = INVENTED[language]
  return text.replace(BANK, (_, article?: string, space = '') =>
    article ? article + bank + space : space === '' ? values : rest,
  )
}

function hideName(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/BCC|entr/g, '$&\0') : value
}
