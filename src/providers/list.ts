// List of all providers. A new provider is a folder beside bccr/ and a line here. Its settings, rows, schedule, health
// and doctor checks follow from that.

import type { IsoDate } from '../values/dates.ts'
import { banguat } from './banguat/banguat.ts'
import { banxico } from './banxico/banxico.ts'
import { bccr } from './bccr/bccr.ts'
import { ecb } from './ecb/ecb.ts'
import type { Provider } from './provider.ts'
import { trm } from './trm/trm.ts'

export const PROVIDERS: readonly Provider[] = [bccr, ecb, banguat, trm, banxico]

/** Provider of a request that names none, as in the contract. */
export const DEFAULT_PROVIDER: Provider = bccr

/** Providers of each database. The others are optional. */
export const REQUIRED_PROVIDERS: readonly Provider[] = PROVIDERS.filter(({ isOptional }) => !isOptional)

/** Providers that the operator enables. */
export const OPTIONAL_PROVIDERS: readonly Provider[] = PROVIDERS.filter(({ isOptional }) => isOptional)

/** Oldest known first day of a series group. Optional providers do not change it. */
export const FIRST_DAY: IsoDate = firstDay(REQUIRED_PROVIDERS)

/** Formats the names for a sentence. */
export function providerNames(providers: readonly Provider[], language = 'en'): string {
  return new Intl.ListFormat(language).format(providers.map(({ name }) => name))
}

function firstDay(providers: readonly Provider[]): IsoDate {
  const days = providers.flatMap(({ groups }) => groups.flatMap(({ startsOn }) => startsOn ?? []))
  return days.sort()[0] ?? '1983-01-01'
}
