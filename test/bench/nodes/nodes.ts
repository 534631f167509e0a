// A node over PostgreSQL beside a server over SQLite, in turn, with as many flushes to the disk. Client,
// servers, database and fake bucket share one machine, so only ratios of the figures count.

import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { fillTables } from '../../support/directory.ts'
import { NATIVE, queryOnce, schemaAddress, startPostgres } from '../../support/postgres/server.ts'
import { type Figure, median } from '../figure.ts'
import { PROGRAM, type Running, runToEnd, script, startPrinting, startServer } from '../process.ts'
import { measureContents } from './contents.ts'
import { measureColumns, measureWrites } from './rates.ts'
import { measureStandby } from './standby.ts'
import { measureUploads } from './uploads.ts'

/** A server over SQLite, and nodes over one PostgreSQL, with blobs in a shared folder and in a bucket. */
export type Servers = { sqlite: Running; folder: Running; bucket: Running }

/** `dataDir` has the whole history and the directory of the tests; none where there is no PostgreSQL for this machine. */
export async function measureNodes(dataDir: string, dir: string): Promise<Figure[]> {
  if (!existsSync(NATIVE)) return []
  // The server ends with this process.
  const database = await startPostgres(['fsync=on', 'full_page_writes=on'])
  for (const schema of ['writes', 'bucket']) await queryOnce(database.url, `create schema ${schema}`)
  const [own, moved] = [join(dir, 'nodes-sqlite'), join(dir, 'nodes-moved')]
  for (const copy of [own, moved]) cpSync(dataDir, copy, { recursive: true })
  const shared = ['--blobs', join(dir, 'nodes-blobs'), '--blobs-shared']
  await runToEnd([PROGRAM, 'cluster', 'import', '--data-dir', moved, '--to', database.url, ...shared])
  const figures = [
    ...(await measureColumns(own, database.url)),
    ...(await measureWrites(join(dir, 'nodes-writes'), schemaAddress(database.url, 'writes'))),
  ]

  const stand = await startPrinting(script('nodes/bucket.ts'))
  const bucket = JSON.parse(stand.line) as { options: string[]; env: Record<string, string> }
  const words = ['serve', '--no-scheduler', '--min-free', '0', '--log-level', 'warn']
  const start = (more: string[]) =>
    startServer((port) => [PROGRAM, ...words, ...more, '--port', port], '/readyz', bucket.env)
  const startFolder = () => start(['--database', database.url, ...shared])
  // A database has all its blobs in one store.
  const ofBucket = schemaAddress(database.url, 'bucket')
  const { db, close } = await openPostgres(ofBucket)
  await fillTables(db)
  await close()
  const startBucket = () => start(['--database', ofBucket, ...bucket.options])
  const servers = {
    sqlite: await start(['--data-dir', own]),
    folder: await startFolder(),
    bucket: await startBucket(),
  }
  figures.push(...(await measureUploads(servers)))
  await Promise.all(Object.values(servers).map((one) => one.stop()))
  figures.push(...(await measureStandby(database, startFolder)))
  figures.push(...(await measureContents({ startFolder, startBucket, dir })))
  stand.stop()
  return figures
}

/** Returns the ratio of a node to its peer, by the ratios of each round. */
export function besides(
  of: { work: string; must: Figure['must']; shown(value: number): string },
  rounds: readonly { node: number; limit: number }[],
): Figure {
  const middle = (which: 'node' | 'limit') => of.shown(median(rounds.map((round) => round[which])))
  return {
    work: of.work,
    ours: middle('node'),
    limit: middle('limit'),
    measured: median(rounds.map(({ node, limit }) => node / limit)),
    unit: of.must && 'atMost' in of.must ? ' times' : '',
    must: of.must,
  }
}
