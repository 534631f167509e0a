// What is not shown first, in one file that is fetched when any of it is: each file more would cost the first screen its
// headers and what compresses well together.

export { DocumentsScreen } from './documents/documents-screen.tsx'
export { EmptyBox } from './rates/empty-box.tsx'
export { ExportAll } from './rates/export-all.tsx'
export { LeftOut, MissingDaysNote } from './rates/missing-days.tsx'
export { MonthEnds } from './rates/month-ends.tsx'
export { AddSecret } from './session/add-secret.tsx'
export { NeedsSecret } from './session/needs-secret.tsx'
export { OneTimeLink } from './session/one-time-link.tsx'
export { StatusScreen } from './status/status-screen.tsx'
