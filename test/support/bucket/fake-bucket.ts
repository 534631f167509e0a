// A fake S3-compatible store on 127.0.0.1. Objects are in memory. Rejects wrong signatures and payload hashes,
// and fails on demand.

import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'

/** Failures: an error (`refuse` is not retried), no answer, or an answer that is late, cut or altered. */
export type BucketFault =
  | 'SlowDown'
  | 'refuse'
  | 'ExpiredToken'
  | 'InternalError'
  | 'drop'
  /** Executes the request, and closes the connection without an answer. */
  | 'deaf'
  | 'alter'
  | { delayMs: number }
  | { cutAt: number }
  /** Stops after these bytes, and leaves the connection open. */
  | { silentAt: number }

/** `name`: as in the S3 reference. `number` counts all calls from 0. */
export type BucketCall = { name: string; key: string; number: number; bytes: number }

export type FakeObject = { bytes: Buffer; modified: Date }

/** A part of a multipart upload; its tag is its payload hash. */
type FakePart = { bytes: Buffer; etag: string }

export type FakeBucket = {
  endpoint: string
  bucket: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  objects: Map<string, FakeObject>
  /** Multipart uploads that were neither completed nor aborted, by id. */
  uploads: Map<string, { key: string; initiated: Date; parts: Map<number, FakePart> }>
  calls: BucketCall[]
  faults: (call: BucketCall) => BucketFault | undefined
}

type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string }

const PAGE = 1000
const SMALLEST_PART = 5 * 1024 * 1024
const LATE_MS = 15 * 60_000
const HEX = /^[0-9a-f]{64}$/

export async function startFakeBucket(t: TestContext): Promise<FakeBucket> {
  const server = createServer((req, res) => void handleRequest(bucket, req, res).catch(() => res.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const bucket: FakeBucket = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: 'fakeBucket',
    region: 'test-1',
    credentials: { accessKeyId: 'PAPERKEY', secretAccessKey: 'fakeBucket-secret-that-no-message-shows' },
    objects: new Map(),
    uploads: new Map(),
    calls: [],
    faults: () => undefined,
  }
  return bucket
}

async function handleRequest(bucket: FakeBucket, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', bucket.endpoint)
  const body = await buffer(req)
  const key = decodeURIComponent(url.pathname).slice(`/${bucket.bucket}/`.length)
  const name = operationName(req.method ?? '', key, url.searchParams)
  const call = { name, key, number: bucket.calls.length, bytes: body.length }
  bucket.calls.push(call)
  const fault = bucket.faults(call)
  if (fault === 'drop') return void req.socket.destroy()
  if (fault === 'SlowDown') return send(res, failure(503, 'SlowDown'))
  if (fault === 'InternalError') return send(res, failure(500, 'InternalError'))
  if (fault === 'refuse') return send(res, failure(403, 'AccessDenied'))
  if (fault === 'ExpiredToken') return send(res, failure(400, fault))
  if (typeof fault === 'object' && 'delayMs' in fault)
    await setTimeout(fault.delayMs, undefined, { ref: false })
  const isHere = `${url.pathname}/`.startsWith(`/${bucket.bucket}/`)
  const error = isHere ? validateRequest(bucket, req, url, body) : failure(404, 'NoSuchBucket')
  const answer = error ?? act(bucket, { name, key, query: url.searchParams, req, body })
  if (fault === 'deaf') return void req.socket.destroy()
  const responseBody = Buffer.from(answer.body ?? '')
  if (fault === 'alter' && responseBody.length > 0)
    responseBody.writeUInt8(responseBody.readUInt8(responseBody.length >> 1) ^ 1, responseBody.length >> 1)
  if (typeof fault === 'object' && 'silentAt' in fault) {
    res.writeHead(answer.status, { ...answer.headers, 'content-length': responseBody.length })
    return void res.write(responseBody.subarray(0, fault.silentAt))
  }
  if (typeof fault === 'object' && 'cutAt' in fault && responseBody.length > fault.cutAt) {
    res.writeHead(answer.status, { ...answer.headers, 'content-length': responseBody.length })
    res.write(responseBody.subarray(0, fault.cutAt), () => req.socket.destroy())
    return
  }
  send(res, { ...answer, body: responseBody })
}

function operationName(method: string, key: string, query: URLSearchParams): string {
  if (key === '') return query.has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2'
  if (query.has('uploads')) return 'CreateMultipartUpload'
  if (!query.has('uploadId')) {
    return (
      { PUT: 'PutObject', GET: 'GetObject', HEAD: 'HeadObject', DELETE: 'DeleteObject' }[method] ?? method
    )
  }
  const names: Record<string, string> = { PUT: 'UploadPart', POST: 'CompleteMultipartUpload' }
  return names[method] ?? 'AbortMultipartUpload'
}

/** Signature version 4: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function validateRequest(
  bucket: FakeBucket,
  req: IncomingMessage,
  url: URL,
  body: Buffer,
): Answer | undefined {
  const { accessKeyId, secretAccessKey } = bucket.credentials
  const authorization = String(req.headers.authorization ?? '')
  const [, id, day, region, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      authorization,
    ) ?? []
  if (id !== accessKeyId || region !== bucket.region) return failure(403, 'InvalidAccessKeyId')
  const hash = String(req.headers['x-amz-content-sha256'])
  if (!HEX.test(hash)) return failure(400, 'InvalidRequest') // not UNSIGNED-PAYLOAD
  if (hash !== sha256(body)) return failure(400, 'XAmzContentSHA256Mismatch')
  const at = String(req.headers['x-amz-date'])
  const instant = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!at.startsWith(String(day)) || !(Math.abs(instant - Date.now()) < LATE_MS)) {
    return failure(403, 'RequestTimeTooSkewed')
  }
  const signedHeaders = names.split(';')
  if (!signedHeaders.includes('host') || !signedHeaders.includes('x-amz-content-sha256'))
    return failure(403, 'AccessDenied')
  const query = [...url.searchParams].map((pair) => pair.map(encodeWord).join('=')).sort()
  const headers = signedHeaders.map((name) => `${name}:${String(req.headers[name] ?? '').trim()}\n`)
  const path = url.pathname.split('/').map((word) => encodeWord(decodeURIComponent(word)))
  const request = [req.method, path.join('/'), query.join('&'), headers.join(''), names, hash].join('\n')
  const text = ['AWS4-HMAC-SHA256', at, `${day}/${region}/s3/aws4_request`, sha256(request)].join('\n')
  let key: Buffer | string = `AWS4${secretAccessKey}`
  for (const word of [day, region, 's3', 'aws4_request']) key = hmac(key, String(word))
  return hmac(key, text).toString('hex') === signature ? undefined : failure(403, 'SignatureDoesNotMatch')
}

type Request = { name: string; key: string; query: URLSearchParams; req: IncomingMessage; body: Buffer }

function act(bucket: FakeBucket, { name, key, query, req, body }: Request): Answer {
  const { objects, uploads } = bucket
  const id = query.get('uploadId') ?? ''
  const upload = uploads.get(id)
  const object = objects.get(key)
  const etag = `"${req.headers['x-amz-content-sha256']}"`
  switch (name) {
    case 'PutObject':
      if (req.headers['if-none-match'] === '*' && object) return failure(412, 'PreconditionFailed')
      objects.set(key, { bytes: body, modified: new Date() })
      return { status: 200, headers: { etag } }
    case 'GetObject':
    case 'HeadObject':
      return object ? read(object, req.headers.range, name === 'HeadObject') : failure(404, 'NoSuchKey')
    case 'DeleteObject':
      objects.delete(key)
      return { status: 204 }
    case 'CreateMultipartUpload': {
      const uploadId = randomUUID()
      uploads.set(uploadId, { key, initiated: new Date(), parts: new Map() })
      return xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${uploadId}</UploadId>`)
    }
    case 'ListObjectsV2':
      return listObjects(bucket, query)
    case 'ListMultipartUploads':
      return listUploads(bucket, query)
  }
  if (!upload || upload.key !== key) return failure(404, 'NoSuchUpload')
  if (name === 'UploadPart') {
    upload.parts.set(Number(query.get('partNumber')), { bytes: body, etag })
    return { status: 200, headers: { etag } }
  }
  uploads.delete(id)
  if (name === 'AbortMultipartUpload') return { status: 204 }
  const listedParts = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll('&quot;', '"'),
  }))
  const parts = listedParts.flatMap(({ number, etag }, at) => {
    const part = upload.parts.get(number)
    return part && number === at + 1 && etag === part.etag ? part.bytes : []
  })
  if (parts.length < listedParts.length || parts.length === 0) return failure(400, 'InvalidPart')
  if (parts.slice(0, -1).some(({ length }) => length < SMALLEST_PART)) return failure(400, 'EntityTooSmall')
  objects.set(key, { bytes: Buffer.concat(parts), modified: new Date() })
  return xml('CompleteMultipartUploadResult', `<Key>${key}</Key>`)
}

function read({ bytes, modified }: FakeObject, range: string | undefined, isHead: boolean): Answer {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  const start = Number(from ?? 0)
  const end = Math.min(Number(to ?? bytes.length - 1), bytes.length - 1)
  if (range && start > end) return failure(416, 'InvalidRange')
  const shared = { 'last-modified': modified.toUTCString() }
  const body = bytes.subarray(start, end + 1)
  if (isHead) return { status: 200, headers: { ...shared, 'content-length': String(bytes.length) } }
  const part = range && { 'content-range': `bytes ${start}-${end}/${bytes.length}` }
  return { status: part ? 206 : 200, headers: { ...shared, ...part }, body }
}

function listObjects({ objects }: FakeBucket, query: URLSearchParams): Answer {
  const prefix = query.get('prefix') ?? ''
  const after = query.get('continuation-token') ?? ''
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const pageKeys = keys.slice(0, PAGE)
  const rows = pageKeys.map((key) => {
    const { bytes, modified } = objects.get(key) as FakeObject
    return `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`
  })
  const isCut = keys.length > PAGE
  const next = isCut ? `<NextContinuationToken>${pageKeys.at(-1)}</NextContinuationToken>` : ''
  return xml('ListBucketResult', `<IsTruncated>${isCut}</IsTruncated>${next}${rows.join('')}`)
}

function listUploads({ uploads }: FakeBucket, query: URLSearchParams): Answer {
  const order = ([id, { key }]: [string, { key: string }]) => `${key} ${id}`
  const after = `${query.get('key-marker') ?? ''} ${query.get('upload-id-marker') ?? ''}`
  const all = [...uploads].filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
  const rest = all.filter((one) => order(one) > after).sort((a, b) => (order(a) < order(b) ? -1 : 1))
  const pageUploads = rest.slice(0, PAGE)
  const rows = pageUploads.map(
    ([id, { key, initiated }]) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
  )
  const [id, last] = pageUploads.at(-1) ?? []
  const next = `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`
  const isCut = rest.length > PAGE
  return xml(
    'ListMultipartUploadsResult',
    `<IsTruncated>${isCut}</IsTruncated>${isCut ? next : ''}${rows.join('')}`,
  )
}

function send(res: ServerResponse, { status, headers, body = '' }: Answer): void {
  res.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body)
}

function xml(name: string, inside: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><${name}>${inside}</${name}>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body }
}

function failure(status: number, code: string): Answer {
  return { ...xml('Error', `<Code>${code}</Code><Message>fakeBucket bucket says ${code}</Message>`), status }
}

function encodeWord(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
