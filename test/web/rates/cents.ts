// An independent reckoning of rounded amounts.

/** Cents of an unrounded result, half away from zero. */
export function toCents(result: string, sign = 1n): bigint {
  const [whole = '', fraction = ''] = result.split('.')
  const thousandths = BigInt(whole + fraction.padEnd(3, '0').slice(0, 3))
  return sign * ((thousandths + 5n) / 10n)
}

/** Cents as the page writes them in Spanish. */
export function spanish(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  const text = `${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ' ')},${digits.slice(-2)}`
  return cents < 0n ? `(${text})` : text
}
