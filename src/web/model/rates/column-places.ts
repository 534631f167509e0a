// Decimals of a column: two, or for crosses below 10 as many as give six significant digits (page2.md 2.4).

const MIN_PLACES = 2
const MAX_PLACES = 12
const SIGNIFICANT = 6

/** Places for all figures of a column, by its largest. Other texts are ignored. */
export function figurePlaces(values: readonly string[]): number {
  const magnitudes = values.flatMap((value) => magnitude(value) ?? [])
  if (magnitudes.length === 0) return MIN_PLACES
  const largest = magnitudes.reduce((most, one) => Math.max(most, one))
  if (largest > 1) return MIN_PLACES
  return Math.min(MAX_PLACES, SIGNIFICANT - largest)
}

/** Number of characters of a figure that is written with its groups and some places. */
export function groupedLength(value: string, places: number): number {
  const [whole = ''] = value.split('.')
  const digits = whole.replace('-', '').length
  return whole.length + Math.floor((digits - 1) / 3) + (places > 0 ? places + 1 : 0)
}

/** Digits before the point; of a figure below one, minus the zeros behind it. Undefined: no figure, or zero. */
function magnitude(value: string): number | undefined {
  const [, whole = '', fraction = ''] = /^-?0*(\d*)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole !== '') return whole.length
  const first = fraction.search(/[1-9]/)
  return first < 0 ? undefined : -first
}
