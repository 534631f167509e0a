// Series of the Banco de México, pesos per unit of a currency. Each answer's titles are verified: a public list has the
// pound and the yen the other way round.

import type { CatalogueSeries } from '../provider.ts'

export const TABLE = 'banxico'

/**
 * Each id with its currency, its name, a word of its title, and its range. The range is that of 2026-03-02 to 2026-03-13,
 * from a fifth below it to a quarter above.
 */
// biome-ignore format: a table
const SERIES = [
  ['SF43718', 'USD', 'Dólar E.U.A., FIX, fecha de determinación', 'FIX', '13', '23'],
  ['SF46410', 'EUR', 'Euro', 'Euro', '16', '26'],
  ['SF46407', 'GBP', 'Libra esterlina', 'esterlina', '18', '30'],
  ['SF46406', 'JPY', 'Yen japonés', 'japonés', '0.088', '0.15'],
  ['SF60632', 'CAD', 'Dólar canadiense', 'canadiense', '10', '17'],
] as const

export const SERIES_IDS: readonly string[] = SERIES.map(([id]) => id)

/** Returns the word that the title of a series must have; undefined: an unknown series. */
export function titleWord(id: string): string | undefined {
  return SERIES.find(([known]) => known === id)?.[3]
}

export const banxicoCatalogue: readonly CatalogueSeries[] = SERIES.map(
  ([id, currency, name, _word, low, high]) => ({
    externalCode: id,
    name,
    base: currency,
    quote: 'MXN',
    rateType: 'referencia',
    table: TABLE,
    plausibleRange: { low, high },
  }),
)
