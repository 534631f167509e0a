// Store id: a text that a database and its blob store have in common. Without it a node could store documents in a
// folder that is not mounted, or under a mistyped prefix. Another database could collect them as garbage. A
// renewal of the database adds its epoch, generation and timeline. A former primary and a copy have lower ones, and may
// neither write nor collect (decisions#lineage).

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

/** Returns whether a store id is of a copy, which reads and stores documents and never removes a blob. */
export function isCopyId(storeId: string | undefined): boolean {
  return storeId?.startsWith(COPY_PREFIX) ?? false
}

type OwnLineage = Pick<Lineage, 'current' | 'raiseGeneration'>

export function openStoreId(db: WriteDb, fileOf: StoreIdFiles, lineage?: OwnLineage): StoreId {
  return new StoreId(db, fileOf, lineage)
}

export class StoreId {
  readonly #db: WriteDb
  readonly #fileOf: StoreIdFiles
  readonly #lineage: OwnLineage | undefined
  #verifiedId: string | undefined
  #settledEpoch: string | undefined

  constructor(db: WriteDb, fileOf: StoreIdFiles, lineage: OwnLineage | undefined) {
    this.#db = db
    this.#fileOf = fileOf
    this.#lineage = lineage
  }

  /**
   * Compares the ids; the first node of a new database creates them.
   * @throws AppError `failed` for a store with another id, or none
   */
  check(): Promise<void> {
    return atomically(this.#db, (trx) => this.#check(trx))
  }

  /**
   * Returns the message that `check` would throw, and changes nothing; undefined: the ids match, or there is none yet.
   */
  async findFault(): Promise<string | undefined> {
    const id = await findStoreId(this.#db)
    return id === undefined ? undefined : (await this.#validate(id))?.message
  }

  /**
   * Called in a transaction that stores documents: the store may be unreachable now, or was so at the start. The store
   * records a renewal before the first document that follows it. So no later renewal gives the same ids, even if a
   * failover loses this one.
   * @throws AppError like `check`; `unavailable` for a former primary or a copy
   */
  async verify(trx: WriteDb): Promise<void> {
    if (this.#verifiedId === undefined) await this.#check(trx)
    else {
      const fault = await this.#validate(this.#verifiedId)
      if (fault) throw fault
    }
    if (this.#isSettled()) return
    const message = await this.#settle(trx)
    if (message !== undefined || !this.#isSettled()) throw new AppError('unavailable', message ?? CHANGED)
  }

  /** Like `verify`, with what this process has last found in the store: for one whose requests take long. */
  async ensureVerified(trx: WriteDb): Promise<void> {
    if (this.#verifiedId === undefined || !this.#isSettled()) await this.verify(trx)
  }

  /**
   * Records a renewal of this database in the store. Returns why this database may not write: it is a former primary
   * or a copy. Undefined: it may, or the store has another id or none, which `check` reports.
   */
  settleLineage(): Promise<string | undefined> {
    return this.#settle(this.#db)
  }

  /**
   * Records the change counters of the last poll in the store. Returns true if the record has higher ones, and leaves
   * it: the database went back, or the poll is older.
   */
  async findsEarlierCounters(): Promise<boolean> {
    const id = this.#verifiedId ?? (await findStoreId(this.#db))
    const current = this.#lineage?.current()
    if (id === undefined || !current) return false
    const { epoch, counters } = current
    const file = this.#fileOf(fileName(id) + COUNTERS_SUFFIX)
    const [recordedEpoch, ...recorded] = (await file.read())?.trim().split(/\s+/) ?? []
    if (recordedEpoch === epoch) {
      if (counters.some((one, at) => one < Number(recorded[at] ?? 0))) return true
      if (counters.every((one, at) => one === Number(recorded[at]))) return false
    }
    const text = [epoch, ...counters].join(' ')
    await file.write(text).catch(() => {}) // a full store: the node goes on, and the record stays as it is
    return false
  }

  /** Returns the greatest generation that the store has recorded. */
  async findGeneration(): Promise<number> {
    return (await this.#readMark(await findStoreId(this.#db)))?.lineage?.generation ?? 0
  }

  /** Records the lineage, whatever the store has recorded before. */
  async writeLineage(mark: LineageMark): Promise<void> {
    const id = await findStoreId(this.#db)
    if (id !== undefined) await this.#writeMark({ id, lineage: mark })
  }

  /** Gives a copy of the database a store id of its own, beside that of the original. A copy removes nothing. */
  async becomeCopy(mark: LineageMark): Promise<void> {
    const id = COPY_PREFIX + randomUUID()
    await this.#writeMark({ id, lineage: mark })
    await updateStoreId(this.#db, id)
  }

  async #check(trx: WriteDb) {
    // Nodes that start at the same time wait for the end of this transaction, and then find the id.
    const id = (await findStoreId(trx)) ?? (await ensureStoreId(trx, () => this.#createId()))
    const fault = await this.#validate(id)
    if (fault) throw fault
    this.#verifiedId = id
  }

  async #createId() {
    const other = await this.#readMark()
    if (other) throw belongsToOther(this.#fileOf(STORE_ID_NAME).location, other.id)
    const id = randomUUID()
    await this.#writeMark({ id })
    return id
  }

  async #validate(id: string) {
    const { location } = this.#fileOf(fileName(id))
    const mark = await this.#readMark(id)
    if (!mark) {
      const advice = `Is it mounted, and written right? If it is the right one, write ${id} there`
      return new AppError(
        'failed',
        `the contents of this database are not here, there is no ${location}. ${advice}`,
      )
    }
    if (mark.id !== id) return belongsToOther(location, mark.id)
    const current = this.#lineage?.current()
    const order = compareLineage(mark.lineage, current)
    return order === 'later' ? laterError(location, mark.lineage, current) : undefined
  }

  async #settle(trx: WriteDb): Promise<string | undefined> {
    const id = this.#verifiedId ?? (await findStoreId(trx))
    const [mark, current] = [await this.#readMark(id), this.#lineage?.current()]
    if (mark?.id !== id || !mark) {
      this.#settledEpoch = undefined // `check` and `verify` report the record
      return undefined
    }
    const order = compareLineage(mark.lineage, current)
    if (order === 'overtaken') {
      await this.#lineage?.raiseGeneration(mark.lineage?.generation ?? 0)
      return this.#settle(trx)
    }
    if (order === 'earlier') await this.#writeMark({ id: mark.id, lineage: current })
    this.#settledEpoch = order === 'later' ? undefined : current?.epoch
    const { location } = this.#fileOf(fileName(id))
    return order === 'later' ? laterError(location, mark.lineage, current).message : undefined
  }

  #isSettled() {
    return this.#settledEpoch === this.#lineage?.current()?.epoch
  }

  async #readMark(id?: string) {
    const text = await this.#fileOf(fileName(id)).read()
    return text === undefined ? undefined : parseStoreMark(text)
  }

  #writeMark(mark: StoreMark) {
    return this.#fileOf(fileName(mark.id)).write(formatStoreMark(mark))
  }
}

function fileName(id: string | undefined): string {
  return isCopyId(id) ? `${STORE_ID_NAME}-${id}` : STORE_ID_NAME
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
