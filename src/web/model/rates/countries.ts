// Names of the countries that use a currency, in both languages, for the search.

/** Countries of currencies that more than one country uses. */
const COUNTRIES: Record<string, string> = {
  EUR: 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK EU',
  USD: 'US EC PA PR SV',
  CHF: 'CH LI',
  XDR: '',
}

let regions: readonly Intl.DisplayNames[] | undefined

/** Returns the names of the countries. The code of a currency begins with that of its country. */
export function countryNames(code: string): string[] {
  regions ??= ['es-CR', 'en'].map(
    (locale) => new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' }),
  )
  const countries = (COUNTRIES[code] ?? code.slice(0, 2)).split(' ').filter((country) => country !== '')
  return regions.flatMap((names) => countries.map((country) => names.of(country) ?? ''))
}
