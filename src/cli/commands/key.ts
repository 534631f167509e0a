import { todayIn } from '../../dates.ts'
import { rotateKey } from '../../domain/rotation.ts'
import { hashOfSecret, makeSecret } from '../../domain/secrets.ts'
import {
  type ApiKeyRow,
  findActiveApiKeyByName,
  findApiKey,
  findApiKeyByName,
  insertApiKey,
  revokeApiKey,
  selectApiKeys,
} from '../../store/api-keys.ts'
import { selectFormerSecrets } from '../../store/former-secrets.ts'
import type { Db } from '../../store/tables.ts'
import { command, printResult, table } from '../command.ts'
import { parseName, parseNameOrId } from './positionals.ts'
import { formerLine, lastDayOf, needSecret, ROTATION, stateOf, taken, withFormer } from './secret.ts'

export const keyCreate = command({
  name: 'key create',
  positionals: ['NAME'],
  summary: 'make a key of the rates API; it is shown this once',
  options: ['expires', 'data-dir', 'json'],
  changesData: true,
  example: 'cambista key create erp --expires 2027-12-31',
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const expiresAt = lastDayOf(options.expires)
    return withDatabase({ mustExist: false }, async (db) => {
      const key = makeSecret('cbk_')
      const createdAt = new Date().toISOString()
      const id = await db.transaction().execute(async (trx) => {
        const twin = await findActiveApiKeyByName(trx, name)
        if (twin) throw taken('key', twin)
        return insertApiKey(trx, { name, hash: hashOfSecret(key), createdAt, expiresAt })
      })
      terminal.err(`Key ${id} (${name}), shown only now. Send it in the header X-API-Key:\n`)
      const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt }
      printResult(terminal, options, { id, name, key, ...expiry }, [key])
      return 0
    })
  },
})

export const keyList = command({
  name: 'key list',
  positionals: [],
  summary: 'list the keys, without their secrets',
  options: ['data-dir', 'json'],
  changesData: false,
  example: 'cambista key list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const now = new Date()
      const former = await selectFormerSecrets(db, now.toISOString())
      const keys = (await selectApiKeys(db)).map((key) => withFormer(key, former.keys))
      const today = todayIn(() => now)
      const rows = keys.map((key) => [
        String(key.id),
        key.name,
        key.created_at,
        key.last_used_at ?? 'never',
        stateOf(key, today, key.former),
      ])
      printResult(terminal, options, keys, table([['ID', 'NAME', 'CREATED', 'LAST USED', 'STATE'], ...rows]))
      return 0
    })
  },
})

export const keyRotate = command({
  name: 'key rotate',
  positionals: ['NAME|ID'],
  summary: 'give a key a new secret, shown this once; the one before goes on for a while',
  about: ROTATION,
  options: ['overlap', 'expires', 'data-dir', 'json'],
  changesData: true,
  example: 'cambista key rotate erp --overlap 24h',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    const overlapMs = options.overlap
    const expiresAt = lastDayOf(options.expires)
    return withDatabase({ mustExist: true }, async (db) => {
      const key = makeSecret('cbk_')
      const now = new Date()
      const rotation = { hash: hashOfSecret(key), overlapMs, expiresAt, now }
      const { row, rotated } = await db.transaction().execute(async (trx) => {
        const row = needSecret('key', word, await findOne(trx, word))
        return { row, rotated: await rotateKey(trx, row, rotation) }
      })
      const { id, name } = row
      const former = formerLine('key', rotated.formerEndsAt, now)
      terminal.err(
        `Key ${id} (${name}) has a new secret, shown only now. Send it in the header X-API-Key.\n${former}\n`,
      )
      const document = { id, name, key, expires_at: rotated.expiresAt, former_ends_at: rotated.formerEndsAt }
      printResult(terminal, options, document, [key])
      return 0
    })
  },
})

export const keyRevoke = command({
  name: 'key revoke',
  positionals: ['NAME|ID'],
  summary: 'revoke a key; a running server refuses it within a second',
  options: ['data-dir', 'json'],
  changesData: true,
  example: 'cambista key revoke erp',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const { id } = needSecret('key', word, await findOne(db, word))
      const key = needSecret('key', word, await revokeApiKey(db, id, new Date().toISOString()))
      printResult(terminal, options, key, [`key ${id} (${key.name}) is revoked`])
      return 0
    })
  },
})

/** The key of an id, or the active one of a name, else the newest of that name that is revoked. */
function findOne(db: Db, word: string | number): Promise<ApiKeyRow | undefined> {
  return typeof word === 'number' ? findApiKey(db, word) : findApiKeyByName(db, word)
}
