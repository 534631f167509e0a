// The suite of every blob store, against a Ceph cluster. Long version only; it needs the Debian packages of
// .ci/ceph.sh.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, type TestContext } from 'node:test'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import { createBucketClient } from '../../../src/store/blobs/bucket/client.ts'
import { findObject } from '../../../src/store/documents/blob-rows.ts'
import type { Engine } from '../../../src/store/engine.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { testBlobs } from '../../contract/blobs.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'

type Gateway = {
  close(): Promise<unknown>
  endpoint: string
  credentials: { accessKeyId: string; secretAccessKey: string }
}

if (process.env.CAMBISTA_TORTURE === 'long') {
  let gateway: Gateway
  let engine: Engine
  let url: string
  let buckets = 0
  before(async () => {
    gateway = await startCeph()
    url = await createPostgresSchema()
    engine = await openPostgres(url)
  })
  after(async () => {
    await engine?.close()
    await gateway?.close()
  })
  testBlobs('Ceph', (t) => open(t))

  async function open(t: TestContext) {
    await queryOnce(
      url,
      'delete from contents; delete from removed_objects; update meta set contents_listed_at = null',
    )
    const bucket = `test-${++buckets}`
    const { endpoint, credentials } = gateway
    const address = { endpoint, credentials, bucket, region: 'us-east-1', pathStyle: true }
    const s3 = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
    await s3.send(new CreateBucketCommand({ Bucket: bucket }))
    const client = createBucketClient(address)
    const { db, clock } = engine
    const blobs = await openBucket({ ...address, prefix: 'of/cambista', clock }, db)
    t.after(() => {
      for (const one of [blobs, client]) one.close()
      s3.destroy()
    })
    await blobs.check()
    const rewrite = async (sha256: string, change: (bytes: Buffer) => Buffer) => {
      const of = { Bucket: bucket, Key: (await findObject(db, sha256)) ?? '' }
      const { Body } = await s3.send(new GetObjectCommand(of))
      assert.ok(Body)
      await s3.send(
        new PutObjectCommand({ ...of, Body: change(Buffer.from(await Body.transformToByteArray())) }),
      )
    }
    return {
      blobs,
      db,
      damage: (sha256: string) =>
        rewrite(sha256, (bytes) => {
          bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
          return bytes
        }),
      cut: (sha256: string) => rewrite(sha256, (bytes) => bytes.subarray(0, 9)),
      unfinished: async () => (await Array.fromAsync(client.listUploads(''))).map(({ key }) => key),
    }
  }
}

async function startCeph(): Promise<Gateway> {
  const script = join(import.meta.dirname, '../../../.ci/ceph.sh')
  const child = spawn(script, [String(await freePort())], { stdio: ['pipe', 'pipe', 'inherit'] })
  const close = () => {
    child.stdin.end()
    return new Promise((resolve) => child.once('exit', resolve))
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [, endpoint, accessKeyId, secretAccessKey] = /^ready (\S+) (\S+) (\S+)$/.exec(line) ?? []
    if (endpoint && accessKeyId && secretAccessKey) {
      return { close, endpoint, credentials: { accessKeyId, secretAccessKey } }
    }
  }
  throw new Error('Ceph does not start: .ci/ceph.sh says which packages it wants')
}

/** A free port; the next two are probably free too. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port > 65_000 ? port - 10 : port
}
