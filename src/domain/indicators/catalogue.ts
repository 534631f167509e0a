// Describes indicators: the stored rows together with the facts that are shipped.

import type { IndicatorKind, KnownIndicator } from '../../providers/provider.ts'
import type { StoredIndicator } from '../../store/indicators/indicators.ts'
import type { ValueDays } from '../../store/indicators/values.ts'
import type { IsoDate } from '../../values/dates.ts'

/** An indicator as answers and lists show it. `name` null: no answer has it yet. */
export type DescribedIndicator = {
  provider: string
  code: string
  key?: string
  name: string | null
  kind: IndicatorKind
  unit: string | null
  periodicity: string | null
  entity?: string
  side?: 'compra' | 'venta'
  first_date: IsoDate | null
  newest_date: IsoDate | null
  enabled: boolean
}

/** Describes the stored indicators, in their order. */
export function describeIndicators(
  provider: string,
  rows: readonly StoredIndicator[],
  { days, named }: { days: ReadonlyMap<string, ValueDays>; named: readonly KnownIndicator[] },
): DescribedIndicator[] {
  const byCode = new Map(named.map((one) => [one.code, one]))
  return rows.map(({ code, name, unit, periodicity, enabled }) => {
    const facts = byCode.get(code)
    const { first = null, newest = null } = days.get(code) ?? {}
    return {
      ...describeKnown(provider, facts ?? { code, kind: 'other', name: '', unit: null, periodicity: '' }),
      ...{ name, unit, periodicity, first_date: first, newest_date: newest, enabled },
    }
  })
}

/** Describes an indicator that was never enabled. */
export function describeKnown(provider: string, known: KnownIndicator): DescribedIndicator {
  const { code, key, name, kind, unit, periodicity, entity, side } = known
  return {
    ...{ provider, code, ...(key !== undefined && { key }), name, kind, unit, periodicity },
    ...(entity !== undefined && { entity }),
    ...(side !== undefined && { side }),
    ...{ first_date: null, newest_date: null, enabled: false },
  }
}
