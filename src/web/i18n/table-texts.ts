// Tables of texts with both languages side by side, so that none is translated alone.

import type { Language } from '../model/formats.ts'

type Translation = readonly [es: string, en: string]
export type TextTable = {
  readonly [name: string]: Translation | ((...values: never[]) => Translation) | TextTable
}

/** Texts of a table in one language. A text with values is a function of them. */
export type InLanguage<T> = {
  readonly [Name in keyof T]: T[Name] extends Translation
    ? string
    : T[Name] extends (...values: infer Values) => Translation
      ? (...values: Values) => string
      : InLanguage<T[Name]>
}

/** Set before the first text. With invented values no text names the bank. */
export const source = { isInvented: false }

const BANK =
  /(\b(?:[Ee]l|[ad]el|al|[Tt]he) )?(?:(?:Banco Central|[Cc]entral [Bb]ank)(?: (?:de|of) Costa Rica)?(?: \(BCCR\))?|BCCR)( (?=[a-z]))?/g
const LAW = /\b(?:Ley|Law) \d/ // laws name the bank itself
const INVENTED = {
  es: { bank: 'banco inventado', values: 'Valores inventados', rest: 'Valores inventados ' },
  en: { bank: 'invented bank', values: 'Invented values', rest: 'Invented ' },
}

/** Replaces the name of the bank in a text of the page. */
function renameBank(text: string, language: Language): string {
  if (!source.isInvented || LAW.test(text)) return text
  const { bank, values, rest } = INVENTED[language]
  return text.replace(BANK, (_, article?: string, space = '') =>
    article ? article + bank + space : space === '' ? values : rest,
  )
}

/** Hides the bank's name in a value of a text, such as the name of an issuer. */
function hideName(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/BCC|entr/g, '$&\0') : value
}

/** Declares a table; the compiler requires both languages of each text. */
export function textTable<const T extends TextTable>(table: T): T {
  return table
}

export function inLanguage<T extends TextTable>(table: T, language: Language): InLanguage<T> {
  const index = language === 'es' ? 0 : 1
  const texts = Object.entries(table).map(([name, entry]) => {
    if (typeof entry !== 'function')
      return [name, isPair(entry) ? renameBank(entry[index], language) : inLanguage(entry, language)]
    const fill = (...values: never[]) =>
      source.isInvented
        ? renameBank(entry(...(values.map(hideName) as never[]))[index], language).replaceAll('\0', '')
        : entry(...values)[index]
    return [name, fill]
  })
  return Object.fromEntries(texts)
}

function isPair(entry: Translation | TextTable): entry is Translation {
  return Array.isArray(entry)
}
