// Group commit: small uploads that wait for the database at the same time share a transaction, and wait once.
// An upload that finds no other waits for none (decisions#node-uploads).

import { AppError, errorCode } from '../../../runtime/errors.ts'
import { isDatabaseError, LOCK_NOT_AVAILABLE, storageError } from '../../../runtime/storage-error.ts'
import type { IdRange } from '../../../store/documents/idempotency.ts'
import { blobHashes } from '../regained-blobs.ts'
import type { StagedUpload } from './store.ts'

/** Commits uploads in one transaction; returns the ids of each. */
type Commit = (uploads: readonly StagedUpload[]) => Promise<IdRange[][]>

type Member = PromiseWithResolvers<IdRange[]> & { upload: StagedUpload }

const GROUPS_AT_ONCE = 2 // rows of one are prepared during the commit of the other
const UPLOADS = 64
const DOCUMENTS = 500 // as many as one statement takes
const SMALL = 50 // documents of an upload that may share a transaction

/**
 * Returns a function that commits an upload, alone or with others. If a group fails because of one of its uploads, each
 * is committed alone.
 */
export function createUploadGroups(commit: Commit): (upload: StagedUpload) => Promise<IdRange[]> {
  const waiting: Member[] = []
  let running = 0
  const start = () => {
    while (running < GROUPS_AT_ONCE && waiting.length > 0) {
      running += 1
      void commitGroup(takeGroup(waiting), commit).finally(() => {
        running -= 1
        start()
      })
    }
  }
  return async (upload) => {
    if (upload.batch.files.count() > SMALL) return commitAlone(upload, commit)
    const member = { ...Promise.withResolvers<IdRange[]>(), upload }
    waiting.push(member)
    start()
    return member.promise
  }
}

/** Removes and returns the members of a group. Their blobs differ, for one blob has one row. */
function takeGroup(waiting: Member[]): Member[] {
  if (waiting.length < 2) return waiting.splice(0)
  const group: Member[] = []
  const hashes = new Set<string>()
  let documents = 0
  for (const member of waiting) {
    const { files, blobs } = member.upload.batch
    const ownHashes = [...blobHashes(blobs)]
    if (documents + files.count() > DOCUMENTS || ownHashes.some((hash) => hashes.has(hash))) continue
    documents += files.count()
    for (const hash of ownHashes) hashes.add(hash)
    if (group.push(member) === UPLOADS) break
  }
  const members = new Set(group)
  waiting.splice(0, waiting.length, ...waiting.filter((member) => !members.has(member)))
  return group
}

async function commitGroup(group: readonly Member[], commit: Commit): Promise<void> {
  try {
    const runs = await commit(group.map(({ upload }) => upload))
    for (const [index, { resolve }] of group.entries()) resolve(ownRuns(runs, index))
  } catch (error) {
    if (group.length === 1 || isDatabaseFailure(error)) for (const { reject } of group) reject(error)
    else {
      const commits = group.map(({ upload, resolve }) => {
        const runs = commitAlone(upload, commit)
        resolve(runs)
        return runs
      })
      await Promise.allSettled(commits)
    }
  }
}

/**
 * Returns whether the database failed: then no upload is the cause, and a lost commit may have succeeded. A lock that is
 * not free in time is one upload's: another transaction has its agent or its blob.
 */
function isDatabaseFailure(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].some((one) => {
    if (!isDatabaseError(one) || errorCode(one) === LOCK_NOT_AVAILABLE) return false
    return storageError(one) instanceof AppError
  })
}

async function commitAlone(upload: StagedUpload, commit: Commit): Promise<IdRange[]> {
  return ownRuns(await commit([upload]), 0)
}

function ownRuns(runs: readonly IdRange[][], index: number): IdRange[] {
  const own = runs[index]
  if (!own) throw new Error('a commit returned no ids of an upload')
  return own
}
