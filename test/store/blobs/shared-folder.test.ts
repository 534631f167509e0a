import assert from 'node:assert/strict'
import * as fs from 'node:fs/promises'
import { test } from 'node:test'
import { openSharedFolder } from '../../../src/store/blobs/shared-folder.ts'
import type { Db } from '../../../src/store/tables.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('a transaction that looks for very many files asks the database in between, which ends one that is silent', async (t) => {
  const done: ('rows' | 'file')[] = []
  const claimed: string[] = []
  const rows = {
    async claim(_trx: Db, contents: Iterable<{ sha256: string }>) {
      done.push('rows')
      for (const { sha256 } of contents) claimed.push(sha256)
    },
    release: async () => false,
  }
  const oddFs = {
    ...fs,
    async open() {
      done.push('file')
      return { sync: async () => {}, close: async () => {} } as fs.FileHandle
    },
  }
  const blobs = await openSharedFolder(temporaryDirectory(t), { rows, mark: { hold: async () => {} } }, oddFs)
  done.length = 0
  const hashes = Array.from({ length: 5000 }, (_, at) => `${(at * 7919) % 5000}`.padStart(64, '0'))
  assert.equal(
    await blobs.claim(
      undefined as never,
      hashes.map((sha256) => ({ sha256, size: 1 })),
    ),
    true,
  )
  assert.deepEqual(claimed, hashes.toSorted(), 'by SHA-256, so that no two uploads wait for each other')
  const looks = done.join(' ').split('rows').slice(1)
  assert.equal(done.filter((one) => one === 'file').length, 5000)
  assert.ok(
    looks.every((some) => some.split('file').length <= 1001),
    `${looks.length} times`,
  )
})
