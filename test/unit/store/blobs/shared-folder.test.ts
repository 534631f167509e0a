import assert from 'node:assert/strict'
import * as fs from 'node:fs/promises'
import { basename } from 'node:path'
import { test } from 'node:test'
import { openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

test('`addReferences` of a shared folder alternates inserts and checks of files, in the order of their SHA-256', async (t) => {
  const checks: string[][] = []
  const db = temporaryDatabase(t, temporaryDirectory(t))
  const watched = new Proxy(db, {
    get(target, name) {
      if (name === 'insertInto') checks.push([]) // a database ends an idle transaction
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const oddFs = {
    ...fs,
    async open(path: Parameters<typeof fs.open>[0]) {
      checks.at(-1)?.push(basename(String(path)))
      return { sync: async () => {}, close: async () => {} } as fs.FileHandle
    },
  }
  const storeId = { verify: async () => {} }
  const blobs = await openBlobFolder(temporaryDirectory(t), oddFs, { storeId })
  checks.length = 0
  const hashes = Array.from({ length: 5000 }, (_, at) => `${(at * 7919) % 5000}`.padStart(64, '0'))
  const contents = hashes.map((sha256) => ({ sha256, size: 1 }))
  assert.equal(await blobs.addReferences(watched, contents), true)
  assert.deepEqual(
    checks.flatMap((some) => some.sort()),
    hashes.toSorted(),
    'by SHA-256, which prevents deadlocks',
  )
  assert.ok(checks.length > 1 && checks.every((some) => some.length <= 1000), `${checks.length} times`)
})
