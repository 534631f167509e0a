import { readFileSync } from 'node:fs'
import { todayIn } from '../../dates.ts'
import { rotateKey } from '../../domain/rotation.ts'
import { hashOfSecret, makeSecret } from '../../domain/secrets.ts'
import { AppError, reasonOf } from '../../errors.ts'
import { wideNetworksFault } from '../../http/listener/networks.ts'
import {
  type ApiKeyRow,
  findActiveApiKeyByName,
  findApiKey,
  findApiKeyByName,
  hasApiKeyHash,
  insertApiKey,
  revokeApiKey,
  selectApiKeys,
} from '../../store/api-keys.ts'
import { atomically } from '../../store/engine.ts'
import { selectFormerSecrets } from '../../store/secrets/former-secrets.ts'
import type { Db } from '../../store/tables.ts'
import { command, printResult, table } from '../command.ts'
import { PLACE } from '../place/options.ts'
import { parseName, parseNameOrId } from './positionals.ts'
import { formerLine, lastDayOf, needSecret, ROTATION, stateOf, taken, withFormer } from './secret.ts'

const ABOUT = `Programs that speak to the bank, to Hacienda or to other rate services send a key as they can: in a header, in the
address or in a form. What stands in an address ends in logs, so such a key is made with --in-url and opens rates, conversions
and histories alone. --secret-from registers the token that a program has of the bank's old web service, so that only its
address has to change; it opens that service alone, from --network alone. cambista manual programs says what to type where.`

export const keyCreate = command({
  name: 'key create',
  positionals: ['NAME'],
  summary: 'make a key of the rates API; it is shown this once',
  about: ABOUT,
  options: ['expires', 'in-url', 'side', 'secret-from', 'network', ...PLACE, 'json'],
  changesData: true,
  example: 'cambista key create erp --expires 2027-12-31',
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const expiresAt = lastDayOf(options.expires)
    const { side } = options
    const token = bankToken(options)
    const kind = token ? 'bank' : options['in-url'] ? 'url' : 'header'
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const key = token?.secret ?? makeSecret('cbk_')
      const createdAt = clock().toISOString()
      const hash = hashOfSecret(key)
      const insert = async (trx: Db) => {
        const twin = await findActiveApiKeyByName(trx, name)
        if (twin) throw taken('key', twin)
        if (await hasApiKeyHash(trx, hash)) throw new AppError('conflict', 'this token is registered already')
        const facts = { kind, side, network: token?.network } as const
        return insertApiKey(trx, { name, hash, createdAt, expiresAt, ...facts })
      }
      const id = await atomically(db, insert, { isThere: (trx) => hasApiKeyHash(trx, hash) })
      const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt }
      if (token) {
        const where = `the old web service of the bank, from ${token.network}`
        printResult(terminal, options, { id, name, network: token.network, ...expiry }, [
          `Key ${id} (${name}) is the token of that file: it opens ${where}`,
        ])
        return 0
      }
      const how =
        kind === 'url' ? 'Put it into the address: http://HOST/k/KEY/…' : 'Send it in the header X-API-Key'
      terminal.err(`Key ${id} (${name}), shown only now. ${how}:\n`)
      printResult(terminal, options, { id, name, key, ...expiry }, [key])
      return 0
    })
  },
})

/** The token that is registered instead of a new secret. @throws AppError `usage` */
function bankToken(options: {
  'in-url': boolean
  'secret-from': string | undefined
  network: string | undefined
}): { secret: string; network: string } | undefined {
  const { 'secret-from': file, network } = options
  if (file === undefined) {
    if (network !== undefined) throw new AppError('usage', '--network goes with --secret-from')
    return undefined
  }
  if (options['in-url']) throw new AppError('usage', '--in-url does not go with --secret-from')
  if (network === undefined) {
    const why = 'such tokens are known to others, so one is good from its own network alone'
    throw new AppError('usage', `--network is missing: ${why}`)
  }
  const fault = wideNetworksFault(network)
  if (fault !== undefined) throw new AppError('usage', `--network ${fault}`)
  return { secret: secretIn(file), network }
}

function secretIn(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new AppError('failed', `cannot read ${file}: ${reasonOf(error)}`)
  }
  if (!/^[\x21-\x7e]{6,200}$/.test(text)) {
    throw new AppError('failed', `${file} must hold one token of 6 to 200 characters without spaces`)
  }
  return text
}

/** What a key is for, where it is not the usual. */
function kindText({ kind, side, network }: ApiKeyRow): string {
  const what = kind === 'url' ? '; for URLs' : kind === 'bank' ? `; the bank's token, from ${network}` : ''
  return what + (side === 'compra' ? '; compra' : '')
}

export const keyList = command({
  name: 'key list',
  positionals: [],
  summary: 'list the keys, without their secrets',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista key list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const now = clock()
      const former = await selectFormerSecrets(db, now.toISOString())
      const keys = (await selectApiKeys(db)).map((key) => withFormer(key, former.keys))
      const today = todayIn(() => now)
      const rows = keys.map((key) => [
        String(key.id),
        key.name,
        key.created_at,
        key.last_used_at ?? 'never',
        stateOf(key, today, key.former) + kindText(key),
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
  options: ['overlap', 'expires', ...PLACE, 'json'],
  changesData: true,
  example: 'cambista key rotate erp --overlap 24h',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    const overlapMs = options.overlap
    const expiresAt = lastDayOf(options.expires)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const key = makeSecret('cbk_')
      const now = clock()
      const rotation = { hash: hashOfSecret(key), overlapMs, expiresAt, now }
      const rotate = async (trx: Db) => {
        const row = needSecret('key', word, await findOne(trx, word))
        return { row, rotated: await rotateKey(trx, row, rotation) }
      }
      const isThere = (trx: Db) => hasApiKeyHash(trx, rotation.hash)
      const { row, rotated } = await atomically(db, rotate, { isThere })
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
  options: [...PLACE, 'json'],
  changesData: true,
  example: 'cambista key revoke erp',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { id } = needSecret('key', word, await findOne(db, word))
      const key = needSecret('key', word, await revokeApiKey(db, id, clock().toISOString()))
      printResult(terminal, options, key, [`key ${id} (${key.name}) is revoked`])
      return 0
    })
  },
})

/** The key of an id, or the active one of a name, else the newest of that name that is revoked. */
function findOne(db: Db, word: string | number): Promise<ApiKeyRow | undefined> {
  return typeof word === 'number' ? findApiKey(db, word) : findApiKeyByName(db, word)
}
