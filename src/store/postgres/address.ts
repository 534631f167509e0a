// Address of a PostgreSQL: a URL as for libpq, of one server. Unknown parts are rejected by name, and no message
// repeats the URL, which may contain a password. Connections to other machines are encrypted unless the URL disables
// that.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { AppError, errorReason } from '../../runtime/errors.ts'

export type Address = {
  config: ClientConfig
  /** Host and database for messages, without user and password: `db.example/cambista`. */
  name: string
  /** Use prepared statements; some poolers do not support them (`prepare=0`). */
  prepare: boolean
}

const FORM = 'postgres://USER:PASSWORD@HOST/DATABASE'
const ESCAPES = 'a character such as @, /, # or % in the password is written as %40, %2F, %23 or %25'
const PARAMETERS = new Set(
  'host port sslmode sslrootcert sslcert sslkey options application_name prepare'.split(' '),
)

/** Parses an address. @throws AppError `usage` that names the fault, and repeats only names of the URL */
export function parseAddress(text: string): Address {
  const url = parse(text)
  const parameters = Object.fromEntries(url.searchParams)
  const unknown = Object.keys(parameters).find((name) => !PARAMETERS.has(name))
  // Parts of a password that is not escaped can look like path, parameters or fragment.
  if (/[/@]/.test(url.pathname.slice(1)) || url.hash || /\W/.test(unknown ?? '')) throw addressError(ESCAPES)
  if (unknown !== undefined) throw addressError(`the parameter ${unknown} is not known`)
  const host = parameters.host ?? decode(url.hostname).replace(/^\[|\]$/g, '')
  const port = parameters.port ?? (url.port || '5432')
  const user = decode(url.username)
  const database = decode(url.pathname.slice(1))
  const password = decode(url.password)
  if (!user) throw addressError('the user is missing')
  if (!database) throw addressError('the name of the database is missing')
  if (host.includes(',')) throw addressError('one host is given, not several')
  if (!/^\d{1,5}$/.test(port)) throw addressError('the port is not a number')
  const { options, application_name = 'cambista' } = parameters
  return {
    config: {
      user,
      database,
      host,
      port: Number(port),
      ssl: tlsOptions(host, parameters),
      application_name,
      ...(password && { password }), // else ~/.pgpass, or the file that PGPASSFILE names
      ...(options && { options }),
    },
    name: `${host.startsWith('/') ? 'the socket of ' : ''}${host}/${database}`,
    prepare: parameters.prepare !== '0',
  }
}

function parse(text: string): URL {
  if (!/^postgres(ql)?:\/\//.test(text)) throw addressError(`it does not begin with postgres://`)
  try {
    return new URL(text.replace('@/', '@localhost/').replace(/^(\w+:\/\/)(\/|$)/, '$1localhost/'))
  } catch {
    throw addressError(ESCAPES)
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw addressError(ESCAPES)
  }
}

function tlsOptions(host: string, parameters: Record<string, string>): false | ConnectionOptions {
  const isLocal = host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopbackHost(host)
  const mode = parameters.sslmode ?? (isLocal ? 'disable' : 'verify-full')
  const files = {
    ...(parameters.sslrootcert && { ca: read('sslrootcert', parameters.sslrootcert) }),
    ...(parameters.sslcert && { cert: read('sslcert', parameters.sslcert) }),
    ...(parameters.sslkey && { key: read('sslkey', parameters.sslkey) }),
  }
  switch (mode) {
    case 'disable':
      return false
    case 'require':
      if (!files.ca) return { ...files, rejectUnauthorized: false }
      return { ...files, checkServerIdentity: () => undefined } // with a root it means verify-ca to libpq, too
    case 'verify-ca':
      if (!files.ca) throw addressError('sslmode=verify-ca needs sslrootcert')
      return { ...files, checkServerIdentity: () => undefined }
    case 'verify-full':
      return files
  }
  throw addressError('sslmode is one of verify-full, verify-ca, require, disable')
}

function isLoopbackHost(host: string): boolean {
  return isIP(host) === 4 && host.startsWith('127.')
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw addressError(`the file of ${parameter} cannot be read: ${errorReason(error)}`)
  }
}

function addressError(reason: string): AppError {
  return new AppError('usage', `the address of the database is not of the form ${FORM}: ${reason}`)
}
