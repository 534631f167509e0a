// Settings that a connection sends at its start, without a round trip. Poolers that share sessions
// reject or drop them there. Then each transaction of the node sets them, and statements outside of a transaction run
// inside one. Statements have names only if the pooler replaces the names by its own.

import type { Client } from 'pg'
import { AppError, errorCode } from '../../runtime/errors.ts'

/** Knowledge about the server or the pooler before it, which all pools of a node share. */
export type ConnectionMode = {
  /** Each transaction sets the settings. */
  isPerTransaction: boolean
  /** Statements may have names. */
  usesNames: boolean
}

export type ConnectionSettings = Readonly<Record<string, string>>

const SERVER_ENDS_BEFORE_MS = 500
const LOCK_MS = 3000
const IDLE_IN_TRANSACTION_MS = 5000

// PgBouncer 1.18: "unsupported startup parameter: options"; from 1.20: "… in options: statement_timeout"; RDS Proxy:
// "doesn't support command-line options".
const REFUSES_OPTIONS = /unsupported startup parameter|command-line options/i
const NAME_LOST = /^PG_(26000|42P05)$/
/** Statements that a transaction block rejects; they run without settings. */
const RUNS_ALONE = /^\s*(create\s+(unique\s+)?index\s+concurrently|vacuum)\b/i
const DURATION = /^(\d+)(ms|s|min|h|d)?$/
const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }

const PROBE = 'cambista_probe'

export function createConnectionMode(): ConnectionMode {
  return { isPerTransaction: false, usesNames: true }
}

/** Settings of a pool whose answers have this timeout. */
export function connectionSettings(answerMs: number): ConnectionSettings {
  return {
    synchronous_commit: 'on', // acknowledged means on disk, whatever the server's default is
    statement_timeout: String(Math.max(answerMs - SERVER_ENDS_BEFORE_MS, answerMs / 2)),
    lock_timeout: String(LOCK_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    TimeZone: 'UTC',
  }
}

/** The startup parameter `options` with these settings and those of the address. */
export function startupOptions(settings: ConnectionSettings, fromAddress = ''): string {
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return [...options, fromAddress].join(' ').trim()
}

/** Statements after `begin` that set the same in a transaction. @throws AppError for options that are no settings */
export function transactionSettings(settings: ConnectionSettings, fromAddress = ''): string {
  const own = Object.entries(settings).map(([name, value]) => `set local ${name} = ${quote(value)}`)
  // A list such as search_path=a,b is one value for `set_config`, and an identifier for `set`.
  const further = parseOptions(fromAddress).map(
    ([name, value]) => `select set_config(${quote(name)}, ${quote(value)}, true)`,
  )
  return [...own, ...further].join('; ')
}

export function runsAlone(statement: string): boolean {
  return RUNS_ALONE.test(statement)
}

/** Returns whether a pooler rejected the startup parameter `options`. */
export function isOptionsRefusal(error: unknown): boolean {
  return error instanceof Error && REFUSES_OPTIONS.test(error.message)
}

/** Switches names off, after an error of a pooler that does not know them. */
export function adaptToLostName(mode: ConnectionMode, error: unknown): void {
  if (NAME_LOST.test(errorCode(error))) mode.usesNames = false
}

/** Compares the settings of a new connection with those that were sent, and examines a pooler. */
export async function checkConnection(
  mode: ConnectionMode,
  client: Client,
  settings: ConnectionSettings,
): Promise<void> {
  if (!mode.isPerTransaction) {
    const { rows } = await client.query(selectSettings(settings))
    mode.isPerTransaction = wrongSettings(settings, rows[0] ?? {}).length > 0
  }
  if (mode.isPerTransaction && mode.usesNames) mode.usesNames = await replacesNames(client)
}

/** Query whose row has the present value of each setting, or null for one that the server does not have. */
export function selectSettings(settings: ConnectionSettings): string {
  const columns = Object.keys(settings).map((name) => `current_setting('${name}', true) as "${name}"`)
  return `select ${columns.join(', ')}`
}

/** Settings of a row of `selectSettings` that differ, as `statement_timeout is 0 and not 5000`. */
export function wrongSettings(
  settings: ConnectionSettings,
  row: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(settings).flatMap(([name, expected]) => {
    const value = row[name]
    if (typeof value !== 'string' || normalize(value) === normalize(expected)) return []
    return [`${name} is ${value} and not ${expected}`]
  })
}

/** `5s` and `5000` are the same duration. */
function normalize(value: string): string {
  const [, count, unit = 'ms'] = DURATION.exec(value) ?? []
  return count === undefined ? value.toLowerCase() : String(Number(count) * (UNIT_MS[unit] ?? 1))
}

/** Returns whether a pooler gives statements names of its own. Else a name may be unknown to the next transaction. */
async function replacesNames(client: Client): Promise<boolean> {
  await client.query('begin')
  try {
    const text = `select count(*)::int as count from pg_prepared_statements where name = '${PROBE}'`
    const { rows } = await client.query({ name: PROBE, text })
    if (rows[0]?.count === 0) return true
    await client.query(`deallocate ${PROBE}`)
    return false
  } catch (error) {
    if (!NAME_LOST.test(`PG_${errorCode(error)}`)) throw error
    return false
  } finally {
    await client.query('rollback')
  }
}

/** Parses the parameter `options` of an address: `-c name=value` or `--name=value`; a backslash escapes a space. */
function parseOptions(options: string): [string, string][] {
  const words = options.replaceAll(/(^|\s)-c\s*/g, '$1--').match(/(?:\\.|[^\s\\])+/g) ?? []
  return words.map((word) => {
    const [, name = 'default_transaction', value = ''] = /^--([\w.-]+)=(.*)$/s.exec(word) ?? []
    // The isolation of a transaction that has begun is settled.
    if (name.startsWith('default_transaction')) throw notSettableError()
    return [name.replaceAll('-', '_'), value.replaceAll(/\\(.)/g, '$1')]
  })
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

function notSettableError(): AppError {
  return new AppError(
    'failed',
    'the pooler before the database rejects the options of its address, and a transaction cannot set them: alter role … set them for the role of cambista',
  )
}
