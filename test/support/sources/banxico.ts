// The SIE API of the Banco de México with the captured series.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Replay, startReplay } from './replay.ts'

type Series = { idSerie: string; titulo: string; datos?: { fecha: string; dato: string }[] }

const FILE = join(import.meta.dirname, '../../fixtures/banxico/sie-five-series-2026-03-01-15.json')
const PATH = /^\/SieAPIRest\/service\/v1\/series\/([\w,]+)\/datos\/([\d-]+)\/([\d-]+)$/

export const BANXICO_TOKEN = 'b'.repeat(64)

/** Answers the requested series, those without values without `datos`, and HTTP 401 for another token. */
export function startBanxico(t: TestContext, now: () => Date): Promise<Replay> {
  const { series } = (JSON.parse(readFileSync(FILE, 'utf8')) as { bmx: { series: Series[] } }).bmx
  return startReplay(t, now, ({ url, headers }) => {
    if (headers['bmx-token'] !== BANXICO_TOKEN) return { status: 401, body: '' }
    const [, ids = '', from = '', to = ''] = PATH.exec(url.pathname) ?? []
    const latest = [to, now().toISOString().slice(0, 10)].sort()[0] ?? to
    const isInWindow = ({ fecha }: { fecha: string }) => {
      const day = fecha.split('/').reverse().join('-')
      return day >= from && day <= latest
    }
    const answers = series
      .filter(({ idSerie }) => ids.split(',').includes(idSerie))
      .map(({ datos = [], ...names }) => {
        const rows = datos.filter(isInWindow)
        return rows.length > 0 ? { ...names, datos: rows } : names
      })
    return { body: JSON.stringify({ bmx: { series: answers } }) }
  })
}
