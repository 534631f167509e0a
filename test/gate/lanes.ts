// The lanes of tests: a group of files that run alike. `npm test` is the lane `process`, `npm run test:NAME` another.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { filesForPostgres } from '../support/postgres/suites.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Lane = {
  /** The command of package.json, which runs the whole lane, or the files that are its arguments. */
  command: string
  patterns: readonly string[]
  /** Files at once, where the lane runs alone. */
  concurrency: number
  /** A module that runs before the files and after them. */
  setup?: string
  /** A module that each process of a file loads first. */
  preload?: string
  /** Several files share a process. */
  joinsFiles?: boolean
  /** Caches compiled code between runs, and collects garbage less often. Tests of memory and of the built file run without it. */
  cachesCode?: boolean
}

export type LaneName = 'process' | 'budget' | 'measures' | 'e2e' | 'faults' | 'engines' | 'clients' | 'page'

export const LANES: Readonly<Record<LaneName, Lane>> = {
  process: {
    command: 'npm test',
    patterns: [
      'test/*.test.ts',
      'test/!(e2e|errands|faults|clients|web|engines|release|measures|budget)/**/*.test.ts',
    ],
    concurrency: 6,
    joinsFiles: true,
    cachesCode: true,
  },
  budget: { command: 'npm run test:budget', patterns: ['test/budget/*.test.ts'], concurrency: 1 },
  measures: { command: 'npm run test:measures', patterns: ['test/measures/*.test.ts'], concurrency: 1 },
  e2e: { command: 'npm run test:e2e', patterns: ['test/{e2e,errands}/**/*.test.ts'], concurrency: 2 },
  faults: {
    command: 'npm run test:faults',
    patterns: ['test/faults/**/*.test.ts'],
    concurrency: 3,
    cachesCode: true,
  },
  engines: {
    command: 'npm run test:engines',
    patterns: ['test/engines/{*,!(long)/**/*}.test.ts'],
    concurrency: 3,
    setup: 'test/support/postgres/shared-server.ts',
    preload: './test/support/postgres/engine-of-file.ts',
    joinsFiles: true,
    cachesCode: true,
  },
  clients: { command: 'npm run test:clients', patterns: ['test/clients/**/*.test.ts'], concurrency: 3 },
  page: {
    command: 'npm run test:page',
    patterns: ['test/web/**/*.test.ts'],
    concurrency: 3,
    setup: 'test/web/full-app.ts',
    cachesCode: true,
  },
}

/** Files of a lane, relative to the root. `engines` includes the suites that run again on PostgreSQL. */
export function listFiles(name: LaneName): string[] {
  const files = globSync(LANES[name].patterns, { cwd: ROOT, exclude: ['**/node_modules'] }).sort()
  return name === 'engines' ? [...files, ...filesForPostgres().map((file) => `test/${file}`)] : files
}
