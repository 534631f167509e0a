// Small components outside the first view, in one lazily fetched file. A file for each would cost headers and compression.

export { EmptyDatabase } from './rates/empty-database.tsx'
export { ExportAll } from './rates/export-all.tsx'
export { LeftOutNote, MissingDaysNote } from './rates/missing-days.tsx'
export { AddSecret } from './session/add-secret.tsx'
export { NeedsSecret } from './session/needs-secret.tsx'
export { OneTimeLink } from './session/one-time-link.tsx'
