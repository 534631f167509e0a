// Search that ignores accents, case and the order of words.

export function foldText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Returns true if each word of the query begins a word of the texts. */
export function matchesQuery(query: string, texts: readonly string[]): boolean {
  const words = texts.flatMap((text) => foldText(text).split(/[^\p{L}\p{N}]+/u))
  return foldText(query)
    .split(/[^\p{L}\p{N}]+/u)
    .every((prefix) => words.some((word) => word.startsWith(prefix)))
}
