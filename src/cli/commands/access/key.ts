import { rotateKey } from '../../../domain/access/rotation.ts'
import { hashOfSecret, makeSecret } from '../../../domain/access/secrets.ts'
import { wideNetworksFault } from '../../../http/listener/networks.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import type { Provider } from '../../../providers/provider.ts'
import { AppError } from '../../../runtime/errors.ts'
import { secretText } from '../../../runtime/secret-text.ts'
import {
  type ApiKeyRow,
  findActiveApiKeyByName,
  findApiKey,
  findApiKeyByName,
  hasApiKeyHash,
  insertApiKey,
  revokeApiKey,
  selectApiKeys,
} from '../../../store/access/api-keys.ts'
import type { FormerSecret } from '../../../store/access/former-secrets.ts'
import { type KeyUseSummary, selectKeyUse } from '../../../store/access/key-use.ts'
import type { Engine } from '../../../store/engine.ts'
import { selectProviders } from '../../../store/rates/providers.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import type { OptionValues } from '../../options/values.ts'
import { readNamedFile } from '../../storage/storage-options.ts'
import { parseName } from '../positionals.ts'
import { listCommand } from '../rows.ts'
import {
  addFormer,
  insertSecret,
  parseExpiryDay,
  revokeCommand,
  rotateCommand,
  type SecretKind,
  secretState,
} from './secret.ts'

const KEYS: SecretKind<ApiKeyRow> = {
  noun: 'key',
  prefix: 'cbk_',
  header: 'X-API-Key',
  findById: findApiKey,
  findByName: findApiKeyByName,
  findActive: findActiveApiKeyByName,
  hasHash: hasApiKeyHash,
  rotate: rotateKey,
  revoke: revokeApiKey,
}

export const keyCreate = command({
  name: 'key create',
  positionals: ['NAME'],
  options: [
    ...(['expires', 'in-url', 'allow-origin', 'side', 'provider', 'secret-from', 'network'] as const),
    ...STORAGE,
    'json',
  ],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const expiryDay = parseExpiryDay(options.expires)
    const { side } = options
    const token = bankToken(options)
    const kind = token ? 'bank' : options['in-url'] ? 'url' : 'header'
    const provider = options.provider === DEFAULT_PROVIDER.code ? undefined : options.provider
    const origins = options['allow-origin']?.join(',')
    if (origins !== undefined && kind !== 'url') {
      throw new AppError(
        'usage',
        '--allow-origin goes with --in-url: a website shows its key to each visitor',
      )
    }
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      if (provider !== undefined) await requireEnabled(db, terminal.providers, provider)
      const key = token?.secret ?? makeSecret('cbk_')
      const now = clock().toISOString()
      const hash = hashOfSecret(key)
      const id = await insertSecret(db, KEYS, { name, hash }, async (trx) => {
        if (await hasApiKeyHash(trx, hash)) throw new AppError('conflict', 'this token is registered already')
        const network = token?.network
        const place = { kind, side, network, origins, provider } as const
        return insertApiKey(trx, { name, hash, createdAt: now, expiresAt: expiryDay, ...place })
      })
      const expiry = expiryDay === undefined ? {} : { expires_at: expiryDay }
      if (token) {
        const where = `the old web service of the bank, from ${token.network}`
        printResult(terminal, options, { id, name, network: token.network, ...expiry }, [
          `Key ${id} (${name}) is the token of that file: it opens ${where}`,
        ])
        return
      }
      const how =
        kind === 'url' ? 'Put it into the address: http://HOST/k/KEY/…' : 'Send it in the header X-API-Key'
      terminal.err(`Key ${id} (${name}), shown only now. ${how}:\n`)
      const own = provider === undefined ? {} : { provider }
      printResult(terminal, options, { id, name, key, ...own, ...expiry }, [key])
    })
  },
})

/** @throws AppError `failed` for a provider that is unknown or not enabled */
async function requireEnabled(
  db: ReadDb,
  providers: readonly Pick<Provider, 'code'>[],
  code: string,
): Promise<void> {
  const row = (await selectProviders(db)).find((one) => one.code === code)
  if (row?.enabled) return
  const isKnown = row !== undefined || providers.some((one) => one.code === code)
  throw new AppError(
    'failed',
    isKnown
      ? `the provider ${code} is not enabled: cambista provider enable ${code}`
      : `there is no provider ${code}: see cambista provider list`,
  )
}

/** Returns the bank's token that is registered instead of a new secret. @throws AppError `usage` */
function bankToken(
  options: Pick<OptionValues, 'in-url' | 'secret-from' | 'network' | 'provider'>,
): { secret: string; network: string } | undefined {
  const { 'secret-from': file, network } = options
  if (file === undefined) {
    if (network !== undefined) throw new AppError('usage', '--network goes with --secret-from')
    return undefined
  }
  if (options['in-url']) throw new AppError('usage', '--in-url does not go with --secret-from')
  if (options.provider !== undefined) {
    throw new AppError('usage', '--provider does not go with --secret-from: that token opens the bank alone')
  }
  if (network === undefined) {
    const why = 'such tokens are known to others, so one is good from its own network alone'
    throw new AppError('usage', `--network is missing: ${why}`)
  }
  const error = wideNetworksFault(network)
  if (error !== undefined) throw new AppError('usage', `--network ${error}`)
  return { secret: readSecret(file), network }
}

function readSecret(file: string): string {
  const text = secretText(readNamedFile(file)).trim()
  if (!/^[\x21-\x7e]{6,200}$/.test(text)) {
    throw new AppError('failed', `${file} must hold one token of 6 to 200 characters without spaces`)
  }
  return text
}

/** Describes a key of an unusual kind, side or provider. */
function kindText({ kind, side, network, origins, provider }: ApiKeyRow): string {
  const purpose = kind === 'url' ? '; for URLs' : kind === 'bank' ? `; the bank's token, from ${network}` : ''
  const websites = origins === null ? '' : ` of ${origins}`
  const rates = (side === 'compra' ? '; compra' : '') + (provider === null ? '' : `; rates of ${provider}`)
  return purpose + websites + rates
}

type ListedKey = ApiKeyRow & {
  former?: FormerSecret[]
  requests_30_days: number
  networks: KeyUseSummary['networks']
}

/** Selects all keys with their former secrets and their use. */
async function selectListedKeys(db: ReadDb, engine: Engine): Promise<ListedKey[]> {
  const use = await selectKeyUse(db, currentDay(engine.clock))
  const keys = await addFormer(db, engine, 'keys', await selectApiKeys(db))
  return keys.map((key) => {
    const { requests = 0, networks = [] } = use.get(key.id) ?? {}
    return { ...key, requests_30_days: requests, networks }
  })
}

export const keyList = listCommand({
  name: 'key list',
  select: selectListedKeys,
  columns: ({ clock }) => ({
    ID: 'id',
    NAME: 'name',
    CREATED: 'created_at',
    'LAST USED': ({ last_used_at }) => last_used_at ?? 'never',
    'REQUESTS, 30 DAYS': 'requests_30_days',
    FROM: ({ networks }) => networks.map(({ network }) => network).join(' '),
    STATE: (key) => secretState(key, currentDay(clock), key.former) + kindText(key),
  }),
})

export const keyRotate = rotateCommand(KEYS)
export const keyRevoke = revokeCommand(KEYS)
