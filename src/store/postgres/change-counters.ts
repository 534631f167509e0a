// Finds the change counters that a statement raises, from its text. Nodes poll them, and cache the rows of some tables.
// A statement that cannot be read raises all counters. A needless raise costs a query; a missed one would leave a
// revoked token valid on other nodes. Compatible engines have no triggers that wait for the commit.

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
const WRITES =
  /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?(?:"?\w+"?\s*\.\s*)?"?(\w+)/gi
// A comment may separate the words of a write, and a block or a procedure may write to any table.
const UNREADABLE = /--|\/\*|\bu&"|\b(?:call|copy|execute|truncate)\b|(?:^|;)\s*do\b/i
// Columns that no node caches; uploads and a task of every minute write them, each alone.
const UNCACHED = /\bupdate "\w+" set "(?:last_used_at|used)" = (?:"\w+" \+ )?\$\d+ where\b/g
const ALLOCATES_IDS = /^update document_order set turn = turn \+ 1\b/
const RAISES_REVISION =
  /^update "meta" set "data_revision" = "data_revision" \+ \$1 returning "data_revision"$/
// Parameters make it a single statement, and VALUES cannot write to another table. The scan of 500 rows takes 0.3 ms.
const INSERTS_VALUES = /^insert into "(\w+)" \([^()]*\) values \(\$1\b/

/** Finds the counters of the tables that a statement may write to. */
export function findCounters(text: string): Written {
  const [, onlyTable] = INSERTS_VALUES.exec(text) ?? []
  if (onlyTable !== undefined) return tableCounters([onlyTable])
  if (ALLOCATES_IDS.test(text)) return new Set(['turn'])
  if (RAISES_REVISION.test(text)) return new Set(['data_revision'])
  if (UNREADABLE.test(text)) return new Set(ALL)
  const writes = text.replaceAll(UNCACHED, '').matchAll(WRITES)
  return tableCounters(Array.from(writes, ([, table = '']) => table.toLowerCase()))
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

function tableCounters(tables: readonly string[]): Written {
  return new Set(tables.flatMap((table) => WATCHED_TABLES[table] ?? []))
}
