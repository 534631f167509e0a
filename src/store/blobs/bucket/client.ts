// The calls of S3 that are used, over its own client, which knows credentials, regions, retries and skewed clocks. The
// client is large, so that this file is imported only when a bucket is used (bucket.ts).

import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ByteRange } from '../chunks.ts'
import { bucketError, isMissing } from './errors.ts'

export type BucketOptions = {
  bucket: string
  /** Undefined: that of the region at AWS. */
  endpoint?: string | undefined
  /** Undefined: that of the environment or of the files of the client. */
  region?: string | undefined
  /** The bucket in the path of an address and not in its host; what most stores beside AWS understand. */
  pathStyle?: boolean | undefined
  /** Undefined: what the environment, files, the container or the machine have (the client's chain). */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  /** Of one try, in milliseconds; undefined: 20,000. */
  timeoutMs?: number | undefined
}

export type UploadPart = { number: number; etag: string }

/** All throw AppErrors (`bucketError`), and try again themselves what may be tried again. */
export type BucketClient = {
  put(key: string, bytes: Buffer): Promise<void>
  /** Begins an upload in parts; its id. */
  begin(key: string): Promise<string>
  part(key: string, upload: string, number: number, bytes: Buffer): Promise<UploadPart>
  complete(key: string, upload: string, parts: readonly UploadPart[]): Promise<void>
  /** Harmless for an upload that is over. */
  abort(key: string, upload: string): Promise<void>
  head(key: string): Promise<{ size: number; modified: Date } | undefined>
  /** What comes of these bytes: it may be fewer of them. Undefined: there is no such object. */
  get(key: string, range: ByteRange): Promise<Readable | undefined>
  remove(key: string): Promise<void>
  list(prefix: string): AsyncGenerator<string>
  listUploads(prefix: string): AsyncGenerator<{ key: string; upload: string; initiated: Date }>
  /** How long an answer, and then each piece of it, is waited for. */
  timeoutMs: number
  close(): void
}

// With the waits between them some four seconds of SlowDown: half a second, then twice as long each time.
const ATTEMPTS = 4
const CONNECT_MS = 3_000
// A part of 5 MiB over a slow line takes that long.
const TIMEOUT_MS = 20_000
// A client that reads slowly holds one. Clients are bounded elsewhere.
const SOCKETS = 1024

export function createBucketClient({
  bucket,
  pathStyle,
  timeoutMs = TIMEOUT_MS,
  ...options
}: BucketOptions): BucketClient {
  const agent = { keepAlive: true, maxSockets: SOCKETS }
  const config: S3ClientConfig = {
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    forcePathStyle: pathStyle ?? false,
    // The hash of each payload is part of its signature. Trailing checksums, the default, few stores beside AWS know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    retryMode: 'standard',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: timeoutMs, // up to the head of the answer
      throwOnRequestTimeout: true,
      socketTimeout: 0, // a client may read as slowly as it likes
      httpAgent: agent,
      httpsAgent: agent,
    },
  }
  const s3 = new S3Client(config)
  const of = (Key: string) => ({ Bucket: bucket, Key })
  const unlessMissing = <T>(answer: Promise<T>) =>
    answer.catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw bucketError(error)
    })
  const mapped = <T>(answer: Promise<T>) =>
    answer.catch((error: unknown) => {
      throw bucketError(error)
    })

  // An answer without a body does not say whether it is the object or the whole bucket that is not there.
  const confirmMissing = async (key: string) => {
    const found = await unlessMissing(s3.send(new GetObjectCommand({ ...of(key), Range: 'bytes=0-0' })))
    if (found) throw bucketError(new Error('an object that is there and not there'))
    return undefined
  }

  async function* list(prefix: string) {
    let token: string | undefined
    do {
      const asked = { Bucket: bucket, Prefix: prefix, ContinuationToken: token }
      const page: ListObjectsV2CommandOutput = await mapped(s3.send(new ListObjectsV2Command(asked)))
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  async function* listUploads(prefix: string) {
    let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
    while (after) {
      const asked = { Bucket: bucket, Prefix: prefix, ...after }
      const page: ListMultipartUploadsCommandOutput = await mapped(
        s3.send(new ListMultipartUploadsCommand(asked)),
      )
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key && UploadId && Initiated) yield { key: Key, upload: UploadId, initiated: Initiated }
      }
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
      after = page.IsTruncated ? { KeyMarker, UploadIdMarker } : undefined
    }
  }

  return {
    async put(key, bytes) {
      await mapped(s3.send(new PutObjectCommand({ ...of(key), Body: bytes })))
    },
    async begin(key) {
      const { UploadId } = await mapped(s3.send(new CreateMultipartUploadCommand(of(key))))
      if (UploadId === undefined) throw bucketError(new Error('an upload without an id'))
      return UploadId
    },
    async part(key, upload, number, bytes) {
      const asked = { ...of(key), UploadId: upload, PartNumber: number, Body: bytes }
      const { ETag } = await mapped(s3.send(new UploadPartCommand(asked)))
      if (ETag === undefined) throw bucketError(new Error('a part without a tag'))
      return { number, etag: ETag }
    },
    async complete(key, upload, parts) {
      const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }))
      const asked = { ...of(key), UploadId: upload, MultipartUpload: { Parts } }
      await mapped(s3.send(new CompleteMultipartUploadCommand(asked)))
    },
    async abort(key, upload) {
      await unlessMissing(s3.send(new AbortMultipartUploadCommand({ ...of(key), UploadId: upload })))
    },
    async head(key) {
      const found = await unlessMissing(s3.send(new HeadObjectCommand(of(key))))
      if (!found) return confirmMissing(key)
      const { ContentLength: size, LastModified: modified } = found
      if (size === undefined || !modified) throw bucketError(new Error('an object without size or time'))
      return { size, modified }
    },
    async get(key, { start, end }) {
      const asked = { ...of(key), Range: `bytes=${start}-${end}` }
      const found = await unlessMissing(s3.send(new GetObjectCommand(asked)))
      return found && (found.Body as Readable)
    },
    async remove(key) {
      await mapped(s3.send(new DeleteObjectCommand(of(key))))
    },
    list,
    listUploads,
    timeoutMs,
    close: () => s3.destroy(),
  }
}
