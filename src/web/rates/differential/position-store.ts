// Positions of exchange differences, stored in this browser for this server. Requests have their amounts, codes, sides
// and days alone.

import { POSITIONS_KEY } from '../../api/session.ts'
import { readStored, writeStored } from '../../api/storage.ts'
import { isDay } from '../../model/days.ts'
import type { Position } from '../../model/rates/differential.ts'

export const MAX_POSITIONS = 5000

export function readPositions(): Position[] {
  return parsePositions(readStored(POSITIONS_KEY) ?? '[]')
}

/** @returns false if the browser forbids storage */
export function storePositions(positions: readonly Position[]): boolean {
  return writeStored(POSITIONS_KEY, positions.length === 0 ? null : JSON.stringify(positions))
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
