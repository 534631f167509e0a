import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskError, storageError } from '../../../src/runtime/storage-error.ts'

const fail = (code: string) => Object.assign(new Error(code), { code })

test('diskError names the folder of a full disk, and not for the disk of PostgreSQL', () => {
  assert.match(String(diskError(fail('ENOSPC'), '/data')), /the disk of \/data is full/)
  const error = fail('PG_53100')
  assert.equal(diskError(error, '/data'), error)
})

test('storageError names the operation that has no room', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'PG_53100']) {
    assert.match(String(storageError(fail(code), 'sign in')), /Not enough disk space to sign in$/, code)
  }
})
