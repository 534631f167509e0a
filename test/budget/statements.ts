// Statements of SQLite in this process, as better-sqlite3 executes them.

import Database, { type Statement } from 'better-sqlite3'

type Execute = (this: Statement, ...values: unknown[]) => unknown

/** Calls `notify` with the text and the values of each statement, until the returned function is called. */
export function watchStatements(notify: (text: string, values: readonly unknown[]) => void): () => void {
  const database = new Database(':memory:')
  const statements = Object.getPrototypeOf(database.prepare('select 1')) as Record<string, Execute>
  database.close()
  const originals = ['run', 'get', 'all', 'iterate'].map(
    (name) => [name, statements[name] as Execute] as const,
  )
  for (const [name, execute] of originals) {
    statements[name] = function (...values) {
      notify(this.source, values.flat())
      return execute.apply(this, values)
    }
  }
  return () => {
    for (const [name, execute] of originals) statements[name] = execute
  }
}
