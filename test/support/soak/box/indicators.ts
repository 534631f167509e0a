// Readers of indicators: each value proves its code and day.

import type { Indicator } from '../../../../src/demo/books.ts'
import type { IsoDate } from '../../../../src/values/dates.ts'
import { count, fault, request, rest, type Soak } from '../world.ts'

/** Indicators of the bank in the soak; their values are those of `indicatorValue`. */
export const INDICATORS: readonly Indicator[] = ['900001', '900002', '900003'].map((code) => ({
  ...{ code, name: `Indicador ${code}` },
}))

type Point = { date: string; value: string }

/** Value of an indicator on a day, with the digits of both. */
export function indicatorValue(code: string, day: IsoDate): string {
  return `${Number(code) - 900_000}.${day.replaceAll('-', '')}1` // the 1 prevents a trailing zero
}

/** Reads values and histories until the soak is over. */
export async function readIndicators(soak: Soak, key: string): Promise<void> {
  const { random } = soak
  const headers = { 'x-api-key': key }
  while (!soak.isOver) {
    await rest(soak, 50, 300)
    const { code } = random.item(INDICATORS)
    const isLatest = random.chance(0.5)
    const path = `/api/v1/indicators/${code}/${isLatest ? 'latest' : 'history'}`
    const answer = await request(soak, 'indicator', path, { headers })
    if (answer?.status !== 200) continue // not read yet: the count at the end shows that it was later
    const body = JSON.parse(`${answer.body}`) as { value_date: string; value: string; points?: Point[] }
    for (const { date, value } of body.points ?? [{ ...body, date: body.value_date }]) {
      if (value !== indicatorValue(code, date)) fault(soak, `${path}: ${value} of ${date}`)
      count(soak, 'values of indicators compared')
    }
  }
}
