// State of the central bank alone. The page shows its rates, so neither runs nor problems of another enabled source appear.

import type { Health, Status } from './responses.ts'

const BANK = 'bccr'
const BANK_ID = 1

/** Returns the status without the providers, reasons and runs of other sources. */
export function bankStatus(status: Status): Status {
  const { providers, reason_codes, runs } = status
  const reasons = status.reasons
    .filter((_, at) => reason_codes[at]?.provider === BANK)
    .map((reason) => reason.replace(`${BANK}: `, ''))
  return {
    ...status,
    status: reasons.length > 0 ? 'degraded' : 'ok',
    reasons,
    reason_codes: reason_codes.filter(({ provider }) => provider === BANK),
    providers: providers.filter(({ code }) => code === BANK),
    runs: runs.filter(({ provider_id }) => provider_id === BANK_ID),
  }
}

/** Returns the status of the health without the reasons of other sources. */
export function bankHealthStatus({ status, detail }: Pick<Health, 'status' | 'detail'>): Health['status'] {
  const { reasons, reason_codes = [] } = detail ?? {}
  const isOther =
    status === 'degraded' &&
    reason_codes.length === reasons?.length && // a reason without a code is of the server
    reason_codes.every(({ provider }) => provider !== BANK)
  return isOther ? 'ok' : status
}
