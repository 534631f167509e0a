// What a worker may ask for, whichever way it asks (decisions 3.16). Beside claims.ts, which knows the database.

/** Seconds. */
export const LEASE = { least: 10, most: 3600, otherwise: 300 } as const

/** Characters. */
export const LONGEST_NOTE = 2000
