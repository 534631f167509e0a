// A bank in memory that answers as another cambista. Days that it has not synchronized are an error; a table omits
// series that lack some of them.

import {
  type FetchRequest,
  type SourceAnswer,
  UnsynchronizedFailure,
} from '../../../src/providers/provider.ts'
import { addDays, earliest, type IsoDate, latest } from '../../../src/values/dates.ts'
import { addInterval, type Interval } from '../../../src/values/intervals.ts'
import type { MemoryBank } from './memory-bank.ts'

export type Holes = Record<string, readonly Interval[]>

/** Removes these days from the bank, by code; `first` is the first day that it has synchronized. */
export function mirrorHoles(bank: MemoryBank, holes: Holes, first: IsoDate = '1900-01-01'): void {
  const before = { from: '1900-01-01', to: first }
  const allHoles = (code: string) =>
    first === before.from
      ? (holes[code] ?? [])
      : addInterval([...(holes[code] ?? [])], { from: before.from, to: addDays(first, -1) })
  bank.fault = (ask, usual) => mirrorAnswer(ask, usual, allHoles)
}

function mirrorAnswer(
  { table, indicator, window }: FetchRequest,
  usual: () => SourceAnswer,
  holesOf: (code: string) => readonly Interval[],
): SourceAnswer {
  const windowHoles = (code: string) =>
    holesOf(code).flatMap(({ from, to }) => {
      const hole = { from: latest(from, window.from), to: earliest(to, window.to) }
      return hole.from <= hole.to ? [hole] : []
    })
  const refuse = (holes: readonly Interval[]): never => {
    const days = [...holes].sort((a, b) => (a.from < b.from ? -1 : 1)).reduce<Interval[]>(addInterval, [])[0]
    if (!days) throw new Error('there is no hole')
    throw new UnsynchronizedFailure(`${indicator ?? table}: HTTP 503`, days)
  }
  if (indicator !== undefined)
    return windowHoles(indicator).length > 0 ? refuse(windowHoles(indicator)) : usual()
  const answer = usual()
  const codes = answer.listed.map(({ code }) => code)
  const leftOut = codes.filter((code) => windowHoles(code).length > 0)
  if (leftOut.length === 0) return answer
  if (leftOut.length === codes.length) return refuse(codes.flatMap(windowHoles))
  return {
    listed: answer.listed.filter(({ code }) => !leftOut.includes(code)),
    observations: answer.observations.filter(({ code }) => !leftOut.includes(code)),
    leftOut,
  }
}
