// JSON Schema of valibot schemas. Schemas with a title are put among the components and referenced.

import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

export type JsonSchema = Record<string, unknown>

export type Schemas = {
  /** Returns the JSON Schema of a schema, or a reference to it. */
  of(schema: v.GenericSchema): JsonSchema
  /** Returns the schemas with a title, by title. */
  named(): Record<string, JsonSchema>
}

export function createSchemas(): Schemas {
  const schemasByTitle = new Map<string, JsonSchema>()
  const hoistNamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoistNamed)
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, hoistNamed(inside)]))
    const { title, ...rest } = copy
    if (typeof title !== 'string') return copy
    const before = schemasByTitle.get(title)
    if (before && JSON.stringify(before) !== JSON.stringify(rest)) {
      throw new TypeError(`two schemas have the title ${title}`)
    }
    schemasByTitle.set(title, rest)
    return { $ref: `#/components/schemas/${title}` }
  }
  return {
    of: (schema) => hoistNamed(jsonSchema(schema)) as JsonSchema,
    named: () => Object.fromEntries([...schemasByTitle].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Returns the complete JSON Schema of a schema. */
export function jsonSchema(schema: v.GenericSchema): JsonSchema {
  // Checks in code (a real calendar day, a positive amount) have no JSON Schema; the descriptions mention them.
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
  })
  return rest
}
