// Characters that reverse the text after them: with U+202E a file that ends in `exe` seems to end in `pdf`.
const BIDIRECTIONAL = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * Returns a file name that is no path, not hidden, and has the extension that it shows. Separators, leading dots with
 * the blanks before them, and bidirectional controls become `_` (decisions#document).
 */
export function toFileName(name: string): string {
  return name
    .replace(/[/\\]/g, '_')
    .replace(BIDIRECTIONAL, '_')
    .replace(/^[\s.]+/, (start) => '_'.repeat(start.length))
}
