// Connection to a source. Requests are sequential, even when a caller does not wait, to spare the source.

import { dayNumber } from '../values/dates.ts'
import type {
  FetchRequest,
  Notice,
  ProviderSettings,
  RequestTuning,
  SourceAnswer,
  SourceConnection,
} from './provider.ts'
import { createRequester, type Requester } from './request.ts'

/** Means of a source. `notify` reports a problem that does not stop the run. */
export type ConnectionTools = {
  requester: Requester
  notify: (notice: Notice) => void
  /** Names an unknown part of an answer once a week, on Mondays of the source. */
  notifyWeekly: (message: string) => void
}

const WEEK_DAYS = 7
const MONDAY = 4 // 1970-01-01 was a Thursday

/** `isTokenUsed` undefined: the source never rounds, and answers a whole table at once. */
export type ConnectedSource = {
  read(request: FetchRequest): Promise<SourceAnswer>
  /** False: its values are rounded, and of whole tables. */
  isTokenUsed?(): boolean
}

export function openConnection(
  settings: ProviderSettings,
  signal: AbortSignal,
  { timeZone, tuning }: { timeZone: string; tuning: RequestTuning | undefined },
  open: (tools: ConnectionTools) => ConnectedSource,
): SourceConnection {
  const requester = createRequester({ ...settings, timeZone }, signal, tuning)
  const notices: Notice[] = []
  const notify = (notice: Notice) => {
    if (!notices.some(({ message }) => message === notice.message)) notices.push(notice)
  }
  const notifyWeekly = (message: string) => {
    const day = requester.sourceDay()
    if (day !== undefined && dayNumber(day) % WEEK_DAYS === MONDAY) notify({ message })
  }
  const source = open({ requester, notify, notifyWeekly })
  let last: Promise<unknown> = Promise.resolve()
  return {
    read(request) {
      const answer = last.then(() => source.read(request))
      last = answer.catch(() => undefined) // the caller gets the error
      return answer
    },
    get supportsSingleSeries() {
      return source.isTokenUsed?.() ?? false
    },
    get exact() {
      return source.isTokenUsed?.() ?? true
    },
    get sourceDay() {
      return requester.sourceDay()
    },
    notices: () => notices.splice(0),
  }
}
