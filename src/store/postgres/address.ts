// Where a PostgreSQL is: a URL as libpq takes one, of one server. What is not understood is refused by name, and no message
// repeats the URL, which may hold a password. A connection to another machine is encrypted, unless it is written out that
// it is not.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { AppError, reasonOf } from '../../errors.ts'

export type Address = {
  config: ClientConfig
  /** Without user and password, for messages: `db.example/cambista`. */
  name: string
  /** Whether statements are kept by the server: not behind some poolers (`prepare=0`). */
  prepare: boolean
}

const FORM = 'postgres://USER:PASSWORD@HOST/DATABASE'
const ESCAPES = 'a character such as @, /, # or % in the password is written as %40, %2F, %23 or %25'
const PARAMETERS = new Set(
  'host port sslmode sslrootcert sslcert sslkey options application_name prepare'.split(' '),
)

/** @throws AppError `usage` that says what is wrong, and nothing that was given but names */
export function addressOf(text: string): Address {
  const url = parse(text)
  const given = Object.fromEntries(url.searchParams)
  const unknown = Object.keys(given).find((name) => !PARAMETERS.has(name))
  // Of a password that is not escaped a part may be taken for whatever follows the host.
  if (/[/@]/.test(url.pathname.slice(1)) || url.hash || /\W/.test(unknown ?? '')) throw wrong(ESCAPES)
  if (unknown !== undefined) throw wrong(`the parameter ${unknown} is not known`)
  const host = given.host ?? decoded(url.hostname).replace(/^\[|\]$/g, '')
  const port = given.port ?? (url.port || '5432')
  const user = decoded(url.username)
  const database = decoded(url.pathname.slice(1))
  const password = decoded(url.password)
  if (!user) throw wrong('the user is missing')
  if (!database) throw wrong('the name of the database is missing')
  if (host.includes(',')) throw wrong('one host is given, not several')
  if (!/^\d{1,5}$/.test(port)) throw wrong('the port is not a number')
  const { options, application_name = 'cambista' } = given
  return {
    config: {
      user,
      database,
      host,
      port: Number(port),
      ssl: tlsOf(host, given),
      application_name,
      ...(password && { password }), // else ~/.pgpass, or the file that PGPASSFILE names
      ...(options && { options }),
    },
    name: `${host.startsWith('/') ? 'the socket of ' : ''}${host}/${database}`,
    prepare: given.prepare !== '0',
  }
}

function parse(text: string): URL {
  if (!/^postgres(ql)?:\/\//.test(text)) throw wrong(`it does not begin with postgres://`)
  try {
    return new URL(text.replace('@/', '@localhost/').replace(/^(\w+:\/\/)(\/|$)/, '$1localhost/'))
  } catch {
    throw wrong(ESCAPES)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw wrong(ESCAPES)
  }
}

function tlsOf(host: string, given: Record<string, string>): false | ConnectionOptions {
  const isLocal = host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopback(host)
  const mode = given.sslmode ?? (isLocal ? 'disable' : 'verify-full')
  const files = {
    ...(given.sslrootcert && { ca: read('sslrootcert', given.sslrootcert) }),
    ...(given.sslcert && { cert: read('sslcert', given.sslcert) }),
    ...(given.sslkey && { key: read('sslkey', given.sslkey) }),
  }
  switch (mode) {
    case 'disable':
      return false
    case 'require':
      if (!files.ca) return { ...files, rejectUnauthorized: false }
      return { ...files, checkServerIdentity: () => undefined } // with a root it means verify-ca to libpq, too
    case 'verify-ca':
      if (!files.ca) throw wrong('sslmode=verify-ca needs sslrootcert')
      return { ...files, checkServerIdentity: () => undefined }
    case 'verify-full':
      return files
  }
  throw wrong('sslmode is one of verify-full, verify-ca, require, disable')
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 && host.startsWith('127.')
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw wrong(`the file of ${parameter} cannot be read: ${reasonOf(error)}`)
  }
}

function wrong(reason: string): AppError {
  return new AppError('usage', `the address of the database is not of the form ${FORM}: ${reason}`)
}
