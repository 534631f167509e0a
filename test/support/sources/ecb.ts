// The data API of the European Central Bank with the captured values.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Replay, startReplay } from './replay.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/ecb')
const [HEAD = '', ...WEEK] = readLines('reconstructed-exr-dataonly-2026-03-11.csv')

/** Returns the rows of a month, whose capture lacks the columns of the key. */
export function monthRows(): string[] {
  return readLines('exr-cut-2026-02-17.csv')
    .slice(1)
    .map((row) => {
      const [, currency = '', day = '', value = ''] = row.split(',')
      return `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${day},${value}`
    })
}

/** Answers days without a capture as a day without a value: a source of years has rows in each week. */
export function startEcb(t: TestContext, now: () => Date, rows: readonly string[] = WEEK): Promise<Replay> {
  return startReplay(t, now, ({ url: { searchParams } }) => {
    const [from, to] = ['startPeriod', 'endPeriod'].map((name) => searchParams.get(name) ?? '')
    const today = now().toISOString().slice(0, 10)
    const days = rows.filter((row) => {
      const day = row.split(',')[6] ?? ''
      return day >= (from ?? '') && day <= (to ?? '') && day <= today
    })
    if (days.length === 0) days.push(`EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,${from},`)
    const body = `${[HEAD, ...days].join('\r\n')}\r\n`
    return { headers: { 'Content-Type': 'text/csv' }, body }
  })
}

function readLines(name: string): string[] {
  return readFileSync(join(FOLDER, name), 'utf8').trimEnd().split(/\r?\n/)
}
