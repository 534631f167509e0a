// Text as a search compares it. The program folds it, so both engines find the same rows.

const MARKS = /\p{M}/gu

/** Folds a text: without marks, in lower case. */
export function foldAccents(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(MARKS, '')
}

/** Splits a search into its folded words, each once. */
export function searchWords(text: string): string[] {
  return [...new Set(foldAccents(text).split(/\s+/).filter(Boolean))]
}
