// Queries that are compiled once for each engine; only their values change. Building one takes longer than SQLite takes
// to answer it, and an upload runs six.

import type { Compilable } from 'kysely'
import { type EngineSql, engineSql } from './engine.ts'
import type { ReadDb, WriteDb } from './tables.ts'

type QueryValue = number | string | null
type QueryValues = Readonly<Record<string, QueryValue>>

/** `indexes`: for each parameter that of its value; undefined: a constant. */
type Prepared<Row> = { query: ReturnType<Compilable<Row>['compile']>; indexes: (number | undefined)[] }

const MOST_ROWS = 16
const MOST_IDS = 512

/** `build` gets placeholders instead of values, and must pass them to the query unchanged. */
export function prepared<D extends ReadDb, Given extends QueryValues, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: D, places: Given) => Compilable<Row>,
): (db: D, values: Given) => Promise<Row[]> {
  const queries = new Map<EngineSql, Prepared<Row>>()
  return (db, values) => {
    const query = queries.getOrInsertComputed(engineSql(db), () =>
      prepare(names.length, (places) => build(db, toRecord(names, places))),
    )
    return execute(
      db,
      query,
      names.map((name) => values[name]),
    )
  }
}

/**
 * Inserts rows, which all have the same columns. Only statements for up to 16 rows are compiled once. `build` gets
 * rows with placeholders, and must pass them to the query unchanged.
 */
export function preparedInsert<Given extends object, Returned>(
  build: (db: WriteDb, rows: readonly Given[]) => Compilable<Returned>,
): (db: WriteDb, rows: readonly Given[]) => Promise<Returned[]> {
  const queries = new Map<EngineSql, Map<string, Prepared<Returned>>>()
  return async (db, rows) => {
    if (rows.length === 0) return []
    if (rows.length > MOST_ROWS) return (await db.executeQuery(build(db, rows).compile())).rows
    const columns = Object.keys(rows[0] as Given) as (keyof Given & string)[]
    if (rows.some((row) => Object.keys(row).length !== columns.length))
      throw new TypeError('the rows have different columns')
    const query = queries
      .getOrInsertComputed(engineSql(db), () => new Map())
      .getOrInsertComputed(`${rows.length} ${columns}`, () =>
        prepare(rows.length * columns.length, (places) =>
          build(
            db,
            rows.map((_, row) => toRecord(columns, places.slice(row * columns.length))),
          ),
        ),
      )
    const values = rows.flatMap((row) => columns.map((column) => row[column]))
    return execute(db, query, values)
  }
}

/**
 * Selects the rows of ids, at most as many as one statement takes. Repeats of the first id make the length of a list a power
 * of two, so few statements are compiled.
 */
export function preparedByIds<Row>(
  build: (db: ReadDb, ids: readonly number[]) => Compilable<Row>,
): (db: ReadDb, ids: readonly number[]) => Promise<Row[]> {
  const queries = new Map<EngineSql, Map<number, Prepared<Row>>>()
  return async (db, ids) => {
    const [first] = ids
    if (first === undefined) return []
    if (ids.length > MOST_IDS) return (await db.executeQuery(build(db, ids).compile())).rows
    const count = 2 ** Math.ceil(Math.log2(ids.length))
    const query = queries
      .getOrInsertComputed(engineSql(db), () => new Map())
      .getOrInsertComputed(count, () =>
        prepare(count, (places) => build(db, places as readonly unknown[] as readonly number[])),
      )
    return execute(
      db,
      query,
      Array.from({ length: count }, (_, at) => ids[at] ?? first),
    )
  }
}

function prepare<Row>(count: number, build: (places: readonly symbol[]) => Compilable<Row>): Prepared<Row> {
  const places = Array.from({ length: count }, (_, at) => Symbol(at))
  const query = build(places).compile()
  const indexes = new Map<unknown, number>(places.map((place, at) => [place, at]))
  return { query, indexes: query.parameters.map((one) => indexes.get(one)) }
}

async function execute<Row>(
  db: ReadDb,
  { query, indexes }: Prepared<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const parameters = query.parameters.map((constant, at) => {
    const index = indexes[at]
    return index === undefined ? constant : values[index]
  })
  return (await db.executeQuery<Row>({ ...query, parameters })).rows
}

function toRecord<Given>(names: readonly string[], places: readonly symbol[]): Given {
  return Object.fromEntries(names.map((name, at) => [name, places[at]])) as Given
}
