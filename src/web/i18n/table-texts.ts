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

/** Declares a table; the compiler requires both languages of each text. */
export function textTable<const T extends TextTable>(table: T): T {
  return table
}

export function inLanguage<T extends TextTable>(table: T, language: Language): InLanguage<T> {
  const index = language === 'es' ? 0 : 1
  const texts = Object.entries(table).map(([name, entry]) => {
    if (typeof entry === 'function') return [name, (...values: never[]) => entry(...values)[index]]
    return [name, isPair(entry) ? entry[index] : inLanguage(entry, language)]
  })
  return Object.fromEntries(texts)
}

function isPair(entry: Translation | TextTable): entry is Translation {
  return Array.isArray(entry)
}
