// Series of the Banco de México, pesos per unit of a currency. Each answer's titles are verified: a public list has the
// pound and the yen the other way round.

import type { CatalogueSeries } from '../provider.ts'

export const TABLE = 'banxico'

/** Each id with its currency, its name, and a word of its title. */
// biome-ignore format: a table
const SERIES = [
  ['SF43718', 'USD', 'Dólar E.U.A., FIX, fecha de determinación', 'FIX'],
  ['SF46410', 'EUR', 'Euro', 'Euro'],
  ['SF46407', 'GBP', 'Libra esterlina', 'esterlina'],
  ['SF46406', 'JPY', 'Yen japonés', 'japonés'],
  ['SF60632', 'CAD', 'Dólar canadiense', 'canadiense'],
] as const

export const SERIES_IDS: readonly string[] = SERIES.map(([id]) => id)

/** Returns the word that the title of a series must have; undefined: an unknown series. */
export function titleWord(id: string): string | undefined {
  return SERIES.find(([known]) => known === id)?.[3]
}

export const banxicoCatalogue: readonly CatalogueSeries[] = SERIES.map(([id, currency, name]) => ({
  externalCode: id,
  name,
  base: currency,
  quote: 'MXN',
  rateType: 'referencia',
  unit: `MXN por ${currency}`,
  periodicity: 'diaria',
  table: TABLE,
  plausibleRange: undefined,
}))
