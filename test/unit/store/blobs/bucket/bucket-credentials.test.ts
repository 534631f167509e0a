// Default credentials of a bucket: the environment, a file of the client, or an error.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { AppError } from '../../../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../../../src/runtime/memory-budget.ts'
import { openTestBucket } from '../../../../support/bucket/open.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'

const NONE = '/nonexistent'

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  // Credentials of this machine, or of one in a cloud, are not used.
  const own = { AWS_CONFIG_FILE: NONE, AWS_SHARED_CREDENTIALS_FILE: NONE, AWS_EC2_METADATA_DISABLED: 'true' }
  Object.assign(process.env, own)
})

async function send(t: TestContext, region?: string): Promise<number> {
  const chain = { credentials: undefined, ...(region === undefined ? { region: undefined } : { region }) }
  const { blobs, fakeBucket } = await openTestBucket(t, chain)
  const batch = blobs.beginBatch(createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open())
  await batch.begin().keep()
  await batch.commit()
  return fakeBucket.objects.size
}

test('credentials and region of the environment', async (t) => {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'PAPERKEY',
    AWS_SECRET_ACCESS_KEY: 'fakeBucket-secret-that-no-message-shows',
    AWS_REGION: 'test-1',
  })
  assert.equal(await send(t), 1)
})

test('credentials of a file', async (t) => {
  const file = join(temporaryDirectory(t), 'credentials')
  writeFileSync(
    file,
    '[default]\naws_access_key_id = PAPERKEY\naws_secret_access_key = fakeBucket-secret-that-no-message-shows\n',
  )
  process.env.AWS_SHARED_CREDENTIALS_FILE = file
  assert.equal(await send(t, 'test-1'), 1)
})

test('an upload without credentials or region is refused with the reason in its cause', async (t) => {
  const refused = (words: RegExp) => (error: unknown) =>
    error instanceof AppError && error.code === 'unavailable' && words.test(inspect(error))
  await assert.rejects(send(t, 'test-1'), refused(/CredentialsProviderError/))
  await assert.rejects(send(t), refused(/region/i))
})
