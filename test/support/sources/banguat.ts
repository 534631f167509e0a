// The service of the Banco de Guatemala with the captured rows.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Replay, startReplay } from './replay.ts'

const FILE = join(import.meta.dirname, '../../fixtures/banguat/tipocambiorango-2026-03-01-20.xml')
const DAYS = /<fechainit>(.*)<\/fechainit>\s*<fechafin>(.*)<\/fechafin>/

export function startBanguat(t: TestContext, now: () => Date): Promise<Replay> {
  const captured = readFileSync(FILE, 'utf8')
  const [start = '', end = ''] = captured.split(/<Var>.*<\/Var>/)
  const rows = captured.match(/<Var>.*?<\/Var>/g) ?? []
  const isoDay = (text = '') => text.split('/').reverse().join('-')
  return startReplay(t, now, ({ body }) => {
    const [, from, to] = DAYS.exec(body) ?? []
    const days = rows.filter((row) => {
      const day = isoDay(/<fecha>(.*)<\/fecha>/.exec(row)?.[1])
      return day >= isoDay(from) && day <= isoDay(to) && day <= now().toISOString().slice(0, 10)
    })
    const total = end.replace(/<TotalItems>\d+/, `<TotalItems>${days.length}`)
    return { headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body: start + days.join('') + total }
  })
}
