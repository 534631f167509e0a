// Requests and result of the doctor, arguments of its checks, and the text of a run.

import type { Provider } from '../../../providers/provider.ts'
import type { Advice } from '../../../runtime/errors.ts'
import type { BlobStore } from '../../../store/blobs/open-blobs.ts'
import type { Engine, InspectedDatabase } from '../../../store/engine.ts'
import type { SyncRunRow } from '../../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../../store/tables.ts'
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

type CommonRequest = {
  providers: readonly Provider[]
  signal: AbortSignal
  /** Waits before suspected leftovers are checked again. */
  beforeRecheck(signal: AbortSignal): Promise<unknown>
  /** Called after each blob with the number of blobs read. */
  progress?: (done: number) => void
}

/** Examination of a data directory. */
export type DoctorRequest = CommonRequest & {
  dataDir: string
  clock: Clock
  /** Disk space that uploads leave free. */
  minFree: number
  /** Time zone of the host. */
  zone: string
  /** Folder and schedule of nightly backups; undefined: none. */
  backup: { dir: string; cron: string } | undefined
}

/** Examination of a database and a blob store that several nodes share. */
export type SharedRequest = CommonRequest & {
  engine: Engine
  blobStore: Pick<BlobStore, 'blobs' | 'findFault'>
  /** Reads and hashes every blob; otherwise only its existence is checked. */
  readAll: boolean
  /** Key of the secrets of hooks; undefined: it was not configured. */
  hookKey?: Buffer | undefined
}

/** Arguments of a check of either. */
export type CheckContext = {
  db: ReadDb
  clock: Clock
  /** Active providers. */
  providers: readonly Provider[]
  allProviders: readonly Provider[]
  report: Report
  /** Undefined: nodes share the database. */
  dataDir?: string
  hookKey?: Buffer | undefined
}

/** `sound`: the database if it is sound. `isInUse`: by a server. */
export type FileContext = CheckContext &
  DoctorRequest & { sound: InspectedDatabase | undefined; isInUse: boolean }

export type SharedContext = CheckContext & SharedRequest

/** Formats a closed run, such as `run 2, ended 2026-03-24T12:40:00.000Z, error (HTTP 400)`. */
export function runText(run: Pick<SyncRunRow, 'id' | 'finished_at' | 'status' | 'message'>): string {
  const reason = run.message === null ? '' : ` (${run.message})`
  return `run ${run.id}, ended ${run.finished_at}, ${run.status}${reason}`
}
