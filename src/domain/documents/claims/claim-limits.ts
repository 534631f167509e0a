// Limits for requests of workers, in every API (decisions#claims). A file without database code, beside claims.ts.

/** Seconds. */
export const LEASE = { least: 10, most: 3600, otherwise: 300 } as const

/** Agents of one claim. */
export const MOST_AGENTS = 20

/** Characters. */
export const LONGEST_NOTE = 2000

/** Bytes of JSON in UTF-8: of `finish` over HTTP, and in a message of MCP. */
export const LARGEST_RESULT = { http: 65_536, mcp: 32_768 } as const

/** Error of a note, words that follow its name; undefined: it is valid. PostgreSQL stores no NUL. */
export function noteFault(note: unknown): string | undefined {
  if (typeof note !== 'string' || [...note].length > LONGEST_NOTE)
    return `must be a text of at most ${LONGEST_NOTE} characters`
  if (note.includes('\0')) return 'must not have the character U+0000'
  return note.isWellFormed() ? undefined : 'must be Unicode: it has half of a surrogate pair'
}
