// Request and result of the doctor, and the text of a run.

import type { Provider } from '../../../providers/provider.ts'
import type { Advice } from '../../../runtime/errors.ts'
import type { SyncRunRow } from '../../../store/rates/sync-runs.ts'
import type { Clock } from '../../../values/dates.ts'

export type Check =
  | 'clock'
  | 'database'
  | 'contents'
  | 'temporary'
  | 'permissions'
  | 'space'
  | 'rates'
  | 'backup'
  | 'hooks'
  | 'mail'
  | 'indicators'

export type Report = {
  finding(check: Check, message: string, advice?: Advice): void
  note(message: string, advice?: Advice): void
}

export type Note = { message: string; advice: Advice | undefined }

export type Examination = { findings: (Note & { check: Check })[]; notes: Note[] }

export type DoctorRequest = {
  dataDir: string
  clock: Clock
  providers: readonly Provider[]
  /** Disk space that uploads leave free. */
  minFree: number
  /** Time zone of the host. */
  zone: string
  /** Folder and schedule of nightly backups; undefined: none. */
  backup: { dir: string; cron: string } | undefined
  signal: AbortSignal
  /** Waits before suspected leftovers are checked again. */
  beforeRecheck(signal: AbortSignal): Promise<unknown>
  /** Called after each blob with the number of blobs read. */
  progress?: (done: number) => void
}

/** Formats a closed run, such as `run 2, ended 2026-03-24T12:40:00.000Z, error (HTTP 400)`. */
export function runText({
  id,
  finished_at,
  status,
  message,
}: Pick<SyncRunRow, 'id' | 'finished_at' | 'status' | 'message'>): string {
  return `run ${id}, ended ${finished_at}, ${status}${message === null ? '' : ` (${message})`}`
}
