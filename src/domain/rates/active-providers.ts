// Providers that take part in syncs, health, status and doctor. An optional provider does while it is enabled; its
// stored values are read after that too (decisions#tables).

import { PROVIDERS } from '../../providers/list.ts'
import type { Provider } from '../../providers/provider.ts'
import { INVENTED, selectProviders } from '../../store/rates/providers.ts'
import type { ReadDb } from '../../store/tables.ts'

/** Returns the required providers, and the optional ones with an enabled row. */
export function activeProviders<P extends Pick<Provider, 'code' | 'isOptional'>>(
  providers: readonly P[],
  rows: readonly { code: string; enabled: boolean }[],
): P[] {
  const enabled = new Set(rows.flatMap((row) => (row.enabled ? row.code : [])))
  return providers.filter(({ code, isOptional }) => !isOptional || enabled.has(code))
}

/** Returns the line that names the source of a stored provider, and the page of its terms. */
export function sourceTerms(
  row: { code: string; invented?: true },
  providers = PROVIDERS,
): { attribution: string | undefined; terms: string | null } {
  const { attribution, terms } = row.invented
    ? INVENTED
    : (providers.find(({ code }) => code === row.code) ?? {})
  return { attribution, terms: terms ?? null }
}

/** Selects the active ones of the providers from the database. */
export async function selectActiveProviders(db: ReadDb, providers: readonly Provider[]): Promise<Provider[]> {
  return activeProviders(providers, await selectProviders(db))
}
