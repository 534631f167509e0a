// Checks the end of the soak: each acknowledged document exists once with its bytes, and no upload is partial. No key
// was used twice, no reader missed a document, and each outcome is the acknowledged one.

import { setTimeout as pause } from 'node:timers/promises'
import { inParallel } from '../../../src/store/blobs/parallel.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { TOKENS } from '../directory.ts'
import { hashBytes, type Upload, type Uploads } from './documents.ts'
import type { Reader } from './readers.ts'
import type { Claims } from './workers.ts'
import { type Answer, count, fault, loss, request, type Soak } from './world.ts'

const TRIES = 10
const HEADERS = { authorization: `Bearer ${TOKENS.read}` }

type Row = {
  id: number
  name: string
  sha256: string
  company_id: number
  state: string
  claim_id: string | null
  finished_by: number | null
}

/** An acknowledged upload of which no row exists. */
export type LostUpload = { names: readonly string[]; hashes: readonly string[]; ids: readonly number[] }

/** Checks all that clients know against the database and the nodes. Returns the lost uploads, which may be faults. */
export async function checkAll(
  soak: Soak,
  db: WriteDb,
  { uploads, readers, claims }: { uploads: Uploads; readers: readonly Reader[]; claims: Claims },
): Promise<LostUpload[]> {
  const rows: Row[] = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name', 'sha256', 'company_id', 'state', 'claim_id', 'finished_by'])
    .orderBy('documents.id')
    .execute()
  count(soak, 'documents in the end', rows.length)
  const lostUploads = checkUploads(soak, rows, uploads)
  checkReaders(soak, rows, readers)
  await checkOutcomes(soak, db, rows, claims)
  await checkContents(soak, rows)
  await checkResults(soak, claims)
  return lostUploads
}

function checkUploads(soak: Soak, rows: readonly Row[], uploads: Uploads): LostUpload[] {
  const lostUploads: LostUpload[] = []
  const byUpload = Map.groupBy(rows, ({ name }) => name.replace(/\d+\.bin$/, '0.bin'))
  for (const [first, found] of byUpload) {
    const upload = uploads.get(first)
    if (!upload) fault(soak, `document ${found[0]?.id} was never sent`)
    else if (upload.deleted === 'no') checkUpload(soak, upload, found)
  }
  for (const [first, { names, hashes, ids, deleted }] of uploads) {
    const documents = byUpload.get(first) ?? []
    if (ids && deleted === 'no' && documents.length === 0) {
      loss(soak, 'uploads', `upload ${first} was acknowledged and is lost`)
      lostUploads.push({ names, hashes, ids })
    }
    if (deleted === 'yes' && documents.length > 0)
      loss(soak, 'deletions', `upload ${first} was deleted and is there`)
    if (!ids)
      count(
        soak,
        documents.length > 0 ? 'uploads kept without an answer' : 'uploads without an answer, not kept',
      )
  }
  return lostUploads
}

function checkUpload(soak: Soak, { names, hashes, ids }: Upload, found: readonly Row[]): void {
  const is = (rows: readonly unknown[], expected: readonly unknown[], what: string) => {
    if (JSON.stringify(rows) !== JSON.stringify(expected)) {
      fault(soak, `upload ${names[0]}: ${what} are ${JSON.stringify(rows)}, not ${JSON.stringify(expected)}`)
    }
  }
  is(
    found.map(({ name }) => name),
    names,
    'names',
  )
  is(
    found.map(({ sha256 }) => sha256),
    hashes,
    'contents',
  )
  if (ids)
    is(
      found.map(({ id }) => id),
      ids,
      'ids',
    )
}

function checkReaders(soak: Soak, rows: readonly Row[], readers: readonly Reader[]): void {
  for (const { filter, seen } of readers) {
    const expectedRows = filter === '' ? rows : rows.filter(({ company_id }) => company_id === 1)
    const missingRows = expectedRows.filter(({ id }) => !seen.has(id))
    if (missingRows.length > 0)
      fault(soak, `reader ${filter} missed ${missingRows.map(({ id }) => id).slice(0, 20)}`)
  }
}

async function checkOutcomes(
  soak: Soak,
  db: WriteDb,
  rows: readonly Row[],
  { outcomes }: Claims,
): Promise<void> {
  for (const { id, state, claim_id, finished_by } of rows) {
    const acknowledged = outcomes.get(id)
    if (acknowledged && acknowledged !== `${claim_id} ${state}`) {
      loss(
        soak,
        'outcomes',
        `document ${id} is ${state} by ${claim_id}, and ${acknowledged} was acknowledged`,
      )
    }
    if (state === 'failed' && finished_by === null) count(soak, 'documents given up after 5 claims')
  }
  const events = await db
    .selectFrom('events')
    .select((of) => ['document_id', of.fn.countAll<number>().as('times')])
    .where('kind', 'in', ['done', 'failed'])
    .where('via', '=', 'token')
    .groupBy('document_id')
    .execute()
  const twice = events.filter(({ times }) => times > 1)
  if (twice.length > 0) fault(soak, `finished twice: ${JSON.stringify(twice.slice(0, 20))}`)
  count(soak, 'documents finished by workers', events.length)
}

/** Downloads each document from a node and checks its hash. */
async function checkContents(soak: Soak, rows: readonly Row[]): Promise<void> {
  await inParallel(rows, 4, async ({ id, sha256 }) => {
    const answer = await download(soak, id, 'content')
    if (answer?.status !== 200) fault(soak, `content of ${id}: ${answer?.status} ${answer?.body}`)
    else if (hashBytes(answer.body) !== sha256) fault(soak, `content of ${id} is another one`)
  })
}

/** Compares each acknowledged result with the stored one, to the letter. */
async function checkResults(soak: Soak, { results }: Claims): Promise<void> {
  await inParallel([...results], 4, async ([id, result]) => {
    const answer = await download(soak, id, 'result')
    if (answer?.status !== 200 || answer.body.toString() !== result)
      loss(soak, 'results', `result of ${id}: ${answer?.status} ${answer?.body}, not ${result}`)
  })
}

/** A node may be busy: a 503 or no answer is tried again. */
async function download(soak: Soak, id: number, part: 'content' | 'result'): Promise<Answer | undefined> {
  let answer: Answer | undefined
  for (let turn = 0; turn < TRIES && answer === undefined; turn++) {
    if (turn > 0) await pause(1000)
    answer = await request(soak, part, `/api/v1/documents/${id}/${part}`, { headers: HEADERS })
  }
  return answer
}
