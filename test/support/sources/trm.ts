// The open data of Colombia with the captured rows of the TRM.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { addDays } from '../../../src/values/dates.ts'
import { type Replay, startReplay } from './replay.ts'

type Row = { valor: string; vigenciadesde: string; vigenciahasta: string }

const FILE = join(import.meta.dirname, '../../fixtures/trm/trm-2026-03-16-24.json')
const WHERE = /^vigenciadesde <= '(.*)' AND vigenciahasta >= '(.*)'$/

/** Answers the rows that are published by now: each on the evening before its first day. Later days have the last value. */
export function startTrm(t: TestContext, now: () => Date): Promise<Replay> {
  const captured = JSON.parse(readFileSync(FILE, 'utf8')) as Row[]
  return startReplay(t, now, ({ url }) => {
    const [, to = '', from = ''] = WHERE.exec(url.searchParams.get('$where') ?? '') ?? []
    const rows = [...captured]
    const latest = new Date(now().getTime() + 86_400_000).toISOString().slice(0, 10)
    for (let last = rows.at(-1); last && last.vigenciahasta.slice(0, 10) < latest; last = rows.at(-1)) {
      const day = `${addDays(last.vigenciahasta.slice(0, 10), 1)}T00:00:00.000`
      rows.push({ ...last, vigenciadesde: day, vigenciahasta: day })
    }
    const validRows = rows.filter((one) => one.vigenciadesde <= to && one.vigenciahasta >= from)
    return { body: JSON.stringify(validRows.filter(({ vigenciadesde: day }) => day.slice(0, 10) <= latest)) }
  })
}
