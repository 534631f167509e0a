// Writes certificates and keys: new files only, and all or none.

import { closeSync, existsSync, fchmodSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { makeDirectory } from '../../host.ts'
import { PACKAGE_UNIT_FILE, UNIT_FILE } from '../../service/service-names.ts'

/** Texts of the files NAME.pem. Every user may read them, except the key. */
export type PemTexts = { key: string; cert: string; ca?: string }

/**
 * Writes the files, or none, and returns their paths. A new directory has mode 0755; the key's own mode is 0600.
 * @throws AppError `failed` if a file exists or cannot be written
 */
export function writeNewFiles<Pem extends PemTexts>(
  dir: string,
  texts: Pem,
): { [name in keyof Pem]: string } {
  const files = Object.entries<string>(texts).map(([name, text]) => ({
    name,
    text,
    path: join(dir, `${name}.pem`),
  }))
  const existing = files.find(({ path }) => existsSync(path))
  if (existing) {
    throw new AppError(
      'failed',
      `${existing.path} is there already and is not overwritten: choose another --out`,
    )
  }
  const newPaths: string[] = []
  try {
    makeDirectory(dir)
    for (const { name, text, path } of files) {
      const mode = name === 'key' ? 0o600 : 0o644
      const file = openSync(path, 'wx', mode)
      newPaths.push(path)
      fchmodSync(file, mode) // regardless of the umask
      writeFileSync(file, text, { flush: true })
      closeSync(file)
    }
    return Object.fromEntries(files.map(({ name, path }) => [name, path])) as {
      [name in keyof Pem]: string
    }
  } catch (error) {
    for (const path of newPaths) rmSync(path)
    throw new AppError('failed', `cannot write a certificate into ${dir}: ${errorReason(error)}`, {
      cause: error,
    })
  }
}

/** Returns the command that lets this machine's service read the key; empty without a service. */
export function keyAccessHint(key: string, root = '/'): string {
  const hasUnit = [UNIT_FILE, PACKAGE_UNIT_FILE].some((unit) => existsSync(join(root, unit)))
  const isForService = process.getuid?.() === 0 && hasUnit
  return isForService ? `Let the service read the key: chown cambista: ${key}\n` : ''
}
