// The options of several nodes over one database, and which of them a command takes that works on the data.

import { flag } from '../call-options.ts'
import { type Format, httpUrl, integer, nonEmpty, time } from '../option-formats.ts'

/** Contents of documents: a directory that all nodes see, or where in which bucket. */
export type BlobsOption = { folder: string } | { bucket: string; prefix: string }

const BUCKET_URL = /^s3:\/\/([\w.-]{3,255})(?:\/([\w./=+-]*))?$/

const blobsPlace: Format<BlobsOption> = {
  fault(text) {
    if (BUCKET_URL.test(text) || (text !== '' && !text.includes('://'))) return undefined
    return 'must be s3://BUCKET/PREFIX, without credentials, or a directory'
  },
  read(text) {
    const [, bucket, path = ''] = BUCKET_URL.exec(text) ?? []
    if (bucket === undefined) return { folder: text }
    return { bucket, prefix: path.split('/').filter(Boolean).join('/') }
  },
}

const value = <F>(name: string, help: string, format: F) => ({
  ...{ value: name, fallback: undefined, help, format },
})

export const CLUSTER = {
  database: value(
    'URL',
    'the PostgreSQL that nodes share, such as postgres://cambista@db.example.com/cambista, in place of the data directory',
    nonEmpty,
  ),
  'database-file': value('FILE', 'file with that URL in it, for one that has a password', nonEmpty),
  'no-migrate': flag('do not make or change the tables of that database'),
  'stale-for': {
    ...value('TIME', 'how long rates are answered while it is away, such as 90s, 5m or 1h', time),
    fallback: '5m',
  },
  blobs: value(
    'PLACE',
    'where the contents of documents are beside that database: s3://BUCKET/PREFIX, or a directory with --blobs-shared',
    blobsPlace,
  ),
  'blobs-shared': flag('that directory is one that all nodes see, such as a mount of NFS'),
  's3-endpoint': value('URL', 'address of a store of S3 that is not of AWS', httpUrl),
  's3-region': value('NAME', 'region of the bucket; else that of AWS_REGION', nonEmpty),
  'hook-key-file': value(
    'FILE',
    'file with the key of the secrets of hooks in that database, such as openssl rand -base64 32 makes: the same for all nodes',
    nonEmpty,
  ),
  'keep-removed': {
    ...value(
      'DAYS',
      'for how many days deleted contents stay beside that database, which may be put back to an earlier moment',
      integer(1, 3650),
    ),
    fallback: '8',
  },
} as const

/** Where the data are: what every command takes that reads or changes them. */
export const PLACE = ['data-dir', 'database', 'database-file'] as const

/** The same for a command that needs the key of the secrets of hooks. */
export const HOOKS_PLACE = [...PLACE, 'hook-key-file'] as const

/** The same for a command that needs the contents of documents too. */
export const WHOLE_PLACE = [...PLACE, 'blobs', 'blobs-shared', 's3-endpoint', 's3-region'] as const
