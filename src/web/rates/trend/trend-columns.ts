// Columns of the trend's table.

import { formats, texts } from '../../components/view.ts'
import type { TableColumn } from '../../model/files/table.ts'
import type { FigureFormat } from '../../model/formats.ts'
import type { Trend } from '../../model/rates/history.ts'

export type TrendColumn = {
  title: string
  kind: TableColumn['kind']
  values: readonly (string | undefined)[]
  format: FigureFormat
}

/** Columns beside the day: a value of each line, after its own day or index. */
export function trendColumns(trend: Trend, figure: FigureFormat): TrendColumn[] {
  const { indexTitle, day } = texts.value.history
  const formatDay = formats.value.day
  return trend.lines.flatMap(({ label, values, realValues, ownDays }, at): TrendColumn[] => {
    const line = { title: label, kind: 'number', values: realValues ?? values, format: figure } as const
    if (ownDays && at > 0)
      return [{ title: `${day} ${label}`, kind: 'day', values: ownDays, format: formatDay }, line]
    if (!realValues) return [line]
    return [{ title: indexTitle(label), kind: 'number', values, format: formats.value.cents }, line]
  })
}
