// Query parameters that an endpoint does not have (decisions 1.5): a client that asks for `?date=2020-01-01` where the parameter is
// `on` must not get today's rate with a 200. What an endpoint has is what its schema declares, and nothing else.

import { editDistance } from '../../edit-distance.ts'
import type { AppError } from '../../errors.ts'
import { invalidParameters, type ValidationItem } from './errors.ts'

// The names of our parameters in other APIs and in Spanish. Undefined: a name of another sense than the parameter with
// similar letters, such as `decimals` (of rounding) beside `decimal` (the sign of CSV).
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
 * Adds a fault for each parameter that is not among the known. Names that begin with `_` are cache busters: ignored, but in
 * a body, which no cache sees.
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
    const msg = `there is no parameter ${shown(name)}: ${advice(name, known)}`
    faults.push({ loc: ['query', name], msg, type: 'unknown', input: sent[name] })
  }
}

/** The 422 for parameters that only another form of the answer has. */
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

/** The known name that was probably meant, if one was: by its sense, else by its letters. */
export function nearestName(
  name: string,
  known: readonly string[],
  senses: ReadonlyMap<string, string | undefined> = SENSES,
): string | undefined {
  if (name.length > LONGEST_SHOWN) return undefined
  const word = name.toLowerCase()
  if (senses.has(word)) {
    const meant = senses.get(word)
    return meant !== undefined && known.includes(meant) ? meant : undefined
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
  return best ?? wordsOf(name).find((part) => known.includes(part))
}

/** `date_from`, `rateType` and `on[]`, which are too far from `from`, `type` and `on` by their letters. */
function wordsOf(name: string): string[] {
  return name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase())
}

function shown(name: string): string {
  if (name === '') return 'without a name'
  const short = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name
  return /^[\w.[\]-]+…?$/.test(short) ? short : JSON.stringify(short)
}
