// Examines the sums of the rates. A damaged year is read again from its source, or restored, or accepted.

import type { Provider } from '../../../providers/provider.ts'
import { selectProviders } from '../../../store/rates/providers.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { type Clock, earliest, isIsoDate, lastTomorrow } from '../../../values/dates.ts'
import { findDamagedRates } from '../../rates/rate-sums.ts'
import type { Report } from './examination.ts'

export async function examineSums(
  db: ReadDb,
  { clock, providers }: { clock: Clock; providers: readonly Provider[] },
  report: Report,
): Promise<void> {
  const rows = await selectProviders(db)
  for (const { series, part, message } of await findDamagedRates(db)) {
    const row = rows.find(({ id }) => id === series.provider_id)
    const provider = providers.find(({ code }) => code === row?.code)
    const from = `${part}-01-01`
    const to = provider && earliest(`${part}-12-31`, lastTomorrow(clock, [provider.timeZone]))
    const isRead = row?.enabled && series.enabled && to !== undefined && isIsoDate(from) && from <= to
    const days = isRead ? { from, to } : undefined
    report.finding('rates', message, { about: 'damaged-rates', id: series.id, part, days })
  }
}
