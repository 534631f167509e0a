// Positions of exchange differences, stored in this browser for this server. Requests have their amounts, codes, sides
// and days alone.

import { POSITIONS_KEY } from '../../api/session.ts'
import { isDay } from '../../model/days.ts'
import type { Position } from '../../model/rates/differential.ts'

export const MAX_POSITIONS = 5000

export function readPositions(): Position[] {
  try {
    return parsePositions(localStorage.getItem(POSITIONS_KEY) ?? '[]')
  } catch {
    return [] // the browser forbids storage
  }
}

/** @returns false if the browser forbids storage */
export function storePositions(positions: readonly Position[]): boolean {
  try {
    if (positions.length === 0) localStorage.removeItem(POSITIONS_KEY)
    else localStorage.setItem(POSITIONS_KEY, JSON.stringify(positions))
    return true
  } catch {
    return false
  }
}

/** Returns the valid positions of stored JSON, numbered from 1. */
export function parsePositions(json: string): Position[] {
  let list: unknown
  try {
    list = JSON.parse(json)
  } catch {
    return [] // another program wrote it
  }
  if (!Array.isArray(list)) return []
  const valid = (list as Partial<Position>[]).filter(isPosition)
  return valid.slice(0, MAX_POSITIONS).map((position, index) => ({ ...position, id: index + 1 }))
}

function isPosition(candidate: Partial<Position> | null): candidate is Position {
  const { detail, type, balance, currency, day } = candidate ?? {}
  return (
    typeof detail === 'string' &&
    (type === 'asset' || type === 'liability') &&
    /^-?\d{1,40}(\.\d{1,20})?$/.test(String(balance)) &&
    /^[A-Z]{3}$/.test(String(currency)) &&
    isDay(String(day))
  )
}
