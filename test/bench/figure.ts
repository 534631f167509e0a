// A row of the table: our figure beside a limit of the same run, on the same machine.

export type Figure = {
  work: string
  ours: string
  /** Limit: the least possible work with the same bytes, or the runtime alone. */
  limit: string
  /** Ratio to the limit. */
  measured: number
  /** The same ratio in processor time of the two servers. */
  processor?: number | undefined
  unit: '' | ' times' | ' MB' | ' ms'
  /** Required bound of the ratio; undefined: shown for comparison. */
  must?: { atLeast: number; aim?: number } | { atMost: number } | undefined
}

export const HEADING =
  '| Work | ours | limit | figure | processor | must be | |\n|---|---|---|---|---|---|---|'

export function figureRow({ work, ours, limit, measured, processor, unit, must }: Figure): string {
  const result = unit === ' MB' ? `${measured < 0 ? '' : '+'}${measured.toFixed(0)}` : measured.toFixed(2)
  const isWithinBound = !must || ('atLeast' in must ? measured >= must.atLeast : measured <= must.atMost)
  return `| ${work} | ${ours} | ${limit} | ${result}${unit} | ${processor?.toFixed(2) ?? ''} | ${formatBound(must, unit)} | ${isWithinBound ? '' : 'MISSED'} |`
}

function formatBound(must: Figure['must'], unit: string): string {
  if (!must) return ''
  if ('atMost' in must) return `at most ${unit === ' MB' ? '+' : ''}${must.atMost}${unit}`
  return `at least ${must.atLeast}${must.aim === undefined ? '' : `, aim ${must.aim}`}`
}

/** Returns the median, so that a moment of a busy machine does not decide. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
