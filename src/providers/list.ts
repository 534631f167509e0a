// Every source of rates that the program knows. A further one is a folder beside bccr/ and a line here: its settings,
// its rows in the database, its schedule, and its part of health and doctor follow from that.

import type { IsoDate } from '../dates.ts'
import { bccr } from './bccr/bccr.ts'
import type { Provider } from './provider.ts'

export const PROVIDERS: readonly Provider[] = [bccr]

/** The provider of a request that names none, as the contract has it. */
export const DEFAULT_PROVIDER: Provider = bccr

/** The oldest day that one of them is known to have. */
export const FIRST_DAY: IsoDate = firstDayOf(PROVIDERS)

/** Their names in a sentence. */
export function namesOf(providers: readonly Provider[]): string {
  return new Intl.ListFormat('en').format(providers.map(({ name }) => name))
}

function firstDayOf(providers: readonly Provider[]): IsoDate {
  const days = providers.flatMap(({ groups }) => groups.flatMap(({ startsOn }) => startsOn ?? []))
  return days.sort()[0] ?? '1983-01-01'
}
