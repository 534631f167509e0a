// Errors of a bucket. The client's own errors are not passed on, because they contain host, signature and key id of the
// request.

import { AppError, errorCode, ProxyError } from '../../../runtime/errors.ts'

type BucketError = { name?: unknown; $metadata?: { httpStatusCode?: number } }

const FULL = /^(QuotaExceeded|XMinioStorageFull|InsufficientCapacity|EntityTooLarge)$/
const NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/
// Advice for errors of the client before it sends a request.
const ADVICE: Record<string, string> = {
  CredentialsProviderError:
    ': neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor this machine give credentials',
  'Region is missing': ': give --s3-region or AWS_REGION',
}
const MISSING = /^(NotFound|NoSuchKey|NoSuchUpload)$/

/** Returns whether the store reports a missing object or upload. */
export function isMissingObject(error: unknown): boolean {
  return MISSING.test(errorName(error))
}

/** Returns the AppError for a failure of the bucket. Its cause has only the name of the failure and the status. */
export function bucketError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const name = errorName(error)
  const cause = Object.assign(new Error(`the bucket: ${describeError(error, name)}`), {
    isRefusal: isRefusal(error),
  })
  if (FULL.test(name)) {
    return new AppError('disk-full', 'Not enough space to store the documents', { cause })
  }
  return new AppError('unavailable', 'The contents of documents cannot be reached at the moment', { cause })
}

/** Error of a start: `failed` where the bucket rejects requests permanently; `unavailable` where it does not answer. */
export function startError(error: unknown, bucket: string): AppError {
  const { cause } = bucketError(error)
  const reason = cause instanceof Error ? cause.message : 'it failed'
  const code = (cause as { isRefusal?: boolean }).isRefusal ? 'failed' : 'unavailable'
  return new AppError(code, `the bucket ${bucket} cannot be used: ${reason}`, { cause })
}

/** Returns whether bucket or client reject the request permanently, such as a client without credentials or region. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProxyError) return false
  const { name, $metadata } = (error ?? {}) as BucketError
  const status = $metadata?.httpStatusCode
  if (status === undefined) return errorCode(error) === '' && name !== 'TimeoutError'
  return status >= 300 && status < 500 && status !== 408 && status !== 429
}

function describeError(error: unknown, name: string): string {
  if (error instanceof ProxyError) return error.message
  const status = (error as BucketError | undefined)?.$metadata?.httpStatusCode
  const words = [name, errorCode(error), status && `status ${status}`]
  const text = [...new Set(words.filter(Boolean))].join(', ') || plainMessage(error)
  return `${text}${ADVICE[text] ?? ''}`
}

/** Message of our own errors, and of the client's before it sends a request, such as a missing region. */
function plainMessage(error: unknown): string {
  return error instanceof Error && error.name === 'Error' ? error.message : 'failed'
}

function errorName(error: unknown): string {
  const name = String((error as BucketError | undefined)?.name ?? '')
  return NAME.test(name) && name !== 'Error' ? name : ''
}
