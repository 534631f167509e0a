// Components outside the first view, in one lazily fetched file. Every further file would cost headers and compression.

export { DocumentsScreen } from './documents/documents-screen.tsx'
export { EmptyDatabase } from './rates/empty-database.tsx'
export { ExportAll } from './rates/export-all.tsx'
export { LeftOutNote, MissingDaysNote } from './rates/missing-days.tsx'
export { MonthEnds } from './rates/month-ends.tsx'
export { AddSecret } from './session/add-secret.tsx'
export { NeedsSecret } from './session/needs-secret.tsx'
export { OneTimeLink } from './session/one-time-link.tsx'
export { StatusScreen } from './status/status-screen.tsx'
