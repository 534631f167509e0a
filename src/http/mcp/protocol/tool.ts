// A tool is a value: what it is called, what it needs, what it takes and gives. Its arguments are read by the schemas of
// the parameters of the APIs, so that both take the same and refuse the same.

import type * as v from 'valibot'
import { AppError } from '../../../errors.ts'
import type { AuthorizedToken } from '../../api/auth.ts'
import type { QuerySchema } from '../../api/endpoint.ts'
import { invalidParameters, type ValidationItem } from '../../api/errors.ts'
import { checked } from '../../api/params.ts'
import { addUnknown } from '../../api/unknown-parameters.ts'
import { type JsonSchema, jsonSchema } from '../../openapi/schemas.ts'
import { isRecord } from './messages.ts'

/** What opens a tool: a key, or a token that allows this. */
export type Need = 'key' | 'documents:GET' | 'documents:CLAIM'

/** The client of a message: what it brought, checked. */
export type Caller = {
  hasKey: boolean
  token: AuthorizedToken | undefined
  /** Calls `gone` when the client is gone, until it is disposed of. */
  watch(gone: () => void): Disposable
  /** Its token as it is now, for an answer that comes late. @throws AppError for one that is not let in any more */
  checkAgain(): Promise<AuthorizedToken>
}

/** What a tool found: a value for programs, and the same in one sentence for a model. */
export type Found = { value: Record<string, unknown>; sentence: string }

export type Tool = {
  needs: Need
  /** As tools/list shows it. */
  definition: { name: string } & Record<string, unknown>
  /** @throws AppError `invalid` for wrong arguments, and others as the queries of the APIs do */
  call(sent: unknown, caller: Caller): Promise<Found>
}

type Definition<Q extends QuerySchema> = {
  name: string
  needs: Need
  about: string
  takes: Q
  gives: v.GenericSchema
  /** Whether it changes what is stored. */
  changes?: boolean
  find(asked: v.InferOutput<Q>, caller: Caller): Found | Promise<Found>
}

export function tool<Q extends QuerySchema>(of: Definition<Q>): Tool {
  const { name, needs, about, takes, gives, changes = false } = of
  return {
    needs,
    definition: {
      name,
      description: about,
      inputSchema: lean(jsonSchema(takes), true),
      outputSchema: lean(jsonSchema(gives), true),
      annotations: changes ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true },
    },
    call: async (sent, caller) => of.find(argumentsOf(takes, sent), caller),
  }
}

/** Whether a client may call a tool, and so whether it is listed to it. */
export function isOpenTo({ needs }: { needs: Need }, { hasKey, token }: Caller): boolean {
  return needs === 'key' ? hasKey : token?.allow.includes(needs) === true
}

/** The token of a client that was let in to a tool which needs one. */
export function tokenOf({ token }: Caller): AuthorizedToken {
  if (!token) throw new TypeError('the tool needs no token')
  return token
}

/** What a client sent, by the schema. Numbers and truth values are read as the text that they are in a URL; null is nothing. */
function argumentsOf<Q extends QuerySchema>(schema: Q, sent: unknown): v.InferOutput<Q> {
  const values: Record<string, string> = Object.create(null)
  const faults: ValidationItem[] = []
  if (sent !== undefined && !isRecord(sent)) throw new AppError('invalid', 'arguments must be an object')
  for (const [name, value] of Object.entries(sent ?? {})) {
    if (value === null) continue
    if (typeof value === 'string') values[name] = value
    else if (typeof value === 'boolean' || Number.isSafeInteger(value)) values[name] = String(value)
    else faults.push(unreadable(name, value))
  }
  const output = checked(schema, 'query', values, faults)
  addUnknown(values, Object.keys(schema.entries), faults)
  if (faults.length > 0) throw invalidParameters(faults)
  return output
}

function unreadable(name: string, value: unknown): ValidationItem {
  const msg =
    typeof value === 'number'
      ? `${name} must be a whole number, or a text such as "1500.50"`
      : `${name} must be a text, a whole number, true or false`
  return { loc: ['query', name], msg, type: 'value' }
}

const UNTOLD = new Set(['examples', 'format', 'pattern'])

/**
 * The schema in few words, for a model pays for each. What is left out of it, a description or an error says; which fields
 * the rows of a result have is said, and not that they always have them.
 */
function lean(schema: JsonSchema, isTop = false): JsonSchema {
  const { type, default: standard, required, properties, ...rest } = schema
  const copy: JsonSchema = type === undefined ? {} : { type }
  if (Array.isArray(type)) {
    // A list of types is legal, but some clients have no place for it.
    delete copy.type
    copy.anyOf = type.map((one: unknown) => ({ type: one }))
  }
  for (const [name, value] of Object.entries(rest)) {
    if (!UNTOLD.has(name)) copy[name] = isRecord(value) ? lean(value) : value
  }
  if (standard !== undefined) copy.default = type === 'string' ? standard : JSON.parse(String(standard))
  if (isRecord(properties)) {
    const each = Object.entries(properties).map(([name, one]) => [name, lean(isRecord(one) ? one : {})])
    copy.properties = Object.fromEntries(each)
  }
  if (isTop && Array.isArray(required) && required.length > 0) copy.required = required
  return copy
}
