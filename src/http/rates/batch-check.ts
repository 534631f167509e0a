// Checks the elements of a batch of conversions, as the parameters of GET /convert are checked, and groups those that have all
// but their day and amount in common: what holds for a group, or for a text, is found out once.

import * as v from 'valibot'
import type { IsoDate } from '../../dates.ts'
import { positiveAmount } from '../../decimal.ts'
import type { Way } from '../../domain/rates/conversions.ts'
import type { AppError } from '../../errors.ts'
import { invalidParameters, type ValidationItem } from '../api/errors.ts'
import { checked } from '../api/params.ts'
import { addUnknown } from '../api/unknown-parameters.ts'
import { type BatchElement, NOT_AN_OBJECT } from './batch-reader.ts'
import { CONVERSION } from './convert.ts'

/** The fields of an element beside its id, in the order in which readBatch is to give their texts. */
export const FIELDS = ['amount', 'from', 'to', 'type', 'on', 'provider'] as const
const FIELDS_WITH_ID = [...FIELDS, 'id']

const Fields = v.object(CONVERSION)

/** Elements of the same currencies, side and provider; `days` are those that are answered, with what each has in common. */
export type Group<K> = { way: Way; days: Map<IsoDate, K> }

export type Element<K> = { id: string | undefined } & (
  | { group: Group<K>; day: IsoDate; amount: string }
  | { error: AppError }
)

/** Checks one element after the other; their groups are put into `groups`. */
export function createCheck<K>(groups: Map<string, Group<K>>, today: IsoDate) {
  const [fromOf, toOf] = [reader(CONVERSION.from), reader(CONVERSION.to)]
  const [typeOf, onOf, providerOf] = [
    reader(CONVERSION.type),
    reader(CONVERSION.on),
    reader(CONVERSION.provider),
  ]
  return (element: BatchElement | typeof NOT_AN_OBJECT, at: number): Element<K> => {
    if (element === NOT_AN_OBJECT) {
      const item = { loc: ['body', at], msg: 'must be an object with amount, from and to', type: 'object' }
      return { id: undefined, error: invalidParameters([item]) }
    }
    const { id, texts } = element
    const amount = positiveAmount(texts[0] ?? '')
    const [from, to, type] = [fromOf(texts[1]), toOf(texts[2]), typeOf(texts[3])]
    const [on, provider] = [onOf(texts[4]), providerOf(texts[5])]
    const isWrong = element.badId || element.unknown !== undefined
    if (isWrong || !amount || !from || !to || !type || !on || !provider) {
      return { id, error: invalidParameters(faultsOf(element)) }
    }
    const way = { from: from.value, to: to.value, type: type.value, provider: provider.value }
    const key = `${way.from} ${way.to} ${way.type} ${way.provider}` // only the last may have a space
    const group = groups.getOrInsertComputed(key, () => ({ way, days: new Map() }))
    return { id, group, day: on.value ?? today, amount }
  }
}

/** Reads the texts of a field; undefined: it is wrong. One that came before is not read again. */
function reader<S extends v.GenericSchema>(
  schema: S,
): (text: string | undefined) => { value: v.InferOutput<S> } | undefined {
  const known = new Map<string | undefined, { value: v.InferOutput<S> } | undefined>()
  return (text) =>
    known.getOrInsertComputed(text, () => {
      const { success, output } = v.safeParse(schema, text)
      return success ? { value: output } : undefined
    })
}

function faultsOf({ texts, unknown = {}, badId }: BatchElement): ValidationItem[] {
  const faults: ValidationItem[] = []
  const given: Record<string, string> = {}
  for (const [at, name] of FIELDS.entries()) {
    const text = texts[at]
    if (text !== undefined) given[name] = text
  }
  checked(Fields, 'query', given, faults)
  addUnknown(unknown, FIELDS_WITH_ID, faults, { takesBusters: false })
  if (badId) faults.push({ loc: ['query', 'id'], msg: 'id must be a text or an integer', type: 'id' })
  return faults
}
