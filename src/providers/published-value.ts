// Texts of published values: markers of a missing value, and numbers with commas between thousands.

const NO_VALUE = new Set(['', 'n/e', 'nd', 'na', 'n/a', 'n.d.', '.', '-', 'nan'])
const THOUSANDS = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/

/** Returns true for an empty text, and for a marker of a missing value in any case, such as `N/E`. */
export function noValue(text: string | null | undefined): boolean {
  return NO_VALUE.has(text?.trim().toLowerCase() ?? '')
}

/** Removes commas between thousands: `1,435.40` becomes `1435.40`. Other texts are unchanged, digits never change. */
export function withoutThousands(text: string): string {
  const number = text.trim()
  return THOUSANDS.test(number) ? number.replaceAll(',', '') : text
}
