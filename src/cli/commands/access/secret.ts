// Shared by the commands for keys and tokens.

import type { Rotation, RotationResult } from '../../../domain/access/rotation.ts'
import { hashOfSecret, makeSecret } from '../../../domain/access/secrets.ts'
import { AppError } from '../../../runtime/errors.ts'
import { type FormerSecret, selectFormerSecrets } from '../../../store/access/former-secrets.ts'
import { atomically, type Engine } from '../../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseNameOrId } from '../positionals.ts'
import { notFound, rowCommand } from '../rows.ts'

type SecretRow = { id: number; name: string }

/** Keys or tokens. */
export type SecretKind<Row extends SecretRow> = {
  noun: 'key' | 'token'
  prefix: 'cbk_' | 'cbt_'
  /** Its header, as messages name it. */
  header: string
  findById(db: ReadDb, id: number): Promise<Row | undefined>
  /** Finds the active row of a name, else the newest revoked one. */
  findByName(db: ReadDb, name: string): Promise<Row | undefined>
  findActive(db: ReadDb, name: string): Promise<Row | undefined>
  hasHash(db: ReadDb, hash: string): Promise<boolean>
  rotate(db: WriteDb, row: Row, rotation: Rotation): Promise<RotationResult>
  revoke(db: WriteDb, id: number, revokedAt: string): Promise<Row | undefined>
}

/**
 * Inserts a key or token with a new name in one transaction.
 * @throws AppError `conflict` if an active one has the name
 */
export function insertSecret<Row extends SecretRow, T>(
  db: WriteDb,
  { noun, findActive, hasHash }: SecretKind<Row>,
  { name, hash }: { name: string; hash: string },
  insert: (trx: WriteDb) => Promise<T>,
): Promise<T> {
  const work = async (trx: WriteDb) => {
    const twin = await findActive(trx, name)
    if (!twin) return insert(trx)
    const advice = `revoke it or choose another name; cambista ${noun} rotate gives it a new secret`
    throw new AppError('conflict', `${noun} ${twin.id} is named ${twin.name} already: ${advice}`)
  }
  return atomically(db, work, { wasCommitted: (trx) => hasHash(trx, hash) })
}

export function rotateCommand<Row extends SecretRow>(kind: SecretKind<Row>) {
  const { noun, prefix, header, hasHash } = kind
  return command({
    name: `${noun} rotate`,
    positionals: ['NAME|ID'],
    options: ['overlap', 'expires', ...STORAGE, 'json'],
    changesData: true,
    run({ options, positionals, terminal, withDatabase }) {
      const word = parseNameOrId(positionals[0])
      const overlapMs = options.overlap
      const expiryDay = parseExpiryDay(options.expires)
      return withDatabase({ mustExist: true }, async (db, { clock }) => {
        const secret = makeSecret(prefix)
        const now = clock()
        const rotation = { hash: hashOfSecret(secret), overlapMs, expiresAt: expiryDay, now }
        const rotate = async (trx: WriteDb) => {
          const row = await findRow(trx, kind, word)
          if (!row) throw notFound(noun, word)
          return { row, result: await kind.rotate(trx, row, rotation) }
        }
        const wasCommitted = (trx: WriteDb) => hasHash(trx, rotation.hash)
        const { row, result } = await atomically(db, rotate, { wasCommitted })
        const { id, name } = row
        const former = formerLine(noun, result.formerEndsAt, now)
        const title = `${noun === 'key' ? 'Key' : 'Token'} ${id} (${name})`
        terminal.err(
          `${title} has a new secret, shown only now. Send it in the header ${header}.\n${former}\n`,
        )
        const ends = { expires_at: result.expiresAt, former_ends_at: result.formerEndsAt }
        printResult(terminal, options, { id, name, [noun]: secret, ...ends }, [secret])
      })
    },
  })
}

export function revokeCommand<Row extends SecretRow>(kind: SecretKind<Row>) {
  return rowCommand({
    name: `${kind.noun} revoke`,
    positionals: ['NAME|ID'],
    parse: parseNameOrId,
    async change(db, word, { clock }) {
      const row = await findRow(db, kind, word)
      return row && kind.revoke(db, row.id, clock().toISOString())
    },
    line: ({ id, name }) => `${kind.noun} ${id} (${name}) is revoked`,
  })
}

function findRow<Row extends SecretRow>(
  db: ReadDb,
  { findById, findByName }: SecretKind<Row>,
  word: string | number,
): Promise<Row | undefined> {
  return typeof word === 'number' ? findById(db, word) : findByName(db, word)
}

/** Validates the last day of a new secret. @throws AppError `usage` for a past day */
export function parseExpiryDay(day: string | undefined): string | undefined {
  const today = currentDay(() => new Date())
  if (day === undefined || day >= today) return day
  throw new AppError('usage', `--expires ${day} is past: today in Costa Rica is ${today}`)
}

/** Returns a sentence about the end of the former secret. */
function formerLine(noun: string, formerEndsAt: string, now: Date): string {
  if (Date.parse(formerEndsAt) <= now.getTime()) return 'The one before is refused from now on.'
  const watch = `cambista ${noun} list says when it was last used`
  return `The one before goes on until ${formerEndsAt}, then ends by itself; ${watch}.`
}

/** Adds their former secrets that are still valid to keys or tokens. */
export async function addFormer<Row extends { id: number; revoked_at: string | null }>(
  db: ReadDb,
  { clock }: Engine,
  kind: 'keys' | 'tokens',
  rows: readonly Row[],
): Promise<(Row & { former?: FormerSecret[] })[]> {
  const former = (await selectFormerSecrets(db, clock().toISOString()))[kind]
  return rows.map((row) => {
    const before = row.revoked_at === null ? former.get(row.id) : undefined
    return before === undefined ? row : { ...row, former: before }
  })
}

/** Returns the state of a secret and of its former secrets, for the lists. */
export function secretState(
  { revoked_at, expires_at }: { revoked_at: string | null; expires_at: string | null },
  today: string,
  former: readonly FormerSecret[] = [],
): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && expires_at < today) return `expired ${expires_at}`
  const state = expires_at === null ? 'active' : `active through ${expires_at}`
  const before = former.map(
    ({ ends_at, last_used_at }) =>
      `; its former secret until ${ends_at}, last used ${last_used_at ?? 'never'}`,
  )
  return state + before.join('')
}
