// Store id: a text that a database and its blob store have in common. Without it a node could store documents in a
// folder that is not mounted, or under a mistyped prefix. Another database could collect them as garbage. A
// renewal of the database adds its epoch, generation and timeline. A former primary and a copy have lower ones, and may
// neither write nor collect (decisions 7.9).

import { randomUUID } from 'node:crypto'
import { AppError } from '../../runtime/errors.ts'
import { ensureStoreId, findStoreId, updateStoreId } from '../documents/blob-rows.ts'
import { atomically, type Lineage, type LineageMark } from '../engine.ts'
import type { WriteDb } from '../tables.ts'

/** Name of the file or object that has the store id as text. A copy of a database has one of its own beside it. */
export const STORE_ID_NAME = 'cambista-contents'
const CHANGED = 'The store of documents has changed: try again in a moment'
const COPY_PREFIX = 'copy-'

// The change counters of the database are beside it. A backup that was put back while no node ran has lower ones.
const COUNTERS_SUFFIX = '-counters'

/** Returns the file or object of a name. */
export type StoreIdFiles = (name: string) => {
  /** Location of the store id, for messages. */
  location: string
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

/** Text of the file: `ID`, or `ID EPOCH GENERATION TIMELINE`, `-` for an unknown timeline. */
export type StoreMark = { id: string; lineage?: LineageMark | undefined }

export type StoreId = {
  /**
   * Compares the ids; the first node of a new database creates them.
   * @throws AppError `failed` for a store with another id, or none
   */
  check(): Promise<void>
  /**
   * Returns the message that `check` would throw, and changes nothing; undefined: the ids match, or there is none yet.
   */
  findFault(): Promise<string | undefined>
  /**
   * Called in a transaction that stores documents: the store may be unreachable now, or was so at the start. The store
   * records a renewal before the first document that follows it. So no later renewal gives the same ids, even if a
   * failover loses this one.
   * @throws AppError like `check`; `unavailable` for a former primary or a copy
   */
  verify(trx: WriteDb): Promise<void>
  /** Like `verify`, with what this process has last found in the store: for one whose requests take long. */
  ensureVerified(trx: WriteDb): Promise<void>
  /**
   * Records a renewal of this database in the store. Returns why this database may not write: it is a former primary
   * or a copy. Undefined: it may, or the store has another id or none, which `check` reports.
   */
  settleLineage(): Promise<string | undefined>
  /**
   * Records the change counters of the last poll in the store. Returns true if the record has higher ones, and leaves
   * it: the database went back, or the poll is older.
   */
  findsEarlierCounters(): Promise<boolean>
  /** Returns the greatest generation that the store has recorded. */
  findGeneration(): Promise<number>
  /** Records the lineage, whatever the store has recorded before. */
  writeLineage(mark: LineageMark): Promise<void>
  /** Gives a copy of the database a store id of its own, beside that of the original. A copy removes nothing. */
  becomeCopy(mark: LineageMark): Promise<void>
}

/** Returns whether a store id is of a copy, which reads and stores documents and never removes a blob. */
export function isCopyId(storeId: string | undefined): boolean {
  return storeId?.startsWith(COPY_PREFIX) ?? false
}

export function openStoreId(
  db: WriteDb,
  fileOf: StoreIdFiles,
  lineage?: Pick<Lineage, 'current' | 'raiseGeneration'>,
): StoreId {
  let verifiedId: string | undefined
  let settledEpoch: string | undefined
  const fileName = (id: string | undefined) => (isCopyId(id) ? `${STORE_ID_NAME}-${id}` : STORE_ID_NAME)
  const fileOfId = (id: string | undefined) => fileOf(fileName(id))
  const readMark = async (id?: string) => {
    const text = await fileOfId(id).read()
    return text === undefined ? undefined : parseStoreMark(text)
  }
  const writeMark = (mark: StoreMark) => fileOfId(mark.id).write(formatStoreMark(mark))
  const make = async () => {
    const other = await readMark()
    if (other) throw belongsToOther(fileOf(STORE_ID_NAME).location, other.id)
    const newId = randomUUID()
    await writeMark({ id: newId })
    return newId
  }
  const validate = async (id: string) => {
    const { location } = fileOfId(id)
    const mark = await readMark(id)
    if (!mark) {
      const advice = `Is it mounted, and written right? If it is the right one, write ${id} there`
      return new AppError(
        'failed',
        `the contents of this database are not here, there is no ${location}. ${advice}`,
      )
    }
    if (mark.id !== id) return belongsToOther(location, mark.id)
    const order = compareLineage(mark.lineage, lineage?.current())
    return order === 'later' ? laterError(location, mark.lineage, lineage?.current()) : undefined
  }
  const check = async (trx: WriteDb) => {
    // Nodes that start at the same time wait for the end of this transaction, and then find the id.
    const id = (await findStoreId(trx)) ?? (await ensureStoreId(trx, make))
    const fault = await validate(id)
    if (fault) throw fault
    verifiedId = id
  }
  const isSettled = () => settledEpoch === lineage?.current()?.epoch
  const settleLineage = async (trx = db): Promise<string | undefined> => {
    const id = verifiedId ?? (await findStoreId(trx))
    const [mark, current] = [await readMark(id), lineage?.current()]
    if (mark?.id !== id || !mark) {
      settledEpoch = undefined // `check` and `verify` report the record
      return undefined
    }
    const order = compareLineage(mark.lineage, current)
    if (order === 'overtaken') {
      await lineage?.raiseGeneration(mark.lineage?.generation ?? 0)
      return settleLineage(trx)
    }
    if (order === 'earlier') await writeMark({ id: mark.id, lineage: current })
    settledEpoch = order === 'later' ? undefined : current?.epoch
    return order === 'later' ? laterError(fileOfId(id).location, mark.lineage, current).message : undefined
  }
  const verify = async (trx: WriteDb) => {
    if (verifiedId === undefined) await check(trx)
    else {
      const fault = await validate(verifiedId)
      if (fault) throw fault
    }
    if (isSettled()) return
    const message = await settleLineage(trx)
    if (message !== undefined || !isSettled()) throw new AppError('unavailable', message ?? CHANGED)
  }
  return {
    check: () => atomically(db, check),
    async findFault() {
      const id = await findStoreId(db)
      return id === undefined ? undefined : (await validate(id))?.message
    },
    verify,
    async ensureVerified(trx) {
      if (verifiedId === undefined || !isSettled()) await verify(trx)
    },
    settleLineage: () => settleLineage(),
    async findsEarlierCounters() {
      const id = verifiedId ?? (await findStoreId(db))
      const current = lineage?.current()
      if (id === undefined || !current) return false
      const { epoch, counters } = current
      const file = fileOf(fileName(id) + COUNTERS_SUFFIX)
      const [recordedEpoch, ...recorded] = (await file.read())?.trim().split(/\s+/) ?? []
      if (recordedEpoch === epoch) {
        if (counters.some((one, at) => one < Number(recorded[at] ?? 0))) return true
        if (counters.every((one, at) => one === Number(recorded[at]))) return false
      }
      const text = [epoch, ...counters].join(' ')
      await file.write(text).catch(() => {}) // a full store: the node goes on, and the record stays as it is
      return false
    },
    findGeneration: async () => (await readMark(await findStoreId(db)))?.lineage?.generation ?? 0,
    async writeLineage(mark) {
      const id = await findStoreId(db)
      if (id !== undefined) await writeMark({ id, lineage: mark })
    },
    async becomeCopy(mark) {
      const id = COPY_PREFIX + randomUUID()
      await writeMark({ id, lineage: mark })
      await updateStoreId(db, id)
    },
  }
}

/** Parses the text of the file. Words beyond the fourth are of a later version. */
export function parseStoreMark(text: string): StoreMark {
  const [id = '', epoch, generation, timeline] = text.trim().split(/\s+/)
  if (epoch === undefined) return { id }
  const lineage = { epoch, generation: Number(generation) || 0 }
  const isKnown = /^\d+$/.test(timeline ?? '')
  return { id, lineage: isKnown ? { ...lineage, timeline: Number(timeline) } : lineage }
}

export function formatStoreMark({ id, lineage }: StoreMark): string {
  return lineage ? `${id} ${lineage.epoch} ${lineage.generation} ${lineage.timeline ?? '-'}` : id
}

/**
 * Compares the record of a store with a database. `earlier`: the database was renewed since. `later`: the database is a
 * former primary, or a copy. `overtaken`: the record is of a renewal that a later failover lost.
 */
export function compareLineage(
  stored: LineageMark | undefined,
  database: LineageMark | undefined,
): 'same' | 'earlier' | 'later' | 'overtaken' {
  if (!database) return 'same'
  if (!stored) return database.generation > 0 ? 'earlier' : 'same'
  if (stored.epoch === database.epoch) return 'same'
  if (stored.generation < database.generation) return 'earlier'
  const isOvertaken = (database.timeline ?? 0) > (stored.timeline ?? Number.POSITIVE_INFINITY)
  return isOvertaken ? 'overtaken' : 'later'
}

function laterError(
  location: string,
  stored: LineageMark | undefined,
  database: LineageMark | undefined,
): AppError {
  const isFormer = (stored?.timeline ?? 0) > (database?.timeline ?? Number.POSITIVE_INFINITY)
  const what = isFormer
    ? `the database is a former primary (timeline ${database?.timeline} after ${stored?.timeline}): stop it, and let the address lead to the later one`
    : 'the database is a copy, or an earlier state that was put back: run cambista database restored (for a rehearsal beside the real one with --copy)'
  return new AppError('unavailable', `${what}; ${location} has a later epoch`)
}

function belongsToOther(location: string, id: string): AppError {
  const advice = 'If that database is no more, remove it'
  return new AppError(
    'failed',
    `the contents of another database are here: ${location} says ${id}. ${advice}`,
  )
}
