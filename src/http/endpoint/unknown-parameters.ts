// Rejects query parameters that the schema of an endpoint does not declare (decisions#unknown-names). A client that
// sends `?date=2020-01-01`, where the parameter is `on`, must not get today's rate with a 200.

import type { AppError } from '../../runtime/errors.ts'
import { editDistance } from '../../values/edit-distance.ts'
import { invalidParameters, type ValidationItem } from './error-shape.ts'

// Our parameters by their names in other APIs and in Spanish. Undefined: no advice, as the most similar parameter has
// another meaning. Example: `decimals` (rounding) and `decimal` (the sign of CSV). Several with spaces: the first one that
// the path has.
const SYNONYMS = new Map<string, string | undefined>([
  ['date', 'on'],
  ['day', 'on'],
  ['fecha', 'on'],
  ['dia', 'on'],
  ['when', 'on'],
  ['as_of', undefined],
  ['asof', 'as_of'],
  ['tipo', 'type kind'],
  ['side', 'type'],
  ['desde', 'from'],
  ['since', 'from'],
  ['hasta', 'to'],
  ['until', 'to'],
  ['start', 'from'],
  ['start_date', 'from'],
  ['startdate', 'from'],
  ['end', 'to'],
  ['end_date', 'to'],
  ['enddate', 'to'],
  ['from', undefined], // a day or a currency
  ['to', undefined],
  ['source', 'base from'],
  ['target', 'quote to'],
  ['pair', 'base'],
  ['currency', 'base from'],
  ['currencies', 'base from'],
  ['moneda', 'base from'],
  ['symbol', 'base from'],
  ['symbols', 'base from'],
  ['code', 'base from'],
  ['codes', 'base from'],
  ['interval', 'every'],
  ['period', 'every'],
  ['step', 'every'],
  ['top', 'limit'],
  ['cursor', 'after'],
  ['query', 'q'],
  ['search', 'q'],
  ['factura', 'clave'],
  ['key', 'clave'],
  ['numero', 'clave'],
  ['emisor', 'issuer'],
  ['cedula', 'issuer'],
  ['decimals', undefined],
  ['precision', undefined],
  ['set', undefined],
  ['state', undefined],
  ['status', 'state'],
])
const LONGEST_SHOWN = 60

/**
 * Adds a fault for each unknown parameter. Names that begin with `_` are cache busters and are ignored; a body has
 * none, since no cache stores it. `owner` has the known ones, in the words of an error.
 */
export function addUnknownParameters(
  params: Readonly<Record<string, unknown>>,
  known: readonly string[],
  faults: ValidationItem[],
  { ignoresCacheBusters = true, owner = 'this path' } = {},
): void {
  const unknown = Object.keys(params).filter(
    (name) => !known.includes(name) && !(ignoresCacheBusters && name.startsWith('_')),
  )
  if (unknown.length === 0) return
  const reportedNames = new Set(faults.map(({ loc: [source, name] }) => source === 'query' && name))
  for (const name of unknown) {
    if (reportedNames.has(name)) continue
    const msg = `there is no parameter ${quoteName(name)}: ${advice(name, known, owner)}`
    faults.push({ loc: ['query', name], msg, type: 'unknown', input: params[name] })
  }
}

/** 422 for parameters that only another form of the answer has. */
export function unknownParameters(
  params: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): AppError {
  const items: ValidationItem[] = []
  const values = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined)
  addUnknownParameters(Object.fromEntries(values), known, items)
  return invalidParameters(
    items.map((item) => ({ ...item, msg: `${item.msg} (only CSV has ${item.loc[1]})` })),
  )
}

function advice(name: string, known: readonly string[], owner: string): string {
  const near = nearestName(name, known)
  if (near !== undefined) return `did you mean ${near}?`
  return `${owner} has ${known.length === 0 ? 'none' : known.join(', ')}`
}

/** Returns the most similar known name: by meaning, else by letters. */
export function nearestName(
  name: string,
  known: readonly string[],
  synonyms: ReadonlyMap<string, string | undefined> = SYNONYMS,
): string | undefined {
  if (name.length > LONGEST_SHOWN) return undefined
  const word = name.toLowerCase()
  if (synonyms.has(word)) {
    return synonyms
      .get(word)
      ?.split(' ')
      .find((synonym) => known.includes(synonym))
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

/** Returns true for a similar name, and one that other APIs have, also in a part: `rate_date`. */
export function resemblesParameter(name: string, known: readonly string[]): boolean {
  if (nearestName(name, known) !== undefined || SYNONYMS.has(name.toLowerCase())) return true
  return splitName(name).some((part) => /^(?:on|from|to|base)\b/.test(SYNONYMS.get(part) ?? ''))
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
