// Options of several nodes over one database, and the lists that commands include.

import { type Format, httpUrl, integer, nonEmpty, time } from './formats.ts'
import { flag, option } from './names.ts'

/** Blob store: a directory that all nodes share, or a bucket with a key prefix. */
export type BlobsOption = { folder: string } | { bucket: string; prefix: string }

const BUCKET_URL = /^s3:\/\/([\w.-]{3,255})(?:\/([\w./=+-]*))?$/

const blobsUrl: Format<BlobsOption> = {
  validate(text) {
    if (BUCKET_URL.test(text) || (text !== '' && !text.includes('://'))) return undefined
    return { name: 'format.blobs' }
  },
  parse(text) {
    const [, bucket, path = ''] = BUCKET_URL.exec(text) ?? []
    if (bucket === undefined) return { folder: text }
    return { bucket, prefix: path.split('/').filter(Boolean).join('/') }
  },
}

export const CLUSTER = {
  database: option('URL', nonEmpty),
  'database-file': option('FILE', nonEmpty),
  'no-migrate': flag,
  'stale-for': option('TIME', time, '5m'),
  blobs: option('PLACE', blobsUrl),
  'blobs-shared': flag,
  's3-endpoint': option('URL', httpUrl),
  's3-region': option('NAME', nonEmpty),
  'hook-key-file': option('FILE', nonEmpty),
  'keep-removed': option('DAYS', integer(1, 3650), '8'),
} as const

/** Options of every command that reads or changes data. */
export const STORAGE = ['data-dir', 'database', 'database-file'] as const

/** The same for commands that decrypt the secrets of hooks. */
export const STORAGE_WITH_HOOK_KEY = [...STORAGE, 'hook-key-file'] as const

/** The same for commands that read or delete blobs. */
export const STORAGE_WITH_BLOBS = [...STORAGE, 'blobs', 'blobs-shared', 's3-endpoint', 's3-region'] as const
