// What is said when a bucket fails. The client's own errors are not handed on: they carry the request, with its signature
// and the id of the key, and of whom it was asked.

import { AppError, codeOf } from '../../../errors.ts'

type Answer = { name?: unknown; $metadata?: { httpStatusCode?: number } }

const FULL = /^(QuotaExceeded|XMinioStorageFull|InsufficientCapacity|EntityTooLarge)$/
const NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/
// What an operator does about what the client says before it asks the bucket.
const ADVICE: Record<string, string> = {
  CredentialsProviderError:
    ': neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor this machine give credentials',
  'Region is missing': ': give --s3-region or AWS_REGION',
}
const MISSING = /^(NotFound|NoSuchKey|NoSuchUpload)$/

/** Whether the store says that there is no such object or upload. */
export function isMissing(error: unknown): boolean {
  return MISSING.test(nameOf(error))
}

/** The AppError for a failure of the bucket. Its cause has the name of the failure and the status of the answer, no more. */
export function bucketError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const name = nameOf(error)
  const cause = Object.assign(new Error(`the bucket: ${wordsOf(error, name)}`), {
    isRefusal: isRefusal(error),
  })
  if (FULL.test(name)) {
    return new AppError('disk-full', 'Not enough space to store the documents', { cause })
  }
  return new AppError('unavailable', 'The contents of documents cannot be reached at the moment', { cause })
}

/** What a start says: `failed` where the bucket refuses, for that stays so; `unavailable` where it does not answer. */
export function startError(error: unknown, bucket: string): AppError {
  const { cause } = bucketError(error)
  const reason = cause instanceof Error ? cause.message : 'it failed'
  const code = (cause as { isRefusal?: boolean }).isRefusal ? 'failed' : 'unavailable'
  return new AppError(code, `the bucket ${bucket} cannot be used: ${reason}`, { cause })
}

/** Also of the client itself, which finds no credentials or no region. */
function isRefusal(error: unknown): boolean {
  const { name, $metadata } = (error ?? {}) as Answer
  const status = $metadata?.httpStatusCode
  if (status === undefined) return codeOf(error) === '' && name !== 'TimeoutError'
  return status >= 300 && status < 500 && status !== 408 && status !== 429
}

function wordsOf(error: unknown, name: string): string {
  const status = (error as Answer | undefined)?.$metadata?.httpStatusCode
  const words = [name, codeOf(error), status && `status ${status}`]
  const said = [...new Set(words.filter(Boolean))].join(', ') || plainWords(error)
  return `${said}${ADVICE[said] ?? ''}`
}

/** Ours, or the client's own before it asks the bucket: a region that is missing. */
function plainWords(error: unknown): string {
  return error instanceof Error && error.name === 'Error' ? error.message : 'failed'
}

function nameOf(error: unknown): string {
  const name = String((error as Answer | undefined)?.name ?? '')
  return NAME.test(name) && name !== 'Error' ? name : ''
}
