// Matches the titles of a file with indicators (upstream 5). Whole titles are compared. The bank has other rates of
// purchase and sale, of counters and of markets, with similar titles.

import { plainName } from '../../plain-name.ts'

export type SeriesName = { code: string; name: string }

const SMALL_WORDS = /\b(de|del|la|el|los|las|en)\b/g
const DOLLAR = 'dolar estados unidos america'
const DOLLAR_TABLE = `tipo cambio compra y venta ${DOLLAR}`
const DOLLAR_SIDES: Record<string, string> = { 317: 'compra', 318: 'venta' }

/** Returns the series of a title. `headings` are the texts above the table: below some of them, `Compra` is the dollar's. */
export function findSeries<T extends SeriesName>(
  title: string,
  headings: readonly string[],
  series: readonly T[],
): T | undefined {
  const words = titleWords(title)
  const isDollarTable = headings.some((heading) => titleWords(heading) === DOLLAR_TABLE)
  return series.find(({ code, name }) => {
    if (words === code || words === titleWords(name)) return true
    const side = DOLLAR_SIDES[code]
    if (side === undefined) return false
    const whole = `tipo cambio ${side}`
    return (
      [whole, `${whole} dolar`, `${whole} ${DOLLAR}`].includes(words) || (isDollarTable && words === side)
    )
  })
}

/** Removes accents, signs and small words. */
function titleWords(text: string): string {
  return plainName(
    plainName(text)
      .replace(/[^a-z0-9]+/g, ' ')
      .replace(SMALL_WORDS, ' '),
  )
}
