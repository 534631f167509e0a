// Validates the elements of a batch like the parameters of GET /convert. Elements that differ only in day and amount
// form a group, and each group and text is validated once.

import * as v from 'valibot'
import type { RouteQuery } from '../../domain/rates/conversions.ts'
import type { AppError } from '../../runtime/errors.ts'
import type { IsoDate } from '../../values/dates.ts'
import { positiveAmount, type RoundingRule } from '../../values/decimal.ts'
import { invalidParameters, type ValidationItem } from '../endpoint/error-shape.ts'
import { roundingAlone, roundingRule, validate } from '../endpoint/params.ts'
import { addUnknownParameters } from '../endpoint/unknown-parameters.ts'
import { type BatchElement, NOT_AN_OBJECT } from './batch-reader.ts'
import { CONVERSION } from './conversion.ts'

/** The fields of an element beside its id, in the order of the texts of createBatchReader. */
export const FIELDS = ['amount', 'from', 'to', 'type', 'on', 'provider', 'decimals', 'rounding'] as const
const FIELDS_WITH_ID = [...FIELDS, 'id']

const Fields = v.object(CONVERSION)

/** Elements of the same currencies, side and provider; `days` are those that are answered, with what each has in common. */
export type ConversionGroup<K> = { way: RouteQuery; days: Map<IsoDate, K> }

export type Element<K> = { id: string | undefined } & (
  | { group: ConversionGroup<K>; day: IsoDate; amount: string; rounding: RoundingRule | undefined }
  | { error: AppError }
)

/** Checks one element after the other; their groups are put into `groups`. */
export function createCheck<K>(groups: Map<string, ConversionGroup<K>>, today: IsoDate) {
  const [parseFrom, parseTo] = [createParser(CONVERSION.from), createParser(CONVERSION.to)]
  const [parseType, parseOn, parseProvider] = [
    createParser(CONVERSION.type),
    createParser(CONVERSION.on),
    createParser(CONVERSION.provider),
  ]
  const [parseDecimals, parseRounding] = [
    createParser(CONVERSION.decimals),
    createParser(CONVERSION.rounding),
  ]
  return (element: BatchElement | typeof NOT_AN_OBJECT, at: number): Element<K> => {
    if (element === NOT_AN_OBJECT) {
      const item = { loc: ['body', at], msg: 'must be an object with amount, from and to', type: 'object' }
      return { id: undefined, error: invalidParameters([item]) }
    }
    const { id, texts } = element
    const amount = positiveAmount(texts[0] ?? '')
    const [from, to, type] = [parseFrom(texts[1]), parseTo(texts[2]), parseType(texts[3])]
    const [on, provider] = [parseOn(texts[4]), parseProvider(texts[5])]
    const [decimals, mode] = [parseDecimals(texts[6]), parseRounding(texts[7])]
    const isAlone = texts[6] === undefined && texts[7] !== undefined
    const isWrong = element.badId || element.unknown !== undefined || isAlone
    if (isWrong || !amount || !from || !to || !type || !on || !provider || !decimals || !mode) {
      return { id, error: invalidParameters(validateElement(element)) }
    }
    const way = { from: from.value, to: to.value, type: type.value, provider: provider.value }
    const key = `${way.from} ${way.to} ${way.type} ${way.provider}` // only the last may have a space
    const group = groups.getOrInsertComputed(key, () => ({ way, days: new Map() }))
    const rounding = roundingRule(decimals.value, mode.value)
    return { id, group, day: on.value ?? today, amount, rounding }
  }
}

/** Parses the texts of a field; undefined: invalid. Repeated texts are parsed once. */
function createParser<S extends v.GenericSchema>(
  schema: S,
): (text: string | undefined) => { value: v.InferOutput<S> } | undefined {
  const cache = new Map<string | undefined, { value: v.InferOutput<S> } | undefined>()
  return (text) =>
    cache.getOrInsertComputed(text, () => {
      const { success, output } = v.safeParse(schema, text)
      return success ? { value: output } : undefined
    })
}

function validateElement({ texts, unknown = {}, badId }: BatchElement): ValidationItem[] {
  const faults: ValidationItem[] = []
  const parameters: Record<string, string> = {}
  for (const [at, name] of FIELDS.entries()) {
    const text = texts[at]
    if (text !== undefined) parameters[name] = text
  }
  const { decimals, rounding } = validate(Fields, 'query', parameters, faults)
  if (faults.length === 0 && rounding !== undefined && decimals === undefined)
    faults.push(roundingAlone(rounding))
  addUnknownParameters(unknown, FIELDS_WITH_ID, faults, { ignoresCacheBusters: false })
  if (badId) faults.push({ loc: ['query', 'id'], msg: 'id must be a text or an integer', type: 'id' })
  return faults
}
