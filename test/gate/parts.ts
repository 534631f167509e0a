// Puts test files together into parts, a process each: to load the program takes longer than most files of tests.

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '../..')
const FILES_EACH = 20

/** Files with a process of their own, each with its reason. */
export const ALONE: Record<string, string> = {
  'test/api/documents/upload-memory.test.ts': 'counts the buffers of its process',
  'test/api/documents/downloads.test.ts': 'imitates the timers of its process',
  'test/api/raw.test.ts': 'has a hook after each test',
  'test/unit/cli/storage/storage-config.test.ts': 'sets environment variables',
  'test/unit/store/blobs/bucket/bucket-credentials.test.ts': 'sets environment variables',
  'test/unit/web/documents/live-documents.test.ts': 'imitates a browser of its own',
  'test/unit/web/documents/directory.test.ts': 'imitates a browser of its own',
  'test/unit/web/documents/upload-queue.test.ts': 'imitates a browser of its own',
}

/**
 * Writes a file for each part. Each test file is a test of it, so that its servers end with it. Returns the parts with
 * their files, relative to the root.
 */
export function writeParts(files: readonly string[]): Map<string, string[]> {
  const together = files.filter((file) => !(file in ALONE))
  // Its own folder for each list: two lanes may run at once.
  const hash = createHash('sha256').update(together.join('\n')).digest('hex').slice(0, 8)
  const folder = join('test/.parts', hash)
  mkdirSync(join(ROOT, folder), { recursive: true })
  const parts = new Map(files.filter((file) => file in ALONE).map((file) => [file, [file]]))
  for (let at = 0; at < together.length; at += FILES_EACH) {
    const members = together.slice(at, at + FILES_EACH)
    const path = join(folder, `part-${String(parts.size + 1).padStart(2, '0')}.test.mjs`)
    const lines = members.map((file) => {
      const [name, url] = [file, pathToFileURL(join(ROOT, file)).href].map((text) => JSON.stringify(text))
      return `test(${name}, () => import(${url}))\n`
    })
    writeFileSync(join(ROOT, path), ["import { test } from 'node:test'\n", ...lines].join(''))
    parts.set(path, members)
  }
  return parts
}
