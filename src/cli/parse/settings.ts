// The service's settings on this machine. systemd hands the file to the service; every command takes it below
// flags and environment, so that `sudo cambista key create erp` makes a key of the service.

import { existsSync, readFileSync } from 'node:fs'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import type { Environment } from './args.ts'
import { TOKEN_VARIABLES } from './provider-options.ts'

export const SETTINGS_FILE = '/etc/cambista/cambista.env'

const OURS = /^CAMBISTA_[\w-]+$/
const OF_LIBRARIES = /^(AWS_\w+|PGPASS(FILE|WORD))$/
const DATABASE = ['CAMBISTA_DATABASE', 'CAMBISTA_DATABASE_FILE']

export type Settings = {
  file: string
  /** The variables in it that are ours by their names, mistyped ones too. */
  values: Environment
  /** There may be such a file, but this user cannot see it. */
  hidden: boolean
}

/**
 * The settings in a file, as far as the environment leaves them in force; none when it is not there, or when there is
 * no file to look at. @throws AppError `failed`
 */
export function readSettings(file: string | undefined, env: Environment): Settings {
  const none = { file: file ?? '', values: {}, hidden: false }
  if (file === undefined) return none
  try {
    const values = parseEnvironmentFile(readFileSync(file, 'utf8'))
    // The two say one thing, and a token file is looked at first: below a token it must not be seen at all.
    for (const { token, file } of TOKEN_VARIABLES) if (env[token]) delete values[file]
    // One of these in the environment is in place of the other one here.
    if (DATABASE.some((name) => env[name])) for (const name of DATABASE) delete values[name]
    return { ...none, values }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return none
    if (code === 'EACCES') return { ...none, hidden: true }
    throw new AppError('failed', `cannot read the service's settings: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * What the clients of PostgreSQL and S3 look for in the environment themselves, such as AWS_ACCESS_KEY_ID, as the settings
 * have it: systemd gives it to the service, and to commands nobody else would.
 */
export function readLibrarySettings({ file, hidden }: Settings): Environment {
  return file === '' || hidden || !existsSync(file)
    ? {}
    : parseEnvironmentFile(readFileSync(file, 'utf8'), OF_LIBRARIES)
}

/** They look at the environment of the process by themselves. */
export function lendToLibraries(settings: Settings): void {
  for (const [name, value] of Object.entries(readLibrarySettings(settings))) process.env[name] ||= value
}

/** An environment with the settings below it. An empty variable is an unset one. */
export function withSettings(env: Environment, { values }: Settings): Environment {
  const merged = { ...env }
  for (const [name, value] of Object.entries(values)) merged[name] ||= value
  return merged
}

/**
 * The variables in a file, those of ours unless told, that systemd reads as EnvironmentFile=, understood as it does. (Node's
 * util.parseEnv cuts values at a #, and knows other quotes and escapes.)
 */
export function parseEnvironmentFile(text: string, wanted = OURS): Environment {
  const values: Environment = {}
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
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
    if (wanted.test(name)) values[name] = value
  }
  return values
}

/** What is not in quotes: a backslash keeps the next character, or joins the next line; space at the end is dropped. */
function bareText(text: string): string {
  let value = ''
  let end = 0
  for (const [, escaped, plain = ''] of text.matchAll(/\\(.)|([^\\])/gs)) {
    value += escaped === undefined ? plain : escaped.replace(/[\r\n]/, '')
    if (escaped !== undefined || !/[ \t]/.test(plain)) end = value.length
  }
  return value.slice(0, end)
}
