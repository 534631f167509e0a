// Histories of pairs, never asked before: the exact monthly means of 40 years, of crosses through the dollar with divisions.

import { type Figure, median } from '../figure.ts'
import { startProgram } from '../process.ts'

const QUOTES = [
  'EUR',
  'GBP',
  'JPY',
  'CHF',
  'CAD',
  'AUD',
  'SEK',
  'NOK',
  'DKK',
  'MXN',
  'BRL',
  'COP',
  'KRW',
  'CNY',
]
const YEARS = 'from=1983-01-01&to=2022-12-31'
const LIMIT_MS = 20

/** `dataDir` has the history since 1983. */
export async function measureHistories(dataDir: string, key: string): Promise<Figure[]> {
  const server = await startProgram(dataDir)
  const ask = async (query: string) => {
    const began = performance.now()
    const url = `http://127.0.0.1:${server.port}/api/v1/history?${query}`
    const response = await fetch(url, { headers: { 'X-API-Key': key } })
    const { count } = (await response.json()) as { count: number }
    if (count === 0) throw new Error(`${query} has no points`)
    return performance.now() - began
  }
  const timed = async (what: string) => {
    const times: number[] = []
    for (const quote of QUOTES) times.push(await ask(`base=CRC&quote=${quote}&${YEARS}&${what}`))
    return times
  }
  await timed('every=year&stat=low') // the columns are read
  const means = await timed('every=month&stat=mean')
  const days = await timed('every=day')
  await server.stop()
  return [
    figureOf('monthly means of 40 years of a cross, never asked before', means, { atMost: LIMIT_MS }),
    figureOf('each day of 40 years of a cross, never asked before', days),
  ]
}

function figureOf(work: string, times: readonly number[], must?: Figure['must']): Figure {
  const measured = median(times)
  const ours = `${measured.toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms`
  return { work, ours, limit: must ? `${LIMIT_MS} ms` : 'none', measured, unit: ' ms', must }
}
