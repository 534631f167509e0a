import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createUploadGroups } from '../../../../src/domain/documents/uploads/groups.ts'
import type { StagedUpload } from '../../../../src/domain/documents/uploads/store.ts'
import { AppError } from '../../../../src/runtime/errors.ts'
import type { IdRange } from '../../../../src/store/documents/idempotency.ts'

type Commit = { names: string[]; end: PromiseWithResolvers<void> }

/** Groups over commits that the test ends. `failure`: error of a commit, by its uploads. */
function ground(failure: (names: readonly string[]) => unknown = () => undefined) {
  const commits: Commit[] = []
  const commitInGroup = createUploadGroups(async (uploads) => {
    const names = uploads.map(uploadName)
    const commit = { names, end: Promise.withResolvers<void>() }
    commits.push(commit)
    await commit.end.promise
    const error = failure(names)
    if (error) throw error
    return names.map((name): IdRange[] => [{ id: Number(name), attachmentId: 1, count: 1 }])
  })
  const endAll = async () => {
    for (const { end } of commits) end.resolve()
    await setImmediate()
    await setImmediate()
  }
  return { commits, commitInGroup, endAll, groups: () => commits.map(({ names }) => names) }
}

/** An upload of a content; its name is the id that the commit gives it. */
function staged(name: string, content = name, documents = 1): StagedUpload {
  const blobs = { count: () => 1, at: () => ({ sha256: content, size: 1 }) }
  const files = { count: () => documents }
  const batch = { companyId: Number(name), blobs, files } as unknown as StagedUpload['batch']
  return { batch, origin: { at: 'now', tokenId: null }, identity: undefined, bytes: 1 }
}

const uploadName = ({ batch }: StagedUpload) => String(batch.companyId)
const names = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at))

test('an upload is committed at once, and later ones share a commit', async () => {
  const { commitInGroup, endAll, groups } = ground()
  const all = names(1, 70).map((name) => commitInGroup(staged(name)))
  assert.deepEqual(groups(), [['1'], ['2']])
  await endAll()
  assert.deepEqual(groups().slice(2), [names(3, 66), names(67, 70)])
  await endAll()
  assert.deepEqual(
    (await Promise.all(all)).map(([run]) => run?.id),
    names(1, 70).map(Number),
  )
})

test('uploads of the same content, and large uploads, do not share a commit', async () => {
  const { commitInGroup, endAll, groups } = ground()
  const uploads = [
    ...['1', '2'].map((name) => staged(name)),
    ...['3', '4', '5'].map((name) => staged(name, name === '5' ? 'other' : 'same')),
    staged('6', '6', 51),
  ]
  const all = uploads.map((upload) => commitInGroup(upload))
  assert.deepEqual(groups(), [['1'], ['2'], ['6']])
  await endAll()
  assert.deepEqual(groups().slice(3), [['3', '5'], ['4']])
  await endAll()
  await Promise.all(all)
})

const FAULTS = [
  Object.assign(new Error('a key is unknown'), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' }),
  new AppError('over-quota', 'The quota is used up'),
  Object.assign(new Error('a directory import has locked the agent'), { code: 'PG_55P03' }),
]
for (const fault of FAULTS)
  test(`an upload with a fault fails alone: ${fault.message}`, async () => {
    const { commitInGroup, endAll, groups } = ground((of) => (of.includes('4') ? fault : undefined))
    const all = names(1, 5).map((name) => commitInGroup(staged(name)))
    const results = Promise.allSettled(all)
    for (let turn = 0; turn < 3; turn++) await endAll()
    assert.deepEqual(groups().slice(2), [['3', '4', '5'], ['3'], ['4'], ['5']])
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
  })

for (const error of [
  Object.assign(new Error('the connection was lost during a commit'), { code: 'PG_COMMIT_UNKNOWN' }),
  new AppError('busy', 'The database is in use', {
    cause: Object.assign(new Error('deadlock'), { code: 'PG_40P01' }),
  }),
  Object.assign(new Error('the database or disk is full'), { code: 'SQLITE_FULL' }),
  Object.assign(new Error('the disk is broken'), { code: 'SQLITE_IOERR_WRITE' }),
])
  test(`an error of the database rejects the whole group: ${error.message}`, async () => {
    const { commitInGroup, endAll, commits } = ground((of) => (of.length > 1 ? error : undefined))
    const all = names(1, 5).map((name) => commitInGroup(staged(name)))
    const results = Promise.allSettled(all)
    for (let turn = 0; turn < 2; turn++) await endAll()
    assert.equal(commits.length, 3, 'none is committed again')
    assert.deepEqual(
      (await results).slice(2).map((result) => 'reason' in result && result.reason),
      [error, error, error],
    )
  })
