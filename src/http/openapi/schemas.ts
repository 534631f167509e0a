// JSON Schema of valibot's schemas. One that has a title is described once, among the components, and referred to.

import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

export type JsonSchema = Record<string, unknown>

export type Schemas = {
  /** The JSON Schema of a schema, or a reference to it. */
  of(schema: v.GenericSchema): JsonSchema
  /** Those with a title, by it. */
  named(): Record<string, JsonSchema>
}

export function createSchemas(): Schemas {
  const named = new Map<string, JsonSchema>()
  const hoisted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoisted)
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, hoisted(inside)]))
    const { title, ...rest } = copy
    if (typeof title !== 'string') return copy
    const before = named.get(title)
    if (before && JSON.stringify(before) !== JSON.stringify(rest)) {
      throw new TypeError(`two schemas have the title ${title}`)
    }
    named.set(title, rest)
    return { $ref: `#/components/schemas/${title}` }
  }
  return {
    of: (schema) => hoisted(jsonSchema(schema)) as JsonSchema,
    named: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The JSON Schema of a schema, with nothing left out of it. */
export function jsonSchema(schema: v.GenericSchema): JsonSchema {
  // Checks in code (a real calendar day, a positive amount) have no JSON Schema; their descriptions say them.
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
  })
  return rest
}
