// A tool as a value: name, required credential, input, output. The parameter schemas of the APIs validate its
// arguments, so that tools and APIs accept the same values.

import type * as v from 'valibot'
import { AppError } from '../../../runtime/errors.ts'
import { cleanText } from '../../../values/clean-text.ts'
import { isJsonObject } from '../../../values/json-object.ts'
import type { AuthorizedToken } from '../../access/auth.ts'
import type { QuerySchema } from '../../endpoint/endpoint.ts'
import { invalidParameters, type ValidationItem } from '../../endpoint/error-shape.ts'
import { validate } from '../../endpoint/params.ts'
import { addUnknownParameters, resemblesParameter } from '../../endpoint/unknown-parameters.ts'
import { type JsonSchema, jsonSchema } from '../../openapi/schemas.ts'
import { LONGEST_SENTENCE, oneLine } from './answers.ts'

/** Credential that a tool requires: a key, or a token with this action. */
export type Need = 'key' | 'documents:GET' | 'documents:POST' | 'documents:CLAIM'

/** Client of a message: its validated credentials. */
export type Caller = {
  hasKey: boolean
  token: AuthorizedToken | undefined
  /** Id of the request in the log, and the address of the page (`pageUrl`); undefined: not over HTTP. */
  request?: { id: string; page: string }
  /** Calls `onDisconnect` when the client disconnects; disposing ends the watch. */
  watch(onDisconnect: () => void): Disposable
  /** Validates the token again before a late answer. @throws AppError if it is revoked or expired */
  checkAgain(): Promise<AuthorizedToken>
}

/** Result of a tool: a value for programs, and the same in one sentence for a model. */
export type ToolResult = { value: Record<string, unknown>; sentence: string }

/** Tool that lists what another one reads. */
export type ListTool = 'list_series' | 'list_indicators' | 'list_documents'

export type Tool = {
  needs: Need
  /** Named by an error about a missing value; undefined: `list_series`. */
  lists?: ListTool | undefined
  /** Returns whether the tool is offered now; undefined: always. */
  isOffered?: (() => Promise<boolean>) | undefined
  /** Entry in tools/list. */
  definition: { name: string } & Record<string, unknown>
  /** @throws AppError `invalid` for wrong arguments; errors of the queries */
  call(values: unknown, caller: Caller): Promise<ToolResult>
}

type Definition<Q extends QuerySchema> = {
  name: string
  needs: Need
  about: string
  input: Q
  output: v.GenericSchema
  /** Returns whether there are data for the tool; undefined: always. */
  isOffered?: () => Promise<boolean>
  lists?: ListTool
  /** True for a tool that writes. */
  changes?: boolean
  run(input: v.InferOutput<Q>, caller: Caller): ToolResult | Promise<ToolResult>
}

/** Names that n8n, front ends of chats and `_meta` add to the arguments of any tool. */
const ADDED_NAMES = /^(?:_|(?:toolCallId|tool|sessionId|action|chatInput)$)/
/** Optional arguments whose empty text is a value. */
const FREE_TEXTS = new Set(['text', 'note', 'result'])
const LONGEST_NAME = 40
const LONGEST_LIST = 80

export function tool<Q extends QuerySchema>(definition: Definition<Q>): Tool {
  const { name, needs, about, input, output, isOffered, changes = false } = definition
  const inputSchema = jsonSchema(input)
  const lists = listParameters(inputSchema)
  return {
    ...{ needs, isOffered, lists: definition.lists },
    definition: {
      name,
      description: about,
      inputSchema: compactSchema(inputSchema, true),
      outputSchema: compactSchema(jsonSchema(output), true),
      annotations: changes ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true },
    },
    async call(values, caller) {
      const { output, ignored } = parseArguments(input, { lists, changes }, values)
      const { value, sentence } = await definition.run(output, caller)
      return { value, sentence: addIgnored(sentence, ignored) }
    },
  }
}

/** Returns true if a client may call a tool or read a resource; others are not listed for it. */
export function isAllowed({ needs }: { needs: Need }, { hasKey, token }: Caller): boolean {
  return needs === 'key' ? hasKey : token?.allow.includes(needs) === true
}

/** Token of a client, for a tool that requires one. */
export function requireToken({ token }: Caller): AuthorizedToken {
  if (!token) throw new TypeError('the tool requires no token')
  return token
}

/** Request of a client, for a tool that only a server has. */
export function requireRequest({ request }: Caller): { id: string; page: string } {
  if (!request) throw new TypeError('the tool requires a request over HTTP')
  return request
}

/** Names of the parameters that are lists; all others are texts. */
function listParameters({ properties }: JsonSchema): ReadonlySet<string> {
  const entries = isJsonObject(properties) ? Object.entries(properties) : []
  return new Set(entries.flatMap(([name, one]) => (isJsonObject(one) && one.type === 'array' ? [name] : [])))
}

/**
 * Validates arguments. Integers and booleans are read as their text in a URL. Null and an empty text count as absent.
 * `ignored`: names that the tool does not have (decisions#mcp-results).
 */
function parseArguments<Q extends QuerySchema>(
  schema: Q,
  { lists, changes }: { lists: ReadonlySet<string>; changes: boolean },
  values: unknown,
): { output: v.InferOutput<Q>; ignored: readonly string[] } {
  if (values !== undefined && !isJsonObject(values))
    throw new AppError('invalid', 'arguments must be an object')
  const texts: Record<string, unknown> = Object.create(null)
  const unknown: Record<string, unknown> = Object.create(null)
  const ignored: string[] = []
  const errors: ValidationItem[] = []
  for (const [name, value] of Object.entries(values ?? {})) {
    const parameter = Object.hasOwn(schema.entries, name) ? schema.entries[name] : undefined
    if (ADDED_NAMES.test(name)) ignored.push(name)
    else if (value === null) continue
    else if (!parameter) unknown[name] = value
    else if (value === '' && parameter.type === 'optional' && !FREE_TEXTS.has(name)) continue
    else if (lists.has(name) || typeof value === 'string') texts[name] = value
    else if (typeof value === 'boolean' || Number.isSafeInteger(value)) texts[name] = String(value)
    else errors.push(invalidType(name, value))
  }
  const output = validate(schema, 'query', texts, errors)
  const parameters = Object.keys(schema.entries)
  const names = Object.keys(unknown)
  // `thread_id` does not resemble `id`, which is required: without it a call is an error anyway.
  const others = parameters.filter((one) => one !== 'id')
  if (changes || errors.length > 0 || names.some((name) => resemblesParameter(name, others)))
    addUnknownParameters(unknown, parameters, errors, { owner: 'this tool' })
  if (errors.length > 0) throw invalidParameters(errors)
  return { output, ignored: [...ignored, ...names] }
}

/** Appends the names that a tool ignored to its sentence, which is cut to leave room for them. */
function addIgnored(sentence: string, names: readonly string[]): string {
  if (names.length === 0) return sentence
  const list = names.map((name) => cleanText(name, LONGEST_NAME) ?? '""').join(', ')
  const ignored = ` (ignored: ${oneLine(list, LONGEST_LIST)})`
  return `${oneLine(sentence, LONGEST_SENTENCE - ignored.length)}${ignored}`
}

function invalidType(name: string, value: unknown): ValidationItem {
  const msg =
    typeof value === 'number'
      ? `${name} must be a whole number, or a text such as "1500.50"`
      : `${name} must be a text, a whole number, true or false`
  return { loc: ['query', name], msg, type: 'value' }
}

const DROPPED_KEYWORDS = new Set(['examples', 'format', 'pattern'])

/**
 * Shortens a schema, since models pay for each word. Descriptions and errors carry the dropped keywords. Only the top
 * level lists its required fields.
 */
function compactSchema(schema: JsonSchema, isTop = false): JsonSchema {
  const { type, default: standard, required, properties, ...rest } = schema
  const copy: JsonSchema = type === undefined ? {} : { type }
  if (Array.isArray(type)) {
    // Some clients do not support a list of types, though it is legal.
    delete copy.type
    copy.anyOf = type.map((one: unknown) => ({ type: one }))
  }
  for (const [name, value] of Object.entries(rest)) {
    if (!DROPPED_KEYWORDS.has(name)) copy[name] = isJsonObject(value) ? compactSchema(value) : value
  }
  if (standard !== undefined) copy.default = type === 'string' ? standard : JSON.parse(String(standard))
  if (isJsonObject(properties)) {
    const each = Object.entries(properties).map(([name, one]) => [
      name,
      compactSchema(isJsonObject(one) ? one : {}),
    ])
    copy.properties = Object.fromEntries(each)
  }
  if (isTop && Array.isArray(required) && required.length > 0) copy.required = required
  return copy
}
