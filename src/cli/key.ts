import { hashOfSecret, makeSecret } from '../domain/secrets.ts'
import { AppError } from '../errors.ts'
import { findActiveApiKeyByName, insertApiKey, revokeApiKey, selectApiKeys } from '../store/api-keys.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'
import { idOf, nameOf } from './words.ts'

export const keyCreate: Command = {
  name: 'key create',
  takes: ['NAME'],
  summary: 'make a key of the rates API; it is shown this once',
  options: ['data-dir', 'json'],
  example: 'cambista key create erp',
  run({ values, words, terminal }) {
    const name = nameOf(words[0])
    return withDatabase(values, { mustExist: false }, async (db) => {
      const twin = await findActiveApiKeyByName(db, name)
      if (twin)
        throw new AppError(
          'conflict',
          `key ${twin.id} is named ${name} already: revoke it or choose another name`,
        )
      const key = makeSecret('cbk_')
      const createdAt = new Date().toISOString()
      const id = await insertApiKey(db, { name, hash: hashOfSecret(key), createdAt })
      terminal.err(`Key ${id} (${name}), shown only now. Send it in the header X-API-Key:\n`)
      printResult(terminal, values, { id, name, key }, [key])
      return 0
    })
  },
}

export const keyList: Command = {
  name: 'key list',
  takes: [],
  summary: 'list the keys, without their secrets',
  options: ['data-dir', 'json'],
  example: 'cambista key list',
  run({ values, terminal }) {
    return withDatabase(values, { mustExist: true }, async (db) => {
      const keys = await selectApiKeys(db)
      const rows = keys.map((key) => [
        String(key.id),
        key.name,
        key.created_at,
        key.last_used_at ?? 'never',
        key.revoked_at ? `revoked ${key.revoked_at}` : 'active',
      ])
      printResult(terminal, values, keys, table([['ID', 'NAME', 'CREATED', 'LAST USED', 'STATE'], ...rows]))
      return 0
    })
  },
}

export const keyRevoke: Command = {
  name: 'key revoke',
  takes: ['ID'],
  summary: 'revoke a key; a running server refuses it within a second',
  options: ['data-dir', 'json'],
  example: 'cambista key revoke 3',
  run({ values, words, terminal }) {
    const id = idOf(words[0])
    return withDatabase(values, { mustExist: true }, async (db) => {
      const key = await revokeApiKey(db, id, new Date().toISOString())
      if (!key) throw new AppError('not-found', `there is no key ${id}: see cambista key list`)
      printResult(terminal, values, key, [`key ${id} (${key.name}) is revoked`])
      return 0
    })
  },
}
