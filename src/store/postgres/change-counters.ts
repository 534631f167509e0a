// Finds the change counters that a statement raises, from Kysely's tree. Nodes poll them, and cache the rows of some
// tables. A statement of another kind raises all counters. A needless raise costs a query; a missed one would leave a
// revoked token valid on other nodes. Compatible engines have no triggers that wait for the commit.

import type { ColumnNode, OperationNode, RootOperationNode, TableNode, WithNode } from 'kysely'
import type { RawStatement } from './raw-query.ts'

export type Counter = 'access_revision' | 'documents_revision'
/** In the order of a reading of the lineage (lineage.ts). Statements raise and return `data_revision` and `turn` themselves. */
export const COUNTER_NAMES = ['data_revision', 'access_revision', 'documents_revision', 'turn'] as const
export type CounterName = (typeof COUNTER_NAMES)[number]
export type Written = ReadonlySet<CounterName>
/** Values of a commit or a poll. */
export type CounterValues = Partial<Record<CounterName, number>>

/** A node caches keys, tokens and the directory, and waits for documents and messages. */
export const WATCHED_TABLES: Readonly<Record<string, Counter>> = {
  api_keys: 'access_revision',
  tokens: 'access_revision',
  former_secrets: 'access_revision',
  companies: 'access_revision',
  agents: 'access_revision',
  owners: 'access_revision',
  documents: 'documents_revision',
  hooks: 'documents_revision',
  hook_messages: 'documents_revision',
}

const ALL: readonly Counter[] = ['access_revision', 'documents_revision']
// By table, and for `meta` by column.
const COUNTERS: Readonly<Record<string, CounterName>> = {
  ...WATCHED_TABLES,
  document_order: 'turn',
  data_revision: 'data_revision',
}
// Columns that no node caches; uploads and a task of every minute write them, each alone.
const UNCACHED: readonly string[] = ['last_used_at', 'used']
// A raw statement that names no table, and changes no rows if it begins with one of these words.
const CHANGES_NO_ROWS = /^\s*(?:select|set|show|begin|commit|rollback|create|alter|drop|analyze)\b[^;]*$/i

/** Finds the counters of the tables that a statement may write to. */
export function findCounters(query: OperationNode): Written {
  const { with: clause } = query as { with?: WithNode }
  const statements = [query, ...(clause?.expressions.map(({ expression }) => expression) ?? [])]
  const names = statements.flatMap((one) => writtenNames(one as RootOperationNode))
  return new Set(names.flatMap((name) => (name === undefined ? ALL : (COUNTERS[name] ?? []))))
}

/** Returns the counters to raise before a commit. Nodes poll the sum of `turn` and `documents_revision`. */
export function pendingCounters(written: Written): Counter[] {
  return ALL.filter((name) => written.has(name) && !(name === 'documents_revision' && written.has('turn')))
}

/** Returns the counters that a statement raised itself, from its first row. */
export function returnedCounters(written: Written, [row]: readonly unknown[]): CounterValues {
  const values = (row ?? {}) as CounterValues
  return {
    ...(written.has('turn') && { turn: values.turn }),
    ...(written.has('data_revision') && { data_revision: values.data_revision }),
  }
}

/** Returns the greater value of each counter. */
export function greatestCounters(one: CounterValues, other: CounterValues): CounterValues {
  const greatest = { ...one }
  for (const name of COUNTER_NAMES) {
    const value = other[name]
    if (value !== undefined) greatest[name] = Math.max(value, greatest[name] ?? value)
  }
  return greatest
}

/** Returns whether a counter is below a value that it had in the same epoch. */
export function wentBack(now: CounterValues, before: CounterValues): boolean {
  return COUNTER_NAMES.some((name) => (now[name] ?? Infinity) < (before[name] ?? 0))
}

/** Returns keys of COUNTERS; undefined: the statement may write to any table. */
function writtenNames(query: RootOperationNode): (string | undefined)[] {
  if (query.kind === 'SelectQueryNode') return []
  if (query.kind === 'InsertQueryNode') return [tableName(query.into)]
  if (query.kind === 'DeleteQueryNode') return query.from.froms.map(tableName)
  if (query.kind === 'UpdateQueryNode') {
    const columns = query.updates?.map(({ column }) => (column as ColumnNode).column.name) ?? []
    const cached = columns.filter((name) => !UNCACHED.includes(name))
    return cached.map((name) => (name === 'data_revision' ? name : tableName(query.table)))
  }
  const { writes, sqlFragments = [] } = query as Partial<RawStatement>
  return writes === undefined && CHANGES_NO_ROWS.test(sqlFragments.join()) ? [] : [writes]
}

function tableName(node: OperationNode | undefined): string | undefined {
  return (node as Partial<TableNode> | undefined)?.table?.identifier?.name
}
