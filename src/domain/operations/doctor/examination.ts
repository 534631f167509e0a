// What the doctor is asked, and what it says.

import type { Clock } from '../../dates.ts'
import type { Advice } from '../../errors.ts'
import type { Provider } from '../../providers/provider.ts'

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
  /** The zone of the host. */
  zone: string
  /** Where nightly backups go, and when; undefined: nowhere. */
  backup: { dir: string; cron: string } | undefined
  signal: AbortSignal
  /** Waits before what looks like left over is looked at again. */
  beforeSecondLook(signal: AbortSignal): Promise<unknown>
  /** Told after each content how many were read. */
  progress?: (done: number) => void
}
