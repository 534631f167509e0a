// A query of which only the values change: its text is made once for each engine. SQLite answers it in less time than it takes
// to build, and an upload asks twice.

import type { SelectQueryBuilder } from 'kysely'
import { type Dialect, dialectOf } from './engine.ts'
import type { Db, Tables } from './tables.ts'

type Compiled = ReturnType<SelectQueryBuilder<Tables, never, unknown>['compile']>
type Values = Readonly<Record<string, number | null>>

/** `build` is given what stands for the values, which it hands to the query as they are. */
export function prepared<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: Db, places: Given) => SelectQueryBuilder<Tables, never, Row>,
): (db: Db, values: Given) => Promise<Row[]> {
  const places = new Map(names.map((name) => [Symbol(name) as unknown, name]))
  const standIns = Object.fromEntries([...places].map(([place, name]) => [name, place])) as unknown as Given
  const made = new Map<Dialect, Compiled>()
  return async (db, values) => {
    const query = made.getOrInsertComputed(dialectOf(db), () => build(db, standIns).compile())
    const parameters = query.parameters.map((one) => {
      const name = places.get(one)
      return name === undefined ? one : values[name]
    })
    return (await db.executeQuery({ ...query, parameters })).rows as Row[]
  }
}
