// Address of a PostgreSQL: a URL as for libpq, of one host or several. Unknown parts are rejected by name, and no
// message repeats the URL, which may contain a password. Connections to other machines are encrypted unless the URL
// disables that.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { AppError, errorReason } from '../../runtime/errors.ts'

export type Host = {
  /** For messages: the host, and its port where that is not 5432. */
  name: string
  config: { host: string; port: number; ssl: false | ConnectionOptions }
}

export type Address = {
  /** Configuration of the first host. */
  config: ClientConfig
  /** Order of the address. Nodes use the host that writes (hosts.ts). */
  hosts: readonly [Host, ...Host[]]
  /** Hosts and database for messages, without user and password: `db.example/cambista`. */
  name: string
  /** Timeout of a connection; undefined: the default of each pool. */
  connectMs: number | undefined
  /** Use prepared statements; some poolers do not support them (`prepare=0`). */
  prepare: boolean
}

const FORM = 'postgres://USER:PASSWORD@HOST/DATABASE'
const ESCAPES = 'a character such as @, /, # or % in the password is written as %40, %2F, %23 or %25'
const PARAMETERS = new Set(
  'host port sslmode sslrootcert sslcert sslkey options application_name prepare target_session_attrs connect_timeout'.split(
    ' ',
  ),
)
const DEFAULT_PORT = '5432'

/** Parses an address. @throws AppError `usage` that names the fault, and repeats only names of the URL */
export function parseAddress(text: string): Address {
  const { url, authorities } = parse(text)
  const parameters = Object.fromEntries(url.searchParams)
  const unknown = Object.keys(parameters).find((name) => !PARAMETERS.has(name))
  // Parts of a password that is not escaped can look like path, parameters or fragment.
  if (/[/@]/.test(url.pathname.slice(1)) || url.hash || /\W/.test(unknown ?? '')) throw addressError(ESCAPES)
  if (unknown !== undefined) throw addressError(`the parameter ${unknown} is not known`)
  const hosts = parseHosts(authorities, parameters)
  const user = decode(url.username)
  const database = decode(url.pathname.slice(1))
  const password = decode(url.password)
  if (!user) throw addressError('the user is missing')
  if (!database) throw addressError('the name of the database is missing')
  refuseTarget(parameters.target_session_attrs)
  const { options, application_name = 'cambista' } = parameters
  const [first] = hosts
  return {
    config: {
      user,
      database,
      ...first.config,
      application_name,
      ...(password && { password }), // else ~/.pgpass, or the file that PGPASSFILE names
      ...(options && { options }),
    },
    hosts,
    name: `${first.config.host.startsWith('/') ? 'the socket of ' : ''}${hostNames(hosts)}/${database}`,
    connectMs: connectTimeout(parameters.connect_timeout),
    prepare: parameters.prepare !== '0',
  }
}

/** The URL with its first host alone, and a URL for each host with its port. */
function parse(text: string): { url: URL; authorities: URL[] } {
  const [, scheme, user = '', hosts = '', rest] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) throw addressError(`it does not begin with postgres://`)
  const names = hosts.split(',').map((name) => name || 'localhost')
  try {
    return {
      url: new URL(`${scheme}${user}${names[0]}${rest}`),
      authorities: names.map((name) => new URL(scheme + name)),
    }
  } catch {
    throw addressError(ESCAPES)
  }
}

/** Hosts of the parameters `host` and `port`, or those before the path. A single port is for all hosts. */
function parseHosts(authorities: readonly URL[], parameters: Record<string, string>): [Host, ...Host[]] {
  const hosts =
    parameters.host?.split(',') ?? authorities.map((url) => decode(url.hostname).replace(/^\[|\]$/g, ''))
  const ports = parameters.port?.split(',') ?? authorities.map(({ port }) => port || DEFAULT_PORT)
  if (ports.some((port) => !/^\d{1,5}$/.test(port) || Number(port) > 65_535))
    throw addressError('the port is not a number')
  if (ports.length > 1 && ports.length !== hosts.length)
    throw addressError('one port is given for all hosts, or one for each')
  if (hosts.includes('')) throw addressError('a host is empty')
  const toHost = (host: string, at: number): Host => {
    const port = Number(ports[ports.length > 1 ? at : 0])
    return { name: hostName(host, port), config: { host, port, ssl: tlsOptions(host, parameters) } }
  }
  const [first = '', ...more] = hosts
  return [toHost(first, 0), ...more.map((host, at) => toHost(host, at + 1))]
}

function hostName(host: string, port: number): string {
  const isDefault = String(port) === DEFAULT_PORT
  return isDefault ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A single host is named without its port. */
function hostNames(hosts: readonly [Host, ...Host[]]): string {
  return hosts.length === 1 ? hosts[0].config.host : hosts.map(({ name }) => name).join(',')
}

function refuseTarget(target = 'read-write'): void {
  if (target === 'read-write' || target === 'primary') return
  throw addressError('target_session_attrs is read-write or primary: a node writes to its database')
}

function connectTimeout(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  if (!/^\d{1,3}$/.test(seconds) || Number(seconds) === 0)
    throw addressError('connect_timeout is a whole number of seconds, from 1 to 999')
  return Number(seconds) * 1000
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
