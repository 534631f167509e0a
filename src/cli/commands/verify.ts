import {
  checkFile,
  type Release,
  readRelease,
  readReleaseKey,
  sumsPath,
} from '../../domain/operations/release.ts'
import type { PublicKey } from '../../formats/minisign.ts'
import { releaseKey } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import { command } from '../command.ts'
import { nonEmpty } from '../options/formats.ts'
import { option } from '../options/names.ts'
import { readNamedFile } from '../storage/storage-options.ts'

export const verify = command({
  name: 'verify',
  positionals: ['FILE…'],
  options: ['sums', 'key'],
  overrides: { key: option('FILE', nonEmpty) },
  ignoresService: true,
  async run({ options, positionals, terminal }) {
    const key = readKey(options.key)
    const releases = new Map<string, Release>()
    let faults = 0
    for (const file of positionals) {
      const sums = options.sums ?? sumsPath(file)
      const release = releases.get(sums) ?? readRelease(sums, key)
      releases.set(sums, release)
      const result = await checkFile(file, release, terminal.stop)
      if ('fault' in result) {
        faults++
        terminal.out(`FAULT  ${file}: ${result.fault}\n`)
      } else {
        const { version, commit } = release
        terminal.out(`ok     ${file}: ${result.name} of cambista ${version}, commit ${commit}\n`)
      }
    }
    return faults === 0 ? 0 : 1
  },
})

/** Reads the key of --key, else the built-in one. @throws AppError `failed` */
export function readKey(file: string | undefined): PublicKey {
  if (file !== undefined) return readReleaseKey(readNamedFile(file, 'the public key').toString(), file)
  const key = releaseKey()
  if (key !== undefined) return readReleaseKey(key, 'the built-in key')
  throw new AppError(
    'failed',
    'this program has no built-in key of the releases: give their public key with --key FILE',
  )
}
