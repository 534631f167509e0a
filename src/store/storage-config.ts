// Storage of the data: a directory of one machine, or a database and a blob store that several nodes share.

import type { OutgoingProxies } from '../runtime/outgoing-proxies.ts'

export type StorageConfig = {
  dataDir: string
  /** Address of a PostgreSQL, which then has all data but the blobs; the data directory is not used. */
  database?: string | undefined
  /** Undefined: the blobs are in the data directory, or are not needed. */
  blobs?: BlobStoreConfig | undefined
  /** Key that encrypts the secrets of hooks in that database, if this node has it. */
  hookKey?: Buffer | undefined
  /** Proxies of a bucket and of mail servers; undefined: all connections are direct. */
  outgoing?: OutgoingProxies | undefined
}

export type BlobStoreConfig = { folder: string } | BucketConfig

/** Configuration of a bucket, without credentials: its client finds them. */
export type BucketConfig = {
  bucket: string
  /** Has no slash at its begin or end. Empty: the whole bucket. */
  prefix: string
  endpoint?: string | undefined
  region?: string | undefined
}
