// Where the data are: in a directory of one machine, or in a database and a place for contents that several nodes share.

export type Place = {
  dataDir: string
  /** The address of a PostgreSQL, which then has all but the contents of documents; the data directory is not used. */
  database?: string | undefined
  /** Undefined: in the data directory, or not needed. */
  blobs?: BlobsPlace | undefined
  /** Of the secrets of hooks in that database, if this node was given it. */
  hookKey?: Buffer | undefined
}

export type BlobsPlace = { folder: string } | BucketPlace

/** Credentials are never part of it: the client of the bucket finds them. */
export type BucketPlace = {
  bucket: string
  /** Without a slash at its begin or end; empty: the whole bucket. */
  prefix: string
  endpoint?: string | undefined
  region?: string | undefined
}
