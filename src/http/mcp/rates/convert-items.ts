// Conversions of the tool `convert` with `items`. Each is validated and answered like an element of POST /convert/batch.
// A day after tomorrow is an error, as in the other tools.

import { convertAmount, loadRouteColumns } from '../../../domain/rates/conversions.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import { currentDay } from '../../../values/dates.ts'
import { isJsonObject } from '../../../values/json-object.ts'
import { type ConversionGroup, createCheck, type Element, FIELDS } from '../../figures/batch-check.ts'
import { type BatchElement, MAX_UNKNOWN, NOT_AN_OBJECT } from '../../figures/batch-reader.ts'
import { conversionOut } from '../../figures/conversion.ts'
import { fitRows, oneLine } from '../protocol/answers.ts'
import type { ToolResult } from '../protocol/tool.ts'
import { answeredDay, type RateToolDeps } from './parameters.ts'

type Field = (typeof FIELDS)[number]

/** Fields of items that have none of their own, as text. */
export type ItemDefaults = Partial<Record<Field, string | undefined>>

const KNOWN: readonly string[] = ['id', ...FIELDS]

/**
 * Converts each item on one snapshot.
 * @throws AppError `invalid` for an answer over 32 KB; `busy` while the rates are being changed
 */
export async function convertItems(
  { cache, clock }: RateToolDeps,
  items: readonly unknown[],
  { details, defaults }: { details: boolean; defaults: ItemDefaults },
): Promise<ToolResult> {
  const groups = new Map<string, ConversionGroup<never>>()
  const check = createCheck(groups, currentDay(clock))
  const elements = items.map((item, at) => check(toElement(item, defaults), at))
  const ways = Array.from(groups.values(), ({ way }) => way)
  const snapshot = await cache.read((present) => loadRouteColumns(present, ways))
  const results: Record<string, unknown>[] = []
  for (const element of elements) {
    const id = element.id === undefined ? {} : { id: JSON.parse(element.id) }
    results.push({ ...id, ...(await answerItem(snapshot, element, { clock, details })) })
  }
  if (fitRows(results).hasMore) {
    throw new AppError('invalid', 'The answer would be larger than 32 KB: send fewer items')
  }
  const errorCount = results.filter(({ error }) => error !== undefined).length
  const reasons = errorCount > 0 ? '; error has the reason of each other one' : ''
  return {
    value: { results },
    sentence: `${results.length - errorCount} of ${results.length} items converted${reasons}.`,
  }
}

/** Returns a conversion, or its error as text. */
async function answerItem(
  snapshot: RateSnapshot,
  element: Element<never>,
  { clock, details }: Pick<RateToolDeps, 'clock'> & { details: boolean },
): Promise<Record<string, unknown>> {
  try {
    if ('error' in element) throw element.error
    const { group, amount, rounding } = element
    const day = answeredDay(element.day, clock)
    const conversion = await convertAmount(snapshot, { ...group.way, amount, day, rounding })
    return conversionOut(conversion, { ...group.way, amount, details })
  } catch (error) {
    if (error instanceof AppError) return { error: oneLine(error.message), reason: error.reason }
    throw error
  }
}

/** Reads an item as the batch of the API reads an element. */
function toElement(item: unknown, defaults: ItemDefaults): BatchElement | typeof NOT_AN_OBJECT {
  if (!isJsonObject(item)) return NOT_AN_OBJECT
  const { id = null } = item
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  const unknownFields = Object.entries(item)
    .filter(([name]) => !KNOWN.includes(name))
    .slice(0, MAX_UNKNOWN)
    .map(([name, value]) => [name, fieldText(value) ?? ''])
  return {
    id: isId ? JSON.stringify(id) : undefined,
    badId: !isId && id !== null,
    texts: FIELDS.map((name) => fieldText(item[name]) || defaults[name]), // an empty text counts as absent
    unknown: unknownFields.length === 0 ? undefined : Object.fromEntries(unknownFields),
  }
}

/** Null counts as absent. No field is valid with the text of a list or an object. */
function fieldText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object') return Array.isArray(value) ? '[]' : '{}'
  return String(value)
}
