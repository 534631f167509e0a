// Writing certificates and their keys: new files only, all of them or none.

import { closeSync, existsSync, fchmodSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, reasonOf } from '../../../errors.ts'
import { makeDirectory } from '../../host.ts'

const UNIT = '/etc/systemd/system/cambista.service'

/** What there is to write into NAME.pem; each but the key is for everybody to read. */
export type Texts = { key: string; cert: string; ca?: string }

/**
 * Writes the files, or none, and returns their paths. A directory that it makes lets others in: the key is kept by its own
 * mode. @throws AppError `failed` when one is there already or cannot be written
 */
export function writeNew<Given extends Texts>(dir: string, texts: Given): { [name in keyof Given]: string } {
  const files = Object.entries<string>(texts).map(([name, text]) => ({
    name,
    text,
    path: join(dir, `${name}.pem`),
  }))
  const there = files.find(({ path }) => existsSync(path))
  if (there) {
    throw new AppError(
      'failed',
      `${there.path} is there already and is not overwritten: choose another --out`,
    )
  }
  const ours: string[] = []
  try {
    makeDirectory(dir)
    for (const { name, text, path } of files) {
      const mode = name === 'key' ? 0o600 : 0o644
      const file = openSync(path, 'wx', mode)
      ours.push(path)
      fchmodSync(file, mode) // whatever the umask
      writeFileSync(file, text, { flush: true })
      closeSync(file)
    }
    return Object.fromEntries(files.map(({ name, path }) => [name, path])) as {
      [name in keyof Given]: string
    }
  } catch (error) {
    for (const path of ours) rmSync(path)
    throw new AppError('failed', `cannot write a certificate into ${dir}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

/** What lets the service on this machine read the key, when there is a service; else nothing. */
export function keyForService(key: string): string {
  const isForService = process.getuid?.() === 0 && existsSync(UNIT)
  return isForService ? `Let the service read the key: chown cambista: ${key}\n` : ''
}
