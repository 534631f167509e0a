// Search that forgives accents, case and the order of words.

export function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Whether each word of the query begins a word of the texts. */
export function matches(query: string, texts: readonly string[]): boolean {
  const words = texts.flatMap((text) => folded(text).split(/[^\p{L}\p{N}]+/u))
  return folded(query)
    .split(/[^\p{L}\p{N}]+/u)
    .every((asked) => words.some((word) => word.startsWith(asked)))
}
