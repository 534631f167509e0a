// Nodes over one PostgreSQL and one bucket, from command lines to objects.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { STORE_ID_NAME } from '../../../src/store/blobs/store-id.ts'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, startCommand, until } from '../../support/terminal.ts'

const SECRETS = /PAPERKEY|fakeBucket-secret/

async function cluster(t: TestContext) {
  const fakeBucket = await startFakeBucket(t)
  const { accessKeyId, secretAccessKey } = fakeBucket.credentials
  process.env.AWS_ACCESS_KEY_ID = accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey
  const url = await createPostgresSchema()
  const env = {
    CAMBISTA_DATABASE: url,
    CAMBISTA_BLOBS: `s3://${fakeBucket.bucket}/of/cambista`,
    CAMBISTA_S3_ENDPOINT: fakeBucket.endpoint,
    CAMBISTA_S3_REGION: fakeBucket.region,
    HOME: temporaryDirectory(t),
  }
  const serve = (more: Record<string, string> = {}) =>
    startCommand(['serve', '--port', '0', '--no-scheduler'], { ...env, ...more })
  const start = async (): Promise<string> => {
    const { printed, stop, ended } = serve()
    t.after(async () => {
      stop()
      assert.equal((await ended).code, 0)
      assert.doesNotMatch(printed.err, SECRETS)
    })
    await until(() => /listening url=\S+/.test(printed.err))
    return /listening url=(\S+)/.exec(printed.err)?.[1] ?? ''
  }
  const runOk = async (...words: string[]) => {
    const { code, out, err } = await runCommand(words, env)
    assert.equal(code, 0, err)
    return out.trim()
  }
  return { fakeBucket, url, env, serve, start, runOk }
}

test('documents go to a bucket through one node and come back through the other', async (t) => {
  const { fakeBucket, url, start, runOk } = await cluster(t)
  const [one, other] = [await start(), await start()]
  await runOk('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1')
  await runOk('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
  await runOk('agent', 'create', '--company', '1', '--name', 'Lector', '--id', '1')
  const allow = ['documents:POST', 'documents:GET', 'documents:DELETE'].flatMap((one) => ['--allow', one])
  const token = await runOk('token', 'create', 'erp', ...allow)
  const headers = { authorization: `Bearer ${token}` }
  const upload = async (to: string, bytes: Buffer) => {
    const path = '/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=factura.pdf'
    const answer = await fetch(to + path, {
      ...{ method: 'POST', body: bytes },
      headers: { ...headers, 'content-type': 'application/pdf' },
    })
    const body = await answer.text()
    assert.equal(answer.status, 200, body)
    return (JSON.parse(body) as { created_documents: { id: number }[] }).created_documents[0]?.id
  }
  await until(async () => (await fetch(`${one}/api/v1/documents`, { headers })).status === 200)
  await until(async () => (await fetch(`${other}/api/v1/documents`, { headers })).status === 200)
  const fetchContent = (id: number | undefined, more: Record<string, string> = {}) =>
    fetch(`${other}/api/v1/documents/${id}/content`, { headers: { ...headers, ...more } })

  const [small, large] = [randomBytes(1000), randomBytes(12 * 1024 * 1024)]
  const ids = [await upload(one, small), await upload(one, large)]
  assert.deepEqual(Buffer.from(await (await fetchContent(ids[0])).arrayBuffer()), small)
  assert.ok(Buffer.from(await (await fetchContent(ids[1])).arrayBuffer()).equals(large))
  const part = await fetchContent(ids[1], { range: 'bytes=5242870-5242900' })
  assert.equal(part.status, 206)
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), large.subarray(5242870, 5242901))
  const contents = () => [...fakeBucket.objects.keys()].filter((key) => !key.includes(STORE_ID_NAME))
  assert.equal(contents().length, 2, 'and nothing is left of the question at the start')
  for (const key of contents()) assert.match(key, /^of\/cambista\/\d{4}\/\d\d\/\d\d\//)

  const same = await upload(other, small)
  const remove = (id: number | undefined) =>
    fetch(`${one}/api/v1/documents/${id}`, { method: 'DELETE', headers })
  assert.equal(((await (await remove(ids[0])).json()) as { content: string }).content, 'kept')
  assert.deepEqual(Buffer.from(await (await fetchContent(same)).arrayBuffer()), small)
  assert.match(
    await runOk('document', 'delete', String(same)),
    /its content goes later \(serve --keep-removed\)/,
  )
  assert.equal((await queryOnce(url, 'select 1 from removed_objects')).length, 2)
  assert.equal(contents().length, 3)

  const [key = ''] = await queryOnce(url, 'select object from contents').then((rows) =>
    rows.map((row) => row.object),
  )
  const object = fakeBucket.objects.get(String(key))
  assert.ok(object)
  object.bytes.writeUInt8(object.bytes.readUInt8(7) ^ 1, 7)
  await assert.rejects(
    fetchContent(ids[1]).then((answer) => answer.arrayBuffer()),
    'an altered one is not given',
  )
  fakeBucket.objects.delete(String(key))
  assert.ok((await fetchContent(ids[1])).status >= 400)
})

test('a bucket that refuses ends a start with its name and the reason, and with no secret', async (t) => {
  const { fakeBucket, serve } = await cluster(t)
  const failing = async (more: Record<string, string>) => {
    const { code, err, out } = await serve(more).ended
    assert.equal(code, 1, err)
    assert.doesNotMatch(err + out, SECRETS)
    return err
  }
  assert.match(
    await failing({ CAMBISTA_BLOBS: 's3://other' }),
    /the bucket other cannot be used: .*NoSuchBucket/,
  )
  fakeBucket.faults = ({ name }) => (name === 'PutObject' ? 'refuse' : undefined)
  assert.match(await failing({}), /the bucket fakeBucket cannot be used: .*AccessDenied, status 403/)
  fakeBucket.faults = () => undefined
  process.env.AWS_ACCESS_KEY_ID = 'ANOTHER'
  assert.match(await failing({}), /the bucket fakeBucket cannot be used: .*InvalidAccessKeyId/)
})

test('a node serves rates without its bucket, and logs a warning', async (t) => {
  const { fakeBucket, serve } = await cluster(t)
  fakeBucket.faults = () => 'drop'
  const { printed, stop, ended } = serve()
  await until(() => /listening url=\S+/.test(printed.err))
  await until(() => /warn +contents of documents cannot be reached reason=/.test(printed.err))
  assert.doesNotMatch(printed.err, SECRETS)
  stop()
  assert.equal((await ended).code, 0)
})
