// Helpers for tests of the upload reader: a blob store in memory, and bodies with every oddity.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  type DocumentFault,
  isDocuments,
  NESTED,
  type Upload,
  type UploadedDocuments,
  type UploadedField,
} from '../../../src/domain/documents/uploads/upload.ts'
import { recognizeBlob } from '../../../src/domain/invoices/recognition.ts'
import type { UploadReader } from '../../../src/http/documents/uploads/body-reader.ts'
import { createUploadReader } from '../../../src/http/documents/uploads/json-body.ts'
import { AppError } from '../../../src/runtime/errors.ts'
import { createMemoryBudget, type MemoryLimits } from '../../../src/runtime/memory-budget.ts'
import type { BlobBatch } from '../../../src/store/blobs/batch.ts'

const LIMITS: MemoryLimits = { each: 64 * 1024 ** 2, all: 128 * 1024 ** 2 }

type MemoryBatch = BlobBatch & { readBlob(index: number): Buffer }

/** Batches in memory that know which blobs are not discarded yet. */
export function createMemory() {
  const live = new Set<Buffer[]>()
  let writerCount = 0
  const beginBatch = (): MemoryBatch => {
    const blobs: Buffer[][] = []
    const own = new Set<Buffer[]>()
    const readBlob = (index: number) => Buffer.concat(blobs[index] ?? [])
    return {
      readBlob,
      count: () => blobs.length,
      at(index) {
        const bytes = readBlob(index)
        return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
      },
      begin() {
        const chunks: Buffer[] = []
        writerCount++
        own.add(chunks)
        return {
          write(bytes) {
            live.add(chunks)
            chunks.push(Buffer.from(bytes))
            return chunks.length % 2 === 0 ? Promise.resolve() : undefined
          },
          keep: async () => blobs.push(chunks) - 1,
          async discard() {
            live.delete(chunks)
          },
        }
      },
      commit: async () => {},
      async discard() {
        for (const chunks of own) live.delete(chunks)
      },
    }
  }
  return { beginBatch, live, begun: () => writerCount }
}

/** A reader over memory or over other batches; `held` is its memory without the blobs, in bytes. */
export function openReader(
  beginBatch: () => BlobBatch = createMemory().beginBatch,
  limits = LIMITS,
): UploadReader & { held(): number; release(): void } {
  const budget = createMemoryBudget(limits)
  const memory = budget.open()
  const reader = createUploadReader({
    beginBatch,
    memory,
    watch: async () => {},
    recognize: recognizeBlob,
  })
  return { ...reader, held: budget.usedBytes, release: () => memory[Symbol.dispose]() }
}

export type ReadDocuments =
  | { files: { name: string; mimetype: string; content: string }[] }
  | { total: number; faulty: number; faults: DocumentFault[] }
export type ReadUpload = Omit<Upload, 'documents'> & { documents: ReadDocuments | UploadedField }

export async function* streamPieces(pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** Reads a body, with blobs as text. Asserts that unreferenced blobs are discarded and memory is freed. */
export async function read(...pieces: (string | Uint8Array)[]): Promise<ReadUpload> {
  const memory = createMemory()
  const reader = openReader(memory.beginBatch)
  try {
    await reader.read(streamPieces(pieces))
    const { documents, ...ids } = reader.upload
    const readDocuments = isDocuments(documents) ? describeDocuments(documents) : documents
    const referencedCount = isDocuments(documents) ? (documents.valid?.blobs.count() ?? 0) : 0
    assert.equal(memory.live.size, referencedCount, 'contents that nothing names')
    return { ...ids, documents: readDocuments }
  } finally {
    await reader.discard()
    assert.equal(memory.live.size, 0, 'contents that were not discarded')
    reader.release()
    assert.equal(reader.held(), 0, 'memory that was not freed')
  }
}

function describeDocuments({ total, faulty, faults, valid }: UploadedDocuments): ReadDocuments {
  if (!valid) return { total, faulty, faults }
  assert.deepEqual([total, faulty], [valid.files.count(), 0])
  const { readBlob } = valid.blobs as MemoryBatch
  const files = [...valid.files].map(({ blob, ...file }) => ({ ...file, content: readBlob(blob).toString() }))
  return { files }
}

/** The files of a body whose documents are all valid. */
export async function readFiles(...pieces: (string | Uint8Array)[]) {
  const { documents } = await read(...pieces)
  assert.ok(typeof documents === 'object' && documents !== null && 'files' in documents, String(documents))
  return documents.files
}

export function assertRejected(body: string | Uint8Array, message: RegExp): Promise<void> {
  return assert.rejects(read(body), (error) => {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, 'bad-request')
    assert.match(error.message, message)
    return true
  })
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')
export const nothing = {
  owner_id: undefined,
  company_id: undefined,
  agent_id: undefined,
  documents: undefined,
}

/** Ids and unknown fields of every kind, repeated keys, and documents in unusual notation. */
const oddIds = `"owner_id" : "x\\u0061" ,"agent_id":"12","company_id":[[]], "agent_id" : 13`
const oddity = '{"base64":[1,{"name":"no"}],"documents":[{"base64":"AA=="},"\\\\\\"",-1.5e+3,true]}'

export const TRICKY = `\r\n{ "x" : [{"base64":"AA=="},-1.5e+3,[],{}, ""], "documents":\t[ {"base64":"${base64('one')}","n\\u0061me":"ñ\\ud83d\\ude00\\"\\\\",
  "more":${oddity},"mimetype":"a\\/b"}, {"base64":"aGV\\u0073\\r\\nbG8\\/\\n","name":"\u{1f600}é","mimetype":"a/b"},
  {"base64":"AA==","name":1,"base64":"dHdv","mimetype":{},"mimetype":"x/y; a=b","name":"z"},
  {"mimetype":"x/y; a=b","name":[],"name":"\u{10ffff}","base64":12,"base64":"Zg=="} ],
  ${oddIds}} \n`
export const TRICKY_READ: ReadUpload = {
  owner_id: 'xa',
  company_id: NESTED,
  agent_id: 13,
  documents: {
    files: [
      { name: 'ñ😀"\\', mimetype: 'a/b', content: 'one' },
      { name: '😀é', mimetype: 'a/b', content: Buffer.from('aGVsbG8/', 'base64').toString() },
      { name: 'z', mimetype: 'x/y; a=b', content: 'two' },
      { name: '\u{10ffff}', mimetype: 'x/y; a=b', content: 'f' },
    ],
  },
}

/** The same with documents that are invalid in every way. */
export const FAULTY = TRICKY.replace(
  '"documents":\t[',
  `"documents":\t[ {"base64":"AA==","name":"a","mimetype":"a/b"}, 7, [], {"name":null,"mimetype":"a/b","base64":"AA=="},
  {"name":"a","mimetype":true,"base64":"AA=="}, {"name":"a","mimetype":"a/b","base64":"Zm 9v"}, "AAAA",
  {"name":"a","mimetype":"a/b","base64":"AA==","base64":12}, {"name":"a","mimetype":"a/b","base64":""}, null,
  {"name":"a","mimetype":"a/b","base64":null}, {"name":"a","mimetype":"a/b","base64":{"a":"AA=="}}, {},`,
)
const NO_OBJECT = {
  field: 'name',
  message: 'a document must be an object with name, mimetype and base64',
} as const
export const FAULTY_READ: ReadUpload = {
  ...TRICKY_READ,
  documents: {
    total: 17,
    faulty: 12,
    faults: [
      { index: 1, ...NO_OBJECT },
      { index: 2, ...NO_OBJECT },
      { index: 3, field: 'name', message: 'name is missing' },
      { index: 4, field: 'mimetype', message: 'mimetype must be a string' },
      {
        index: 5,
        field: 'base64',
        message: 'base64 must be RFC 4648 with padding, without spaces, tabs or a data: prefix',
      },
      { index: 6, ...NO_OBJECT },
      { index: 7, field: 'base64', message: 'base64 must be a string' },
      { index: 8, field: 'base64', message: 'base64 is empty' },
      { index: 9, ...NO_OBJECT },
      { index: 10, field: 'base64', message: 'base64 is missing' },
      { index: 11, field: 'base64', message: 'base64 must be a string' },
      { index: 12, field: 'name', message: 'name is missing' },
    ],
  },
}
