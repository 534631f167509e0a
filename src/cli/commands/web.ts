// A link that opens the page signed in, for a user who has the data directory and no secret at hand.

import { hostname } from 'node:os'
import { LINK_MINUTES, makeLoginLink } from '../../domain/login-links.ts'
import { AppError } from '../../errors.ts'
import { findActiveApiKeyByName } from '../../store/api-keys.ts'
import { isServed } from '../../store/backup/data-dir-files.ts'
import type { Place } from '../../store/place.ts'
import { readServerAddress, WILDCARD } from '../../store/server-address.ts'
import type { Db } from '../../store/tables.ts'
import { findActiveTokenByName } from '../../store/tokens.ts'
import { command, printResult } from '../command.ts'
import { httpUrl } from '../option-formats.ts'
import { PLACE } from '../place/options.ts'
import { needSecret } from './secret.ts'

export const web = command({
  name: 'web',
  positionals: [],
  summary: 'print a link that opens the page signed in, once',
  about: `The link signs a browser in with a key (rates), with a token (documents), or with both. It is good for five minutes
and once, and the page asks before it takes it. The secrets themselves are neither needed nor shown. The address is that of
the server that runs on the data directory; behind a proxy, --url says the address that browsers use.`,
  options: ['key', 'token', 'url', ...PLACE, 'json'],
  own: {
    url: {
      value: 'URL',
      fallback: undefined,
      help: 'address of the page in the browser; else that of the running server',
      format: httpUrl,
    },
  },
  changesData: true,
  example: 'cambista web --key erp --token scans',
  run({ options, terminal, place, withDatabase }) {
    const { key: keyName, token: tokenName } = options
    if (keyName === undefined && tokenName === undefined) {
      throw new AppError('usage', 'give --key NAME, --token NAME or both: what the link signs in with')
    }
    const { url } = options
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const key = keyName === undefined ? undefined : await keyNamed(db, keyName)
      const token =
        tokenName === undefined
          ? undefined
          : needSecret('token', tokenName, await findActiveTokenByName(db, tokenName))
      const page = new URL(url ?? runningAt(place()))
      const { code, endsAt } = await makeLoginLink(db, { keyId: key?.id, tokenId: token?.id }, clock)
      page.hash = `login=${code}`
      const names = [...(key ? [`key ${key.name}`] : []), ...(token ? [`token ${token.name}`] : [])]
      terminal.err(`Signs in with ${names.join(' and ')}, once and within ${LINK_MINUTES} minutes:\n`)
      printResult(terminal, options, { url: page.href, ends_at: endsAt }, [page.href])
      return 0
    })
  },
})

/** @throws AppError `not-found`, or `failed` for a key that does not sign in */
async function keyNamed(db: Db, name: string) {
  const key = needSecret('key', name, await findActiveApiKeyByName(db, name))
  if (key.kind === 'header') return key
  throw new AppError('failed', `key ${name} was made for URLs or is one of the bank: it does not sign in`)
}

/**
 * Where a browser of this machine finds the server of a data directory.
 * @throws AppError `failed`, and `usage` for a database, which any number of servers share
 */
function runningAt({ dataDir, database }: Place): string {
  if (database !== undefined)
    throw new AppError('usage', 'with --database give --url, the address that browsers use')
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
