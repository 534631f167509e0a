// Storage of a command, from its options: a data directory, or the shared database and blob store of a cluster.
// Contradictory options are rejected before anything is opened.

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { secretText } from '../../runtime/secret-text.ts'
import { parseHookKey } from '../../store/hooks/key.ts'
import type { BlobStoreConfig, StorageConfig } from '../../store/storage-config.ts'
import type { STORAGE_WITH_BLOBS } from '../options/storage.ts'
import type { OptionValues } from '../options/values.ts'

/** Storage options. A command that does not declare an option has no such property. */
type StorageOptions = Partial<
  Pick<OptionValues, (typeof STORAGE_WITH_BLOBS)[number] | 'hook-key-file' | 'no-migrate'>
>

type Invocation = {
  /** Names of the options given as flags. */
  flags: readonly string[]
  warn(text: string): void
}

const PASSWORD = /^\w+:\/\/[^@]*:[^@]*@|[?&]password=/
const BLOBS_ADVICE =
  'give --blobs s3://BUCKET/PREFIX, or --blobs DIR --blobs-shared for a directory that all nodes see'

/**
 * Builds the storage configuration. Call it before `becomeOwner`: perhaps only the first user may read the files.
 * @throws AppError `usage` for contradictory options, `failed` for a file that cannot be read
 */
export function storageConfig(options: StorageOptions, { flags, warn }: Invocation): StorageConfig {
  const { 'data-dir': dataDir = '' } = options
  const database = databaseAddress(options)
  if (database === undefined) {
    refuseClusterOptions(options)
    return { dataDir }
  }
  if (flags.includes('database') && PASSWORD.test(database)) {
    warn(
      'cambista: every user of this machine may read a password in a flag (ps shows it): give the address in\n',
    )
    warn(
      '  CAMBISTA_DATABASE or --database-file, or the password alone in ~/.pgpass or in the file of PGPASSFILE\n',
    )
  }
  if (flags.includes('data-dir'))
    warn(`cambista: --data-dir ${dataDir} is ignored: the data are in --database\n`)
  return { dataDir, database, blobs: blobStoreConfig(options), hookKey: readHookKeyFile(options) }
}

/**
 * Requires a region for a bucket. `env`: the environment of the S3 client. A configuration file of AWS may have the
 * region, and only the client can parse it.
 * @throws AppError `usage` for a bucket without a region
 */
export function refuseWithoutRegion({ blobs }: StorageConfig, env: NodeJS.ProcessEnv): void {
  if (!blobs || !('bucket' in blobs) || blobs.region !== undefined || env.AWS_REGION) return
  const awsFile = (file: string) => join(env.HOME || homedir(), '.aws', file)
  const files = [
    env.AWS_CONFIG_FILE || awsFile('config'),
    env.AWS_SHARED_CREDENTIALS_FILE || awsFile('credentials'),
  ]
  if (files.some(existsSync)) return
  throw new AppError(
    'usage',
    `the region of the bucket ${blobs.bucket} is missing: give --s3-region, or AWS_REGION`,
  )
}

/** Rejects backups of a shared database. @throws AppError `usage` */
export function refuseBackups({ database }: StorageConfig, subject: string): void {
  if (database === undefined) return
  const advice =
    'the data are in a PostgreSQL, which its administrator backs up (pg_dump, or an archive of its WAL)'
  const limit =
    'what was deleted stays in the place for contents for --keep-removed days, so go back no further'
  throw new AppError(
    'usage',
    `${subject} is for a data directory: ${advice}; ${limit} (cambista manual cluster)`,
  )
}

function databaseAddress({ database, 'database-file': file }: StorageOptions): string | undefined {
  if (file === undefined) return database
  if (database !== undefined) {
    throw new AppError(
      'usage',
      '--database and --database-file (or their variables) are both given: leave one out',
    )
  }
  const text = secretText(readNamedFile(file, 'the address of the database')).trim()
  if (text !== '') return text
  throw new AppError('failed', `there is no address of a database in ${file} (--database-file)`)
}

/** Returns the key of hooks in its file. @throws AppError `failed` for a file without one */
export function readHookKeyFile({ 'hook-key-file': file }: StorageOptions): Buffer | undefined {
  if (file === undefined) return undefined
  const key = parseHookKey(readNamedFile(file, 'the key of hooks'))
  if (key) return key
  const format = '32 bytes, as they are or in base64 or hex: openssl rand -base64 32 makes one'
  throw new AppError('failed', `there is no key in ${file} (--hook-key-file), which is ${format}`)
}

/** Reads a file that the user names; `what`: its content, for the error. @throws AppError `failed` */
export function readNamedFile(file: string, what = file): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new AppError('failed', `cannot read ${what}: ${errorReason(error)}`, { cause: error })
  }
}

function refuseClusterOptions(options: StorageOptions): void {
  const { blobs, 'no-migrate': noMigrate, 'blobs-shared': shared, ...others } = options
  const option = [
    blobs && 'blobs',
    shared && 'blobs-shared',
    others['s3-endpoint'] !== undefined && 's3-endpoint',
    others['s3-region'] !== undefined && 's3-region',
    others['hook-key-file'] !== undefined && 'hook-key-file',
    noMigrate && 'no-migrate',
  ].find(Boolean)
  if (!option) return
  throw new AppError(
    'usage',
    `--${option} goes with --database: without one, rates and documents are in the data directory (cambista manual cluster)`,
  )
}

/** Returns undefined for a command that does not use blobs. */
function blobStoreConfig(options: StorageOptions): BlobStoreConfig | undefined {
  if (!Object.hasOwn(options, 'blobs')) return undefined
  const { blobs, 'blobs-shared': shared = false } = options
  const { 's3-endpoint': endpoint, 's3-region': region } = options
  if (blobs === undefined) {
    throw new AppError('usage', `--database needs a place for the contents of documents: ${BLOBS_ADVICE}`)
  }
  if ('bucket' in blobs) {
    if (shared) throw new AppError('usage', '--blobs-shared is for a directory, and --blobs names a bucket')
    return { ...blobs, endpoint, region }
  }
  const { folder } = blobs
  if (!shared) {
    const why = `other nodes would not find what this one keeps in ${folder}`
    throw new AppError('usage', `${why}: ${BLOBS_ADVICE}`)
  }
  const bucketOption = endpoint === undefined ? (region === undefined ? undefined : 'region') : 'endpoint'
  if (bucketOption)
    throw new AppError('usage', `--s3-${bucketOption} is for a bucket, and --blobs names a directory`)
  return { folder: resolve(folder) }
}
