import type { BenchmarkSide } from '../../domain/rates/freshness.ts'

/** Encodes the newest value of a side. */
export function sideOut({ rateType, newest, ageDays }: BenchmarkSide) {
  return { rate_type: rateType, newest: newest ?? null, age_days: ageDays ?? null }
}
