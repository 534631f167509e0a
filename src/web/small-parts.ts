// Small components outside the first view, in one lazily fetched file. A file for each would cost headers and compression.

export { MissingDaysNote } from './rates/missing-days.tsx'
export { EmptyDatabase } from './status/empty-database.tsx'
