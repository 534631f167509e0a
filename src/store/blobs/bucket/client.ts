// Calls of S3 over its official client, which handles credentials, regions, retries and skewed clocks. The client is
// large, so this file is imported only when a bucket is used (bucket.ts).

import { Agent } from 'node:http'
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
import { type OutgoingProxy, proxyError, TunnelAgent } from '../../../runtime/outgoing-proxies.ts'
import type { BucketConfig, StorageConfig } from '../../storage-config.ts'
import type { ByteRange } from '../chunks.ts'
import { bucketError, isMissingObject } from './bucket-errors.ts'
import { collectBody } from './silence.ts'

/** Without an endpoint: that of the region at AWS. Without a region: that of the environment or the client's files. */
export type BucketOptions = Omit<BucketConfig, 'prefix'> &
  Pick<StorageConfig, 'outgoing'> & {
    /** True: the bucket is in the path of an address, not in its host. Most stores other than AWS require it. */
    pathStyle?: boolean | undefined
    /** Undefined: the credentials of the environment, files, container or machine (the client's chain). */
    credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
    /** Timeout of an attempt in milliseconds; undefined: 20,000. */
    timeoutMs?: number | undefined
  }

export type UploadPart = { number: number; etag: string }

/** Requests to a bucket. Each throws AppErrors (`bucketError`) and retries failures that may pass. */
export type BucketClient = {
  put(key: string, bytes: Buffer): Promise<void>
  /** Begins an upload in parts and returns its id. */
  begin(key: string): Promise<string>
  part(key: string, upload: string, number: number, bytes: Buffer): Promise<UploadPart>
  complete(key: string, upload: string, parts: readonly UploadPart[]): Promise<void>
  /** Aborts an upload; without effect after its end. */
  abort(key: string, upload: string): Promise<void>
  head(key: string): Promise<{ size: number; modified: Date } | undefined>
  /** Reads a range; the stream may end early. Undefined: there is no such object. */
  get(key: string, range: ByteRange): Promise<Readable | undefined>
  /** Reads a small range as a whole. */
  read(key: string, range: ByteRange): Promise<Buffer | undefined>
  remove(key: string): Promise<void>
  list(prefix: string): AsyncGenerator<string>
  listUploads(prefix: string): AsyncGenerator<{ key: string; upload: string; initiated: Date }>
  /** Timeout of an answer's head, and then of each piece of its body. */
  timeoutMs: number
  close(): void
}

// Retries SlowDown for some four seconds: waits half a second, then twice as long each time.
const ATTEMPTS = 4
const CONNECT_MS = 3_000
// Time for a part of 5 MiB over a slow line.
const TIMEOUT_MS = 20_000
// A store that joins many parts sends a space from time to time.
const JOIN_TIMEOUTS = 3
// A client that reads slowly occupies a socket. The number of clients is limited elsewhere.
const SOCKETS = 1024

export function createBucketClient({
  bucket,
  timeoutMs = TIMEOUT_MS,
  ...options
}: BucketOptions): BucketClient {
  const s3 = openS3(options, timeoutMs)
  const target = (Key: string) => ({ Bucket: bucket, Key })

  const get = async (key: string, { start, end }: ByteRange) => {
    const input = { ...target(key), Range: `bytes=${start}-${end}` }
    const object = await unlessAbsent(s3.send(new GetObjectCommand(input)))
    return object && (object.Body as Readable)
  }

  // The answer to HEAD has no body, so a missing object is like a missing bucket. The error of GET differs.
  const confirmMissing = async (key: string) => {
    const body = await get(key, { start: 0, end: 0 })
    if (body) throw bucketError(new Error('an object that is there and not there'))
    return undefined
  }

  return {
    async put(key, bytes) {
      await mapped(s3.send(new PutObjectCommand({ ...target(key), Body: bytes })))
    },
    async begin(key) {
      const { UploadId } = await mapped(s3.send(new CreateMultipartUploadCommand(target(key))))
      if (UploadId === undefined) throw bucketError(new Error('an upload without an id'))
      return UploadId
    },
    async part(key, upload, number, bytes) {
      const input = { ...target(key), UploadId: upload, PartNumber: number, Body: bytes }
      const { ETag } = await mapped(s3.send(new UploadPartCommand(input)))
      if (ETag === undefined) throw bucketError(new Error('a part without a tag'))
      return { number, etag: ETag }
    },
    async complete(key, upload, parts) {
      const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }))
      const input = { ...target(key), UploadId: upload, MultipartUpload: { Parts } }
      await mapped(s3.send(new CompleteMultipartUploadCommand(input)))
    },
    async abort(key, upload) {
      await unlessAbsent(s3.send(new AbortMultipartUploadCommand({ ...target(key), UploadId: upload })))
    },
    async head(key) {
      const head = await unlessAbsent(s3.send(new HeadObjectCommand(target(key))))
      if (!head) return confirmMissing(key)
      const { ContentLength: size, LastModified: modified } = head
      if (size === undefined || !modified) throw bucketError(new Error('an object without size or time'))
      return { size, modified }
    },
    get,
    async read(key, range) {
      const bytes = await get(key, range)
      return bytes && mapped(collectBody(bytes, timeoutMs))
    },
    async remove(key) {
      await mapped(s3.send(new DeleteObjectCommand(target(key))))
    },
    list: (prefix) => listObjects(s3, bucket, prefix),
    listUploads: (prefix) => listUploads(s3, bucket, prefix),
    timeoutMs,
    close: () => s3.destroy(),
  }
}

async function* listObjects(s3: S3Client, bucket: string, prefix: string) {
  let token: string | undefined
  do {
    const input = { Bucket: bucket, Prefix: prefix, ContinuationToken: token }
    const page: ListObjectsV2CommandOutput = await mapped(s3.send(new ListObjectsV2Command(input)))
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}

async function* listUploads(s3: S3Client, bucket: string, prefix: string) {
  let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
  while (after) {
    const input = { Bucket: bucket, Prefix: prefix, ...after }
    const page: ListMultipartUploadsCommandOutput = await mapped(
      s3.send(new ListMultipartUploadsCommand(input)),
    )
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key && UploadId && Initiated) yield { key: Key, upload: UploadId, initiated: Initiated }
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
    after = page.IsTruncated ? { KeyMarker, UploadIdMarker } : undefined
  }
}

function openS3(
  { pathStyle, outgoing, ...options }: Omit<BucketOptions, 'bucket'>,
  timeoutMs: number,
): S3Client {
  const agent = { keepAlive: true, maxSockets: SOCKETS }
  const proxy = outgoing?.find(new URL(options.endpoint ?? 'https://amazonaws.com'))
  const config: S3ClientConfig = {
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    forcePathStyle: pathStyle ?? false,
    // The hash of each payload is part of its signature. Few stores other than AWS support trailing checksums, the
    // default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    retryMode: 'standard',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: timeoutMs, // up to the head of the answer
      throwOnRequestTimeout: true,
      socketTimeout: 0, // a client may read as slowly as it likes
      httpAgent: proxy ? new Agent({ ...agent, proxyEnv: { http_proxy: proxy.url } }) : agent,
      httpsAgent: outgoing?.https ? new TunnelAgent(outgoing, agent) : agent,
    },
  }
  const s3 = new S3Client(config)
  limitSilence(s3, timeoutMs)
  if (proxy) nameProxy(s3, proxy)
  return s3
}

/**
 * Reads the body of each answer within its attempt, so that a silent body is retried like a silent head. The bytes of an
 * object are left to their reader. Each attempt has its own time.
 */
function limitSilence({ middlewareStack }: S3Client, timeoutMs: number): void {
  middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const output = await next(request)
        const response = output.response as { statusCode: number; body: unknown }
        if (commandName === 'GetObjectCommand' && response.statusCode < 300) return output
        const ms = commandName === 'CompleteMultipartUploadCommand' ? JOIN_TIMEOUTS * timeoutMs : timeoutMs
        response.body = await collectBody(response.body as Readable, ms)
        return output
      },
    { step: 'deserialize', priority: 'low', name: 'limitSilence' }, // the last step before the request
  )
}

/** Names the proxy in errors of a connection, and in the status by which it requires a password. */
function nameProxy({ middlewareStack }: S3Client, proxy: OutgoingProxy): void {
  middlewareStack.add(
    (next) => async (request) => {
      const output = await next(request).catch((error: Error) => {
        throw proxyError(error, proxy)
      })
      const { statusCode } = output.response as { statusCode: number }
      if (statusCode === 407) throw proxyError(Object.assign(new Error('no answer'), { statusCode }), proxy)
      return output
    },
    { step: 'deserialize', priority: 'low', name: 'nameProxy' },
  )
}

function mapped<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw bucketError(error)
  })
}

function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (isMissingObject(error)) return undefined
    throw bucketError(error)
  })
}
