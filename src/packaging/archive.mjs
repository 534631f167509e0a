// Files of an archive beside the executable and the licences of packages: copies, and texts that the executable prints.

import { globSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const MANUAL = 'src/manual'

/** Returns the copied files: sources by their path in the archive. */
export function archivePapers() {
  const manual = globSync(`${MANUAL}/**/*.md`, { cwd: ROOT }).sort()
  return {
    'README.md': 'README.md',
    'CHANGELOG.md': 'CHANGELOG.md',
    LICENSE: 'LICENSE',
    ...Object.fromEntries(manual.map((path) => [join('manual', relative(MANUAL, path)), path])),
  }
}

/** Commands whose output is a file, by its path in the archive. */
export const PRINTED = {
  'cambista.service': ['service', 'print'],
  'completions/cambista.bash': ['completion', 'bash'],
  'completions/_cambista': ['completion', 'zsh'],
}
