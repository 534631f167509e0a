// Small components outside the first view, in one lazily fetched file. A file for each would cost headers and compression.

export { EmptyDatabase } from './rates/empty-database.tsx'
export { LeftOutNote, MissingDaysNote } from './rates/missing-days.tsx'
