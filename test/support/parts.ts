// Puts test files together into parts, a process each: to load the program takes longer than most files of tests.
// `node test/support/parts.ts "test/*.test.ts"` writes a file for each part, which imports its test files. The output is
// their paths, for `node --test`.

import { createHash } from 'node:crypto'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '../..')
const FILES_EACH = 12

/** Files with a process of their own, each with its reason. */
export const ALONE: Record<string, string> = {
  'test/api/documents/upload-memory.test.ts': 'measures memory',
  'test/api/raw.test.ts': 'has a hook after each test',
  'test/unit/cli/storage/storage-config.test.ts': 'sets environment variables',
  'test/unit/domain/rates/rate-cache-memory.test.ts': 'measures memory',
  'test/unit/http/documents/uploads/json-body.test.ts': 'measures memory',
  'test/unit/http/documents/uploads/memory.test.ts': 'measures memory',
  'test/unit/runtime/memory-budget.test.ts': 'measures memory',
  'test/unit/store/blobs/bucket/bucket-credentials.test.ts': 'sets environment variables',
  'test/unit/web/documents/live-documents.test.ts': 'imitates a browser of its own',
  'test/unit/web/documents/directory.test.ts': 'imitates a browser of its own',
  'test/unit/web/documents/upload-queue.test.ts': 'imitates a browser of its own',
}

/** Writes the parts of these test files. Returns the paths for `node --test`, relative to the root. */
export function writeParts(files: readonly string[]): string[] {
  const together = files.filter((file) => !(file in ALONE))
  // Its own folder for each list: two lanes may run at once.
  const folder = join(
    'test/.parts',
    createHash('sha256').update(together.join('\n')).digest('hex').slice(0, 8),
  )
  mkdirSync(join(ROOT, folder), { recursive: true })
  const parts = Array.from({ length: Math.ceil(together.length / FILES_EACH) }, (_, at) => {
    const path = join(folder, `part-${String(at + 1).padStart(2, '0')}.test.mjs`)
    const imports = together.slice(at * FILES_EACH, (at + 1) * FILES_EACH)
    const lines = imports.map((file) => `import ${JSON.stringify(pathToFileURL(join(ROOT, file)).href)}\n`)
    writeFileSync(join(ROOT, path), lines.join(''))
    return path
  })
  return [...files.filter((file) => file in ALONE), ...parts]
}

if (import.meta.main) {
  const files = globSync(process.argv.slice(2), { cwd: ROOT }).sort()
  process.stdout.write(`${writeParts(files).join('\n')}\n`)
}
