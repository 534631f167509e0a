// What a test of the upload's reader needs: a place for blobs in memory, and a body with every oddity in it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { NESTED, type Upload, type UploadedDocument } from '../../src/domain/upload.ts'
import { AppError } from '../../src/errors.ts'
import { readUpload } from '../../src/http/upload-body.ts'
import type { BlobWriter } from '../../src/store/blob-writer.ts'

/** A sink in memory that knows which blobs are still held. */
export function createMemory() {
  const live = new Map<string, Buffer>()
  let begun = 0
  const beginBlob = async (): Promise<BlobWriter> => {
    const path = `blob-${begun++}`
    const chunks: Buffer[] = []
    live.set(path, Buffer.alloc(0))
    const discard = async () => {
      live.delete(path)
    }
    return {
      write(chunk) {
        chunks.push(Buffer.from(chunk))
        return chunks.length % 2 === 0 ? Promise.resolve() : undefined
      },
      async finish() {
        const bytes = Buffer.concat(chunks)
        live.set(path, bytes)
        const sha256 = createHash('sha256').update(bytes).digest('hex')
        return { sha256, size: bytes.length, path, sync: async () => {}, discard }
      },
      discard,
    }
  }
  return { beginBlob, live, begun: () => begun }
}

export type Content = string | { problem: string } | undefined
export type Seen = Omit<Upload, 'documents'> & { documents: unknown }

export async function* arriving(pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** What was read, with the blobs' texts in place of the blobs; no blob may be left that nothing names. */
export async function read(...pieces: (string | Uint8Array)[]): Promise<Seen> {
  const memory = createMemory()
  let named = 0
  const contentOf = ({ content }: UploadedDocument): Content => {
    if (content === undefined || 'problem' in content) return content
    named++
    return memory.live.get(content.blob.path)?.toString()
  }
  try {
    const body = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
    const upload = await readUpload(arriving(body), memory.beginBlob)
    const documents = Array.isArray(upload.documents)
      ? upload.documents.map((document) => ({ ...document, content: contentOf(document) }))
      : upload.documents
    return { ...upload, documents }
  } finally {
    assert.equal(memory.live.size, named, 'blobs that nothing names')
  }
}

export function refuses(body: string | Uint8Array, message: RegExp): Promise<void> {
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
export const TRICKY = `\r\n{ "x" : [{"base64":"AA=="},-1.5e+3,[],{}], "documents":\t[ {"base64":"${base64('one')}","n\\u0061me":"ñ\\ud83d\\ude00\\"\\\\",
  "more":{"base64":[1,{"name":"no"}]},"mimetype":null}, 7, [], {"base64":"aGV\\u0073\\r\\nbG8\\/\\n","name":"\u{1f600}é","mimetype":true},
  {"base64":"Zm 9v"},{"base64":"AA==","base64":"dHdv"},{"base64":"AA==","base64":12},{"base64":""},{"base64":null},{"base64":{"a":"AA=="}} ],
  "owner_id" : 0.1e1 ,"agent_id":"12","company_id":[[]], "agent_id" : 13} \n`
export const TRICKY_READ: Seen = {
  owner_id: 1,
  company_id: NESTED,
  agent_id: 13,
  documents: [
    { name: 'ñ😀"\\', mimetype: null, content: 'one' },
    { name: undefined, mimetype: undefined, content: undefined },
    { name: undefined, mimetype: undefined, content: undefined },
    { name: '😀é', mimetype: true, content: Buffer.from('aGVsbG8/', 'base64').toString() },
    { name: undefined, mimetype: undefined, content: { problem: 'not base64' } },
    { name: undefined, mimetype: undefined, content: 'two' },
    { name: undefined, mimetype: undefined, content: { problem: 'not a string' } },
    { name: undefined, mimetype: undefined, content: { problem: 'empty' } },
    { name: undefined, mimetype: undefined, content: undefined },
    { name: undefined, mimetype: undefined, content: { problem: 'not a string' } },
  ],
}
