// Settings of this machine's service. systemd passes the file to the service. Every command reads it too, below flags
// and environment, so that `sudo cambista key create erp` makes a key of the service.

import { existsSync, readFileSync } from 'node:fs'
import { AppError, errorCode, errorReason } from '../../runtime/errors.ts'
import { TOKEN_VARIABLES } from '../options/provider-options.ts'
import type { Environment } from './args.ts'

export const SETTINGS_FILE = '/etc/cambista/cambista.env'

const OUR_VARIABLES = /^CAMBISTA_[\w-]+$/
const LIBRARY_VARIABLES = /^(AWS_\w+|PGPASS(FILE|WORD))$/
const DATABASE = ['CAMBISTA_DATABASE', 'CAMBISTA_DATABASE_FILE']

export type Settings = {
  file: string
  /** Its variables with our prefix, also mistyped ones. */
  values: Environment
  /** The file may exist, but this user may not read it. */
  hidden: boolean
}

/**
 * Reads the settings in a file, without those that the environment replaces. A missing file has no settings.
 * @throws AppError `failed`
 */
export function readSettings(file: string | undefined, env: Environment): Settings {
  const none = { file: file ?? '', values: {}, hidden: false }
  if (file === undefined) return none
  try {
    const values = parseEnvironmentFile(readFileSync(file, 'utf8'))
    // A token file wins over a token, so a token in the environment must remove the file of the settings.
    for (const { token, file } of TOKEN_VARIABLES) if (env[token]) delete values[file]
    // Either database variable of the environment replaces both of the settings.
    if (DATABASE.some((name) => env[name])) for (const name of DATABASE) delete values[name]
    return { ...none, values }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return none
    if (code === 'EACCES') return { ...none, hidden: true }
    throw new AppError('failed', `cannot read the service's settings: ${errorReason(error)}`, {
      cause: error,
    })
  }
}

/**
 * Reads the settings that the clients of PostgreSQL and S3 expect in the environment, such as AWS_ACCESS_KEY_ID.
 * For the service systemd sets them; commands read them here.
 */
export function readLibrarySettings({ file, hidden }: Settings, names = LIBRARY_VARIABLES): Environment {
  return file === '' || hidden || !existsSync(file)
    ? {}
    : parseEnvironmentFile(readFileSync(file, 'utf8'), names)
}

/** Sets them in the environment of this process, which the clients read. */
export function exportLibraryEnv(settings: Settings): void {
  for (const [name, value] of Object.entries(readLibrarySettings(settings))) process.env[name] ||= value
}

/**
 * Trusts the certificates of NODE_EXTRA_CA_CERTS in the settings. Node reads it at its start alone, from the environment,
 * which systemd sets for the service. An unreadable file is a warning, as it is of Node.
 */
export function trustExtraCertificates(settings: Settings, warn: (text: string) => void): void {
  if (process.env.NODE_EXTRA_CA_CERTS) return
  try {
    const { NODE_EXTRA_CA_CERTS: path } = readLibrarySettings(settings, /^NODE_EXTRA_CA_CERTS$/)
    if (!path) return
    // Loaded here, because the default certificates take milliseconds.
    const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls')
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(path, 'utf8')])
    process.env.NODE_EXTRA_CA_CERTS = path
  } catch (error) {
    warn(`cambista: NODE_EXTRA_CA_CERTS in ${settings.file} is ignored: ${errorReason(error)}\n`)
  }
}

/** Returns the advice for an untrusted certificate; empty for other errors. */
export function trustHint(failure: string): string {
  return /SELF_SIGNED|UNABLE_TO_/.test(failure) ? ': NODE_EXTRA_CA_CERTS=FILE adds an authority to trust' : ''
}

/** Merges settings into an environment, which wins. An empty variable counts as unset. */
export function withSettings(env: Environment, { values }: Settings): Environment {
  const merged = { ...env }
  for (const [name, value] of Object.entries(values)) merged[name] ||= value
  return merged
}

/**
 * Parses an EnvironmentFile= as systemd does and returns the variables of matching names. (Node's util.parseEnv cuts
 * values at a #, and has other quotes and escapes.)
 */
export function parseEnvironmentFile(text: string, names = OUR_VARIABLES): Environment {
  const values: Environment = {}
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  const takeValue = () => {
    let value = ''
    for (;;) {
      take(/[ \t]*/y)
      const quoted = take(/'([^']*)'?/y) ?? take(/"((?:\\.|[^"\\])*)"?/sy)
      if (!quoted) break
      const [whole, inside = ''] = quoted
      value += whole.startsWith("'") ? inside : inside.replace(/\\(?:(["\\`$])|\n)/g, '$1')
    }
    return value + bareText(take(/(?:\\.|[^\\\r\n])*/sy)?.[0] ?? '')
  }
  while (at < text.length) {
    if (take(/\s+/y) || take(/[#;](?:\\.|[^\\\r\n])*/sy)) continue // a backslash continues a comment too
    const name = take(/[^\r\n][^=\r\n]*/y)?.[0].trimEnd() ?? ''
    if (!take(/=/y)) continue
    const value = takeValue()
    if (names.test(name)) values[name] = value
  }
  return values
}

/** Unescapes text outside quotes. A backslash escapes a character or a line break; trailing space is dropped. */
function bareText(text: string): string {
  let value = ''
  let end = 0
  for (const [, escaped, plain = ''] of text.matchAll(/\\(.)|([^\\])/gs)) {
    value += escaped === undefined ? plain : escaped.replace(/[\r\n]/, '')
    if (escaped !== undefined || !/[ \t]/.test(plain)) end = value.length
  }
  return value.slice(0, end)
}
