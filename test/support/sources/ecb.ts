// The data API of the European Central Bank with the captured values.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Replay, startReplay } from './replay.ts'

const FILE = join(import.meta.dirname, '../../fixtures/ecb/reconstructed-exr-dataonly-2026-03-11.csv')

/** Answers an empty body for days without a value. */
export function startEcb(t: TestContext, now: () => Date): Promise<Replay> {
  const [head = '', ...rows] = readFileSync(FILE, 'utf8').trimEnd().split('\r\n')
  return startReplay(t, now, ({ url: { searchParams } }) => {
    const [from, to] = ['startPeriod', 'endPeriod'].map((name) => searchParams.get(name) ?? '')
    const today = now().toISOString().slice(0, 10)
    const days = rows.filter((row) => {
      const day = row.split(',')[6] ?? ''
      return day >= (from ?? '') && day <= (to ?? '') && day <= today
    })
    const body = days.length > 0 ? `${[head, ...days].join('\r\n')}\r\n` : ''
    return { headers: { 'Content-Type': 'text/csv' }, body }
  })
}
