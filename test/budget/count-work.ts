// Counts the work outside of JavaScript: flushes, trips through the thread pool, statements of SQLite, pages of its log.

import { createHook } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Counts } from './measure.ts'
import { watchStatements } from './statements.ts'

/** Kinds of resources that a thread of the pool serves. */
const POOLED = /^(FSREQ|FILEHANDLECLOSEREQ|ZLIB|HASHREQUEST|RANDOM|SCRYPT|PBKDF2|GETADDRINFO)/
/** SQLite plans such a statement at each execution: values of `?` choose its plan. */
const OPEN_PARAMETER = /(?<!\+)\?/
const PLANNED_BY_VALUES = /^\s*(select|with|update|delete)\b/i
const LOG_HEADER = 32
const FRAME_HEADER = 24

const counts = { fsyncs: 0, trips: 0, statements: 0, plans: 0 }

/** Replaces functions of Node and better-sqlite3 by counting ones; before the program is imported. */
export async function countWork(): Promise<(dataDir: string) => { start(): void; read(): Counts }> {
  createHook({
    init(_, type) {
      if (POOLED.test(type)) counts.trips += 1
    },
  }).enable()
  await countFlushes()
  watchStatements((text) => {
    counts.statements += 1
    if (PLANNED_BY_VALUES.test(text) && OPEN_PARAMETER.test(text)) counts.plans += 1
  })
  return (dataDir) => ({
    start() {
      const database = new Database(join(dataDir, 'cambista.db'))
      database.pragma('wal_checkpoint(TRUNCATE)')
      database.close()
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0
    },
    read() {
      const { pages, commits } = readLog(join(dataDir, 'cambista.db-wal'))
      return { ...counts, fsyncs: counts.fsyncs + commits, pages }
    },
  })
}

async function countFlushes(): Promise<void> {
  const file = await open(import.meta.filename)
  const handles = Object.getPrototypeOf(file) as Pick<FileHandle, 'sync' | 'datasync'>
  await file.close()
  for (const name of ['sync', 'datasync'] as const) {
    const flush = handles[name]
    handles[name] = function (this: FileHandle) {
      counts.fsyncs += 1
      return flush.call(this)
    }
  }
}

/** Reads the frames of a log that began with the count. SQLite flushes the log at each commit. */
function readLog(path: string): { pages: number; commits: number } {
  const log = readFileSync(path)
  const size = log.length > LOG_HEADER ? log.readUInt32BE(8) + FRAME_HEADER : 0
  let [pages, commits] = [0, 0]
  for (let at = LOG_HEADER; size > 0 && at + size <= log.length; at += size) {
    pages += 1
    if (log.readUInt32BE(at + 4) !== 0) commits += 1
  }
  return { pages, commits }
}
