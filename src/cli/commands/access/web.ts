// Makes a link that opens the page signed in. The user needs access to the data directory, and no secret.

import { hostname } from 'node:os'
import { linkLifetime, makeLoginLink } from '../../../domain/access/login-links.ts'
import { isServed } from '../../../domain/operations/backup/data-dir-files.ts'
import { AppError } from '../../../runtime/errors.ts'
import { findActiveApiKeyByName } from '../../../store/access/api-keys.ts'
import { findActiveTokenByName } from '../../../store/access/tokens.ts'
import { readServerAddress, WILDCARD } from '../../../store/server-address.ts'
import type { StorageConfig } from '../../../store/storage-config.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { command, printResult } from '../../command.ts'
import { httpUrl } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'
import { notFound } from '../rows.ts'

export const web = command({
  name: 'web',
  options: ['key', 'token', 'person', 'url', 'public-url', ...STORAGE, 'json'],
  anyOf: ['key', 'token'],
  overrides: { url: option('URL', httpUrl) },
  changesData: true,
  run({ options, terminal, storage, withDatabase }) {
    const { key: keyName, token: tokenName } = options
    if (keyName === undefined && tokenName === undefined) {
      throw new AppError('usage', 'give --key NAME, --token NAME or both: what the link signs in with')
    }
    const { url, person } = options
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const key = keyName === undefined ? undefined : await findSignInKey(db, keyName)
      const token = tokenName === undefined ? undefined : await findActiveTokenByName(db, tokenName)
      if (tokenName !== undefined && !token) throw notFound('token', tokenName)
      const page = new URL(url ?? options['public-url'] ?? runningServerUrl(storage()))
      const link = { keyId: key?.id, tokenId: token?.id, person }
      const { code, endsAt } = await makeLoginLink(db, link, clock)
      page.hash = `login=${code}`
      const names = [...(key ? [`key ${key.name}`] : []), ...(token ? [`token ${token.name}`] : [])]
      const subject = person === undefined ? 'Signs in' : `Signs ${person} in`
      terminal.err(`${subject} with ${names.join(' and ')}, once and within ${linkLifetime(link)}:\n`)
      printResult(terminal, options, { url: page.href, ends_at: endsAt, person }, [page.href])
    })
  },
})

/** Finds a key for signing in. @throws AppError `not-found`, or `failed` for a key of another kind */
async function findSignInKey(db: ReadDb, name: string) {
  const key = await findActiveApiKeyByName(db, name)
  if (!key) throw notFound('key', name)
  if (key.kind === 'header') return key
  throw new AppError('failed', `key ${name} was made for URLs or is one of the bank: it does not sign in`)
}

/**
 * Returns the URL of the data directory's server for a browser of this machine.
 * @throws AppError `failed` without a server, `usage` for a database, since several servers may share it
 */
function runningServerUrl({ dataDir, database }: StorageConfig): string {
  if (database !== undefined)
    throw new AppError('usage', 'with --database give --url or --public-url, the address that browsers use')
  const address = isServed(dataDir) ? readServerAddress(dataDir) : undefined
  if (address === undefined) {
    throw new AppError('failed', 'no server runs on this data directory: start one, or give its --url')
  }
  const url = new URL(address)
  const isTls = url.protocol === 'https:'
  const wildcard = WILDCARD[url.hostname]
  if (wildcard !== undefined) url.hostname = isTls ? hostname() : wildcard
  if (isTls || /^(127\.|localhost$|\[::1\]$)/.test(url.hostname)) return url.href
  const why = 'and a browser may sign in over plain HTTP on 127.0.0.1 alone'
  throw new AppError('failed', `the server listens on ${url.origin}, ${why}: serve HTTPS, or give --url`)
}
