// Tables of texts with both languages side by side, so that none is translated alone.

import { signal } from '@preact/signals'
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

export type Text = (...values: never[]) => string

/** Set before the first text. */
export const source = { isInvented: false }
/** With invented values no text names the bank (invented-source.ts). */
export const rename = signal<((text: Text, language: Language) => Text) | undefined>(undefined)

/** Declares a table; the compiler requires both languages of each text. */
export function textTable<const T extends TextTable>(table: T): T {
  return table
}

export function inLanguage<T extends TextTable>(table: T, language: Language): InLanguage<T> {
  const index = language === 'es' ? 0 : 1
  const texts = Object.entries(table).map(([name, entry]) => {
    if (typeof entry !== 'function' && !isPair(entry)) return [name, inLanguage(entry, language)]
    const own: Text = (...values) => (typeof entry === 'function' ? entry(...values) : entry)[index]
    const text = rename.value?.(own, language) ?? own
    return [name, typeof entry === 'function' ? text : text()]
  })
  return Object.fromEntries(texts)
}

function isPair(entry: Translation | TextTable): entry is Translation {
  return Array.isArray(entry)
}
