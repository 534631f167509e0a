// Characters that reverse the text after them: with U+202E a file that ends in `exe` seems to end in `pdf`.
const BIDIRECTIONAL = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * A document's name as a file name: neither a path, nor hidden, nor with another ending than it seems to have. Separators,
 * leading dots with the blanks before them, and bidirectional controls become `_` (decisions 3.3).
 */
export function fileNameOf(name: string): string {
  return name
    .replace(/[/\\]/g, '_')
    .replace(BIDIRECTIONAL, '_')
    .replace(/^[\s.]+/, (start) => '_'.repeat(start.length))
}
