// Which indicator a title of a file names (upstream 5). Titles are compared whole: the bank has many other rates of purchase
// and sale, of counters and of markets, whose titles begin alike.

import { plainName } from '../../plain-name.ts'

export type Named = { code: string; name: string }

const SMALL_WORDS = /\b(de|del|la|el|los|las|en)\b/g
const DOLLAR = 'dolar estados unidos america'
const DOLLAR_TABLE = `tipo cambio compra y venta ${DOLLAR}`
const DOLLAR_SIDES: Record<string, string> = { 317: 'compra', 318: 'venta' }

/** The series that a title names. `headings` are the texts above, by which `Compra` may be that of the dollar. */
export function seriesNamed<T extends Named>(
  title: string,
  headings: readonly string[],
  series: readonly T[],
): T | undefined {
  const words = wordsOf(title)
  const isDollarTable = headings.some((heading) => wordsOf(heading) === DOLLAR_TABLE)
  return series.find(({ code, name }) => {
    if (words === code || words === wordsOf(name)) return true
    const side = DOLLAR_SIDES[code]
    if (side === undefined) return false
    const whole = `tipo cambio ${side}`
    return (
      [whole, `${whole} dolar`, `${whole} ${DOLLAR}`].includes(words) || (isDollarTable && words === side)
    )
  })
}

/** Without accents, signs and small words. */
function wordsOf(text: string): string {
  return plainName(
    plainName(text)
      .replace(/[^a-z0-9]+/g, ' ')
      .replace(SMALL_WORDS, ' '),
  )
}
