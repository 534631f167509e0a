// Suggestions for a mistyped word.

/** Counts the letters to insert, delete, replace, or swap with their neighbour. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (same ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

/** Returns the nearest candidate at most `most` letters away, the first of equal ones. */
export function nearest(word: string, candidates: readonly string[], most: number): string | undefined {
  let best: string | undefined
  let least = most + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const edits = editDistance(word, candidate)
    if (edits < least) {
      best = candidate
      least = edits
    }
  }
  return best
}
