// The fake bucket, in a process that the benchmarks start. Prints the options and the environment of a node as JSON.

import type { TestContext } from 'node:test'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'

const LARGE = 5 * 1024 * 1024

const fakeBucket = await startFakeBucket({ after() {} } as unknown as TestContext)
// The bucket is in memory, and nothing reads these again.
fakeBucket.faults = ({ name }) => {
  fakeBucket.calls.length = 0
  if (name !== 'CreateMultipartUpload') return undefined
  for (const [key, { bytes }] of fakeBucket.objects) if (bytes.length > LARGE) fakeBucket.objects.delete(key)
  return undefined
}
const { bucket, endpoint, region, credentials } = fakeBucket
const options = ['--blobs', `s3://${bucket}/bench`, '--s3-endpoint', endpoint, '--s3-region', region]
const env = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
process.stdout.write(`${JSON.stringify({ options, env })}\n`)
