// The stand-in for a bucket, as a process of its own. Prints how a node is told of it. Run by others: node bucket.ts

import type { TestContext } from 'node:test'
import { startPaperBucket } from '../../support/bucket/paper-bucket.ts'

const LARGE = 5 * 1024 * 1024

const paper = await startPaperBucket({ after() {} } as unknown as TestContext)
// It keeps all in memory, and no one reads these again.
paper.faults = ({ name }) => {
  paper.calls.length = 0
  if (name !== 'CreateMultipartUpload') return undefined
  for (const [key, { bytes }] of paper.objects) if (bytes.length > LARGE) paper.objects.delete(key)
  return undefined
}
const { bucket, endpoint, region, credentials } = paper
const place = ['--blobs', `s3://${bucket}/bench`, '--s3-endpoint', endpoint, '--s3-region', region]
const env = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
process.stdout.write(`${JSON.stringify({ place, env })}\n`)
