// Limits for requests of workers, in every API (decisions 3.16). A file without database code, beside claims.ts.

/** Seconds. */
export const LEASE = { least: 10, most: 3600, otherwise: 300 } as const

/** Agents of one claim. */
export const MOST_AGENTS = 20

/** Characters. */
export const LONGEST_NOTE = 2000

/** Bytes of JSON in UTF-8: of `finish` over HTTP, and in a message of MCP. */
export const LARGEST_RESULT = { http: 65_536, mcp: 32_768 } as const
