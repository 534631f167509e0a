// Rejects query parameters that the schema of an endpoint does not declare (decisions 1.5). A client that sends
// `?date=2020-01-01`, where the parameter is `on`, must not get today's rate with a 200.

import type { AppError } from '../../runtime/errors.ts'
import { editDistance } from '../../values/edit-distance.ts'
import { invalidParameters, type ValidationItem } from './errors.ts'

// Names of our parameters in other APIs and in Spanish. Undefined: a name that is similar to a parameter of another
// meaning. Example: `decimals` (rounding) and `decimal` (the sign of CSV).
const SENSES = new Map<string, string | undefined>([
  ['date', 'on'],
  ['day', 'on'],
  ['fecha', 'on'],
  ['tipo', 'type'],
  ['side', 'type'],
  ['desde', 'from'],
  ['since', 'from'],
  ['hasta', 'to'],
  ['until', 'to'],
  ['start', 'from'],
  ['end', 'to'],
  ['interval', 'every'],
  ['period', 'every'],
  ['step', 'every'],
  ['top', 'limit'],
  ['decimals', undefined],
  ['precision', undefined],
  ['set', undefined],
  ['state', undefined],
  ['status', undefined],
])
const LONGEST_SHOWN = 60

/**
 * Adds a fault for each unknown parameter. Names that begin with `_` are cache busters and ignored, except in a body,
 * which no cache sees.
 */
export function addUnknown(
  sent: Readonly<Record<string, string>>,
  known: readonly string[],
  faults: ValidationItem[],
  { takesBusters = true } = {},
): void {
  const unknown = Object.keys(sent).filter(
    (name) => !known.includes(name) && !(takesBusters && name.startsWith('_')),
  )
  if (unknown.length === 0) return
  const faulty = new Set(faults.map(({ loc: [source, name] }) => source === 'query' && name))
  for (const name of unknown) {
    if (faulty.has(name)) continue
    const msg = `there is no parameter ${quoteName(name)}: ${advice(name, known)}`
    faults.push({ loc: ['query', name], msg, type: 'unknown', input: sent[name] })
  }
}

/** 422 for parameters that only another form of the answer has. */
export function unknownParameters(
  sent: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): AppError {
  const items: ValidationItem[] = []
  const values = Object.entries(sent).filter((pair): pair is [string, string] => pair[1] !== undefined)
  addUnknown(Object.fromEntries(values), known, items)
  return invalidParameters(items.map((item) => ({ ...item, msg: `${item.msg} (${item.loc[1]} is of CSV)` })))
}

function advice(name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  if (near !== undefined) return `did you mean ${near}?`
  return known.length === 0 ? 'this path has none' : `this path has ${known.join(', ')}`
}

/** Returns the most similar known name: by meaning, else by letters. */
export function nearestName(
  name: string,
  known: readonly string[],
  senses: ReadonlyMap<string, string | undefined> = SENSES,
): string | undefined {
  if (name.length > LONGEST_SHOWN) return undefined
  const word = name.toLowerCase()
  if (senses.has(word)) {
    const synonym = senses.get(word)
    return synonym !== undefined && known.includes(synonym) ? synonym : undefined
  }
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const one of known) {
    const edits = editDistance(word, one)
    if (edits < least && edits < Math.max(word.length, one.length) / 2) {
      best = one
      least = edits
    }
  }
  return best ?? splitName(name).find((part) => known.includes(part))
}

/** Splits names such as `date_from`, `rateType` and `on[]`, which are too far from `from`, `type` and `on` by letters. */
function splitName(name: string): string[] {
  return name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase())
}

function quoteName(name: string): string {
  if (name === '') return 'without a name'
  const short = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name
  return /^[\w.[\]-]+…?$/.test(short) ? short : JSON.stringify(short)
}
