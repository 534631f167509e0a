// A row of the table: our figure beside a limit of the same run, on the same machine.

export type Figure = {
  work: string
  ours: string
  /** What we are held against: the least that could be done with the same bytes, or the runtime alone. */
  limit: string
  /** How we stand to it. */
  measured: number
  unit: '' | ' times' | ' MB' | ' ms'
  /** What the figure has to be; undefined: it is shown for comparison. */
  must?: { atLeast: number; aim?: number } | { atMost: number } | undefined
}

export const HEADING = '| Work | ours | limit | figure | must be | |\n|---|---|---|---|---|---|'

export function rowOf({ work, ours, limit, measured, unit, must }: Figure): string {
  const shown = unit === ' MB' ? `${measured < 0 ? '' : '+'}${measured.toFixed(0)}` : measured.toFixed(2)
  const met = !must || ('atLeast' in must ? measured >= must.atLeast : measured <= must.atMost)
  return `| ${work} | ${ours} | ${limit} | ${shown}${unit} | ${boundOf(must, unit)} | ${met ? '' : 'MISSED'} |`
}

function boundOf(must: Figure['must'], unit: string): string {
  if (!must) return ''
  if ('atMost' in must) return `at most ${unit === ' MB' ? '+' : ''}${must.atMost}${unit}`
  return `at least ${must.atLeast}${must.aim === undefined ? '' : `, aim ${must.aim}`}`
}

/** The middle one, so that a moment of a busy machine does not decide. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
