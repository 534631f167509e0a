// Loads the history that the chart compares with: another currency, or other years of the pair.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { HistoryResponse } from '../../api/responses.ts'
import { useApi } from '../../components/use-api.ts'
import { formats, view } from '../../components/view.ts'
import { addMonths } from '../../model/days.ts'
import type { ComparedLine } from '../../model/rates/comparison.ts'
import type { Trend } from '../../model/rates/history.ts'
import { mergeHoles } from '../../model/rates/holes.ts'
import type { PairRange } from '../published-values.ts'
import { dayHistoryPath, type LoadedHistory } from './loaded-history.ts'

type Model = typeof import('../../model/rates/comparison.ts')

export type ComparedHistory = {
  /** Undefined: not loaded, or `isMissing`. */
  trend?: Trend | undefined
  /** The pair that is compared with, its days, and whether it has no values. */
  range: PairRange
  isMissing: boolean
  isLoading: boolean
}

/** @param last last day with values @returns undefined if nothing is compared */
export function useComparison(loaded: LoadedHistory | undefined, last: string): ComparedHistory | undefined {
  const { compare, side } = view.value
  const target = loaded && comparisonTarget(loaded, compare, last)
  const { model, isFailed } = useModel(target !== undefined)
  const { value, failure } = useApi<HistoryResponse>(target && dayHistoryPath(target.pair, side, target))
  const { currency } = formats.value
  const trend = useMemo(() => {
    if (!target || !model || !value) return undefined
    const main = loaded.lines.find(({ name }) => name === side) ?? loaded.lines[0]
    const { years } = target
    const compared = years
      ? model.compareYears(main?.points ?? [], value.points, years)
      : model.compareCurrencies(main?.points ?? [], value.points)
    if (!compared) return undefined
    const label = (line: ComparedLine, code: string | undefined) =>
      years ? yearsText(line.points) : (currency(code ?? '') ?? code ?? '')
    const [mainLine, otherLine] = compared.lines
    const { holes } = mergeHoles([loaded.missing.holes, years ? undefined : value.holes])
    const trend: Trend = {
      ...{ days: compared.days, holes },
      lines: [
        { ...mainLine, name: 'main', label: label(mainLine, loaded.pair.split('/')[0]) },
        { ...otherLine, name: 'other', label: label(otherLine, compare) },
      ],
    }
    return trend
  }, [loaded, target?.pair, target?.years, value, model, side, currency])
  if (!target) return undefined
  const isMissing =
    isFailed || failure !== undefined || (value !== undefined && model !== undefined && !trend)
  return { trend, range: target, isMissing, isLoading: !trend && !isMissing }
}

type Target = PairRange & { years: number }

/** History to compare with, for the days of the loaded one; undefined: none. */
function comparisonTarget({ pair, data }: LoadedHistory, compare: string, last: string): Target | undefined {
  const [base, quote = ''] = pair.split('/')
  const [from, to] = [data.days[0], data.days.at(-1)]
  if (compare === '' || from === undefined || to === undefined) return undefined
  if (!/^\d/.test(compare)) {
    const isSame = compare === base || compare === quote
    return isSame ? undefined : { pair: `${compare}/${quote}`, from, to, years: 0 }
  }
  const years = Number(compare) - Number(to.slice(0, 4))
  if (years === 0) return undefined
  const [first = '', end = ''] = [from, to].map((day) => addMonths(day, 12 * years))
  if (first > last) return undefined
  return { pair, from: first, to: end < last ? end : last, years }
}

/** Year of the points, or the first and the last one. */
function yearsText(points: ComparedLine['points']): string {
  const years = [points[0], points.at(-1)].map((point) => point?.date.slice(0, 4))
  return [...new Set(years)].join('–')
}

/** Fetches the file that compares when it is first needed. */
function useModel(isNeeded: boolean): { model?: Model; isFailed?: true } {
  const [state, setState] = useState<{ model?: Model; isFailed?: true }>({})
  useEffect(() => {
    if (!isNeeded || state.model) return
    import('../../model/rates/comparison.ts').then(
      (model) => setState({ model }),
      () => setState({ isFailed: true }), // without a connection the chart shows the pair alone
    )
  }, [isNeeded])
  return state
}
