// Where the data of a command are, from its options: a data directory, or a database that several nodes share with a place
// for contents that all of them see. What does not go together is refused before anything is opened.

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { AppError, reasonOf } from '../../errors.ts'
import { parseHookKey } from '../../store/hooks/key.ts'
import type { BlobsPlace, Place } from '../../store/place.ts'
import type { BlobsOption } from './options.ts'

/** What was given; one that a command does not take is not there at all. */
export type PlaceOptions = {
  'data-dir'?: string
  database?: string | undefined
  'database-file'?: string | undefined
  'no-migrate'?: boolean
  blobs?: BlobsOption | undefined
  'blobs-shared'?: boolean
  's3-endpoint'?: string | undefined
  's3-region'?: string | undefined
  'hook-key-file'?: string | undefined
}

type Asking = {
  /** The options that were given as flags. */
  flags: readonly string[]
  say(text: string): void
}

const PASSWORD = /^\w+:\/\/[^@]*:[^@]*@|[?&]password=/
const BOTH_WAYS =
  'give --blobs s3://BUCKET/PREFIX, or --blobs DIR --blobs-shared for a directory that all nodes see'

/**
 * To be called while this process is still the user that started it: only that one may be allowed to read the file.
 * @throws AppError `usage` for options that do not go together, `failed` for a file that cannot be read
 */
export function placeOf(options: PlaceOptions, { flags, say }: Asking): Place {
  const { 'data-dir': dataDir = '' } = options
  const database = databaseOf(options)
  if (database === undefined) {
    refuseWithoutDatabase(options)
    return { dataDir }
  }
  if (flags.includes('database') && PASSWORD.test(database)) {
    say(
      'cambista: every user of this machine may read a password in a flag (ps shows it): give the address in\n',
    )
    say(
      '  CAMBISTA_DATABASE or --database-file, or the password alone in ~/.pgpass or in the file of PGPASSFILE\n',
    )
  }
  if (flags.includes('data-dir'))
    say(`cambista: --data-dir ${dataDir} is ignored: the data are in --database\n`)
  return { dataDir, database, blobs: blobsOf(options), hookKey: hookKeyOf(options) }
}

/**
 * `env`: as the client of the bucket sees it. In a file of AWS there may be a region, which only the client can read.
 * @throws AppError `usage` for a bucket of which nothing says the region
 */
export function refuseWithoutRegion({ blobs }: Place, env: NodeJS.ProcessEnv): void {
  if (!blobs || !('bucket' in blobs) || blobs.region !== undefined || env.AWS_REGION) return
  const ofAws = (file: string) => join(env.HOME || homedir(), '.aws', file)
  const files = [
    env.AWS_CONFIG_FILE || ofAws('config'),
    env.AWS_SHARED_CREDENTIALS_FILE || ofAws('credentials'),
  ]
  if (files.some(existsSync)) return
  throw new AppError(
    'usage',
    `the region of the bucket ${blobs.bucket} is missing: give --s3-region, or AWS_REGION`,
  )
}

/** @throws AppError `usage` where the data are in a database: backups are of a data directory */
export function refuseBackups({ database }: Place, asked: string): void {
  if (database === undefined) return
  const whose =
    'the data are in a PostgreSQL, which its administrator backs up (pg_dump, or an archive of its WAL)'
  const contents =
    'what was deleted stays in the place for contents for --keep-removed days, so go back no further'
  throw new AppError(
    'usage',
    `${asked} is for a data directory: ${whose}; ${contents} (cambista manual cluster)`,
  )
}

function databaseOf({ database, 'database-file': file }: PlaceOptions): string | undefined {
  if (file === undefined) return database
  if (database !== undefined) {
    throw new AppError(
      'usage',
      '--database and --database-file (or their variables) are both given: leave one out',
    )
  }
  const text = bytesOf(file, 'the address of the database').toString().trim()
  if (text !== '') return text
  throw new AppError('failed', `there is no address of a database in ${file} (--database-file)`)
}

function hookKeyOf({ 'hook-key-file': file }: PlaceOptions): Buffer | undefined {
  if (file === undefined) return undefined
  const key = parseHookKey(bytesOf(file, 'the key of hooks'))
  if (key) return key
  const right = '32 bytes, as they are or in base64 or hex: openssl rand -base64 32 makes one'
  throw new AppError('failed', `there is no key in ${file} (--hook-key-file), which is ${right}`)
}

function bytesOf(file: string, what: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new AppError('failed', `cannot read ${what}: ${reasonOf(error)}`, { cause: error })
  }
}

function refuseWithoutDatabase(options: PlaceOptions): void {
  const { blobs, 'no-migrate': noMigrate, 'blobs-shared': shared, ...others } = options
  const given = [
    blobs && 'blobs',
    shared && 'blobs-shared',
    others['s3-endpoint'] !== undefined && 's3-endpoint',
    others['s3-region'] !== undefined && 's3-region',
    others['hook-key-file'] !== undefined && 'hook-key-file',
    noMigrate && 'no-migrate',
  ].find(Boolean)
  if (!given) return
  throw new AppError(
    'usage',
    `--${given} goes with --database: without one, rates and documents are in the data directory (cambista manual cluster)`,
  )
}

/** Undefined: the command does not need them. */
function blobsOf(options: PlaceOptions): BlobsPlace | undefined {
  if (!Object.hasOwn(options, 'blobs')) return undefined
  const { blobs, 'blobs-shared': shared = false } = options
  const { 's3-endpoint': endpoint, 's3-region': region } = options
  if (blobs === undefined) {
    throw new AppError('usage', `--database needs a place for the contents of documents: ${BOTH_WAYS}`)
  }
  if ('bucket' in blobs) {
    if (shared) throw new AppError('usage', '--blobs-shared is for a directory, and --blobs names a bucket')
    return { ...blobs, endpoint, region }
  }
  const { folder } = blobs
  if (!shared) {
    const why = `other nodes would not find what this one keeps in ${folder}`
    throw new AppError('usage', `${why}: ${BOTH_WAYS}`)
  }
  const ofBucket = endpoint === undefined ? (region === undefined ? undefined : 'region') : 'endpoint'
  if (ofBucket) throw new AppError('usage', `--s3-${ofBucket} is for a bucket, and --blobs names a directory`)
  return { folder: resolve(folder) }
}
