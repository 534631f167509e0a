// The commit that the executable and its packages are made of. Their times are those of the commit.

import { spawnSync } from 'node:child_process'

/** Returns the time of the last commit, or of SOURCE_DATE_EPOCH, in seconds. @throws Error without either */
export function sourceEpoch() {
  const epoch = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct')
  if (!epoch) throw new Error('there is no repository here: set SOURCE_DATE_EPOCH')
  return Number(epoch)
}

/** Returns the hash of the last commit, with `-dirty` if files differ from it; null outside of a repository. */
export function headCommit() {
  const commit = git('rev-parse', '--verify', '--quiet', 'HEAD')
  if (!commit) return null
  return changedFiles() === '' ? commit : `${commit}-dirty`
}

/** Returns the files that differ from the last commit, as git lists them. */
export function changedFiles() {
  return git('status', '--porcelain')
}

/** Returns the tags of versions that the last commit has. */
export function versionTags() {
  return (git('tag', '--points-at', 'HEAD') ?? '').split('\n').filter((tag) => /^v\d/.test(tag))
}

/** Returns the output of a command of git; undefined: it failed. */
function git(...words) {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
