// Indicators of the central bank that are known by name. Codes and names are those of the bank's catalogue of December
// 2019. The files are read on demand: few servers have indicators.

import { readAsset } from '../../../runtime/assets.ts'
import type { IndicatorKind, KnownIndicator } from '../../provider.ts'

const FOLDER = 'src/providers/bccr/indicators'
const DAILY = 'diaria'
const COUNTER_UNIT = 'CRC por USD'

/** Returns the indicators with a key, and the counter rates of entities. */
export function namedIndicators(): KnownIndicator[] {
  const keyed = readCells('named').map(([code = '', key, kind, name = '', unit, periodicity = DAILY]) => ({
    ...{ code, key, kind: kind as IndicatorKind, name, unit: unit || null, periodicity },
  }))
  const counters = readCells('counters').flatMap(([entity = '', group = '', compra, venta]) => [
    ...counterRate(entity, group, 'compra', compra),
    ...counterRate(entity, group, 'venta', venta),
  ])
  return [...keyed, ...counters]
}

/** Returns the names of the bank's catalogue by code. */
export function catalogueNames(): ReadonlyMap<string, string> {
  return new Map(readCells('daily').map(([code = '', name = '']) => [code, name]))
}

/** Returns all indicators, first the named ones. */
export function listedIndicators(): KnownIndicator[] {
  const first = namedIndicators()
  const codes = new Set(first.map(({ code }) => code))
  const others = [...catalogueNames()].filter(([code]) => !codes.has(code))
  return [
    ...first,
    ...others.map(([code, name]) => ({
      ...{ code, name, kind: 'other' as const, unit: null, periodicity: DAILY },
    })),
  ]
}

function counterRate(
  entity: string,
  group: string,
  side: 'compra' | 'venta',
  code: string | undefined,
): KnownIndicator[] {
  if (!code) return []
  const name = `${entity}: ${side} en ventanilla`
  return [{ code, kind: 'counter', name, unit: COUNTER_UNIT, periodicity: DAILY, entity, group, side }]
}

/** Rows of a file without its head. No cell has a comma. */
function readCells(name: string): string[][] {
  const lines = readAsset(`${FOLDER}/${name}.csv`).trimEnd().split('\n')
  return lines.slice(1).map((line) => line.split(','))
}
