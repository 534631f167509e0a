/**
 * A name as the name of a file that a user may save: separators and leading dots, and blanks before these, are
 * replaced, so that it is neither a path nor hidden (decisions 3.3). Of any other character nothing is changed.
 */
export function fileNameOf(name: string): string {
  return name.replace(/[/\\]/g, '_').replace(/^[\s.]+/, (start) => '_'.repeat(start.length))
}
