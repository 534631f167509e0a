// Queries that are compiled once for each engine; only their values change. Building one takes longer than SQLite takes
// to answer it, and an upload runs three.

import type { Compilable } from 'kysely'
import { type EngineSql, engineSql } from './engine.ts'
import type { ReadDb } from './tables.ts'

type QueryValues = Readonly<Record<string, number | string | null>>

/** `build` gets placeholders instead of values, and must pass them to the query unchanged. */
export function prepared<D extends ReadDb, Given extends QueryValues, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: D, places: Given) => Compilable<Row>,
): (db: D, values: Given) => Promise<Row[]> {
  const places = new Map(names.map((name) => [Symbol(name) as unknown, name]))
  const placeholders = Object.fromEntries(
    [...places].map(([place, name]) => [name, place]),
  ) as unknown as Given
  const compiledQueries = new Map<EngineSql, ReturnType<Compilable['compile']>>()
  return async (db, values) => {
    const query = compiledQueries.getOrInsertComputed(engineSql(db), () => build(db, placeholders).compile())
    const parameters = query.parameters.map((one) => {
      const name = places.get(one)
      return name === undefined ? one : values[name]
    })
    return (await db.executeQuery({ ...query, parameters })).rows as Row[]
  }
}
