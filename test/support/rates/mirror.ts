// A bank on memory that answers as another cambista: days that it has not synchronized are an error, and a table leaves out
// the series that lack some.

import { addDays, earliest, type IsoDate, latest } from '../../../src/dates.ts'
import { type Interval, joined } from '../../../src/intervals.ts'
import { type Answer, type FetchRequest, UnsynchronizedFailure } from '../../../src/providers/provider.ts'
import type { MemoryBank } from './memory-bank.ts'

export type Holes = Record<string, readonly Interval[]>

/** From now on the bank lacks these days, by code; `first` is the first day of all that it has synchronized. */
export function mirrorHoles(bank: MemoryBank, holes: Holes, first: IsoDate = '1900-01-01'): void {
  const before = { from: '1900-01-01', to: first }
  const holesOf = (code: string) =>
    first === before.from
      ? (holes[code] ?? [])
      : joined([...(holes[code] ?? [])], { from: before.from, to: addDays(first, -1) })
  bank.fault = (ask, usual) => answerOf(ask, usual, holesOf)
}

function answerOf(
  { table, indicator, window }: FetchRequest,
  usual: () => Answer,
  holesOf: (code: string) => readonly Interval[],
): Answer {
  const holesIn = (code: string) =>
    holesOf(code).flatMap(({ from, to }) => {
      const hole = { from: latest(from, window.from), to: earliest(to, window.to) }
      return hole.from <= hole.to ? [hole] : []
    })
  const refuse = (holes: readonly Interval[]): never => {
    const days = [...holes].sort((a, b) => (a.from < b.from ? -1 : 1)).reduce<Interval[]>(joined, [])[0]
    if (!days) throw new Error('there is no hole')
    throw new UnsynchronizedFailure(`${indicator ?? table}: HTTP 503`, days)
  }
  if (indicator !== undefined) return holesIn(indicator).length > 0 ? refuse(holesIn(indicator)) : usual()
  const answer = usual()
  const codes = answer.listed.map(({ code }) => code)
  const leftOut = codes.filter((code) => holesIn(code).length > 0)
  if (leftOut.length === 0) return answer
  if (leftOut.length === codes.length) return refuse(codes.flatMap(holesIn))
  return {
    listed: answer.listed.filter(({ code }) => !leftOut.includes(code)),
    observations: answer.observations.filter(({ code }) => !leftOut.includes(code)),
    leftOut,
  }
}
