// Reads an upload as a form (multipart/form-data, RFC 7578): three ids as fields, and each file is a document. Parts
// may have any order. The parser finds the parts, and this file validates them. A part that the parser ignores is an
// error, since it may have been a document.

import { setImmediate } from 'node:timers/promises'
import { Dicer } from '@fastify/busboy'
import { requireFields } from '../../../domain/documents/uploads/checks.ts'
import {
  type DescribedFault,
  UPLOAD_IDS,
  type Upload,
  type UploadedDocument,
  type UploadFault,
} from '../../../domain/documents/uploads/upload.ts'
import { decodeBytes } from '../../../formats/decode-bytes.ts'
import { TOO_LONG } from '../../../formats/json/value.ts'
import { AppError } from '../../../runtime/errors.ts'
import { readBlocks, type UploadReader } from './body-reader.ts'
import type { RecognizedBlobWriter } from './collector.ts'
import { createDocumentCollector, type DocumentCollector, type UploadNeeds } from './collector.ts'
import { type FormField, type FormFile, MAX_HEADERS, type PartHeaders, parseFormPart } from './form-part.ts'
import { parseHeader } from './header-parameters.ts'

/** A part of the form, and its progress. */
type PartProgress = {
  number: number
  headers: PartHeaders | undefined
  /** Bytes to process. */
  blocks: Buffer[]
  hasEnded: boolean
  sink: PartSink | undefined
}

/** Consumer of the bytes of a part. */
type PartSink = { write(bytes: Buffer): Promise<void> | undefined; end(): Promise<void> }

const MAX_ID_BYTES = 128

// A block with more than 50 parts is read in small steps, so that other requests run in between.
const MAX_PARTS_PER_STEP = 50
const SMALL_STEP = 4096

/** Creates readers for a Content-Type. @throws AppError `bad-request` without a boundary */
export function createFormReaders(contentType: string): (needs: UploadNeeds) => UploadReader {
  const boundary = parseHeader(contentType)?.parameters.get('boundary') ?? ''
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) {
    throw new AppError(
      'bad-request',
      'Content-Type multipart/form-data needs a boundary of 1 to 70 characters',
    )
  }
  return (needs) => new FormReader(boundary, needs)
}

class FormReader implements UploadReader {
  readonly upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  readonly #collector: DocumentCollector
  readonly #parser: Dicer
  readonly #parts: PartProgress[] = [] // in their order, those that are not done
  #count = 0
  #failure: Error | undefined
  #isWhole = false

  constructor(boundary: string, needs: UploadNeeds) {
    this.#collector = createDocumentCollector(needs, describeFormFault)
    const settings = { boundary, maxHeaderSize: 2 * MAX_HEADERS } // its type has not the second
    this.#parser = new Dicer(settings)
    this.#parser.on('part', (stream) => this.#addPart(stream))
    this.#parser.on('error', (error) => {
      this.#failure ??= error
    })
    this.#parser.on('finish', () => {
      this.#isWhole = true
    })
  }

  async read(body: AsyncIterable<Uint8Array>) {
    let step = Number.POSITIVE_INFINITY
    for await (const block of readBlocks(body)) {
      for (let at = 0; at < block.length; ) {
        const bytes = block.subarray(at, at + step)
        step = (await this.#push(bytes)) > MAX_PARTS_PER_STEP ? SMALL_STEP : Number.POSITIVE_INFINITY
        at += bytes.length
      }
    }
    if (this.#parser.writable) this.#parser.end()
    await setImmediate()
    await this.#work()
    if (this.#failure || !this.#isWhole || this.#parts.length > 0) {
      const cause = this.#failure
      throw new AppError('bad-request', 'The form ended before its last boundary', { cause })
    }
    requireFields(
      { ...this.upload, 'a file': this.upload.documents },
      [...UPLOAD_IDS, 'a file'],
      `Fields ${UPLOAD_IDS.join(', ')} and at least one file are required`,
    )
  }

  discard() {
    return this.#collector.discard()
  }

  #addPart(stream: Dicer.PartStream) {
    const number = ++this.#count
    const part: PartProgress = { number, headers: undefined, blocks: [], hasEnded: false, sink: undefined }
    this.#parts.push(part)
    stream.on('header', (headers) => {
      part.headers = headers as PartHeaders
    })
    stream.on('data', (block: Buffer) => part.blocks.push(block))
    stream.on('end', () => {
      part.hasEnded = true
    })
    stream.on('error', () => {}) // the parser has it too
  }

  /** Parses bytes, and returns the number of parts that begin in them. */
  async #push(bytes: Buffer): Promise<number> {
    const [before, parser] = [this.#count, this.#parser]
    // After the last boundary the parser takes no more, and nothing counts.
    if (parser.writable) await new Promise<void>((resolve) => parser.write(bytes, () => resolve()))
    await setImmediate() // lets the streams of the parts emit their events
    await this.#work()
    // The block is valid until the next read, so the rest of it is copied.
    for (const part of this.#parts) part.blocks = part.blocks.map((block) => Buffer.from(block))
    return this.#count - before
  }

  /** Deals with what came of the parts, in their order: a blob ends before the next begins. */
  async #work() {
    const parts = this.#parts
    for (let part = parts[0]; part?.headers; part = parts[0]) {
      part.sink ??= createSink(parseFormPart(part.headers, part.number), this.upload, this.#collector)
      const { blocks, hasEnded } = part
      part.blocks = []
      for (const block of blocks) await part.sink.write(block)
      if (!hasEnded) return
      await part.sink.end()
      parts.shift()
    }
    if (parts[0]?.hasEnded)
      throw new AppError('bad-request', `Part ${parts[0].number} of the form has no end of its headers`)
  }
}

function createSink(part: FormField | FormFile, upload: Upload, collector: DocumentCollector): PartSink {
  if (part.kind === 'file') return createFileSink(part, upload, collector)
  const { id, mimetype } = part
  if (id === undefined) return { write: () => undefined, end: async () => {} }
  let text = Buffer.alloc(0)
  return {
    write(bytes) {
      if (text.length <= MAX_ID_BYTES) text = Buffer.concat([text, bytes])
      return undefined
    },
    async end() {
      upload[id] = text.length > MAX_ID_BYTES ? TOO_LONG : readField(text, mimetype)
    },
  }
}

/** Decodes a field. Some programs send an integer as a string of JSON. */
function readField(bytes: Buffer, mimetype = ''): string {
  const text = decodeBytes(bytes, parseHeader(mimetype)?.parameters.get('charset'))
  return /^application\/json\b/i.test(mimetype) ? text.replace(/^"(\d+)"$/, '$1') : text
}

function createFileSink(
  { name, mimetype, isEncoded, sent }: FormFile,
  upload: Upload,
  collector: DocumentCollector,
): PartSink {
  let writer: RecognizedBlobWriter | undefined
  let size = 0
  return {
    write(bytes) {
      if (size === 0) writer = collector.begin()
      size += bytes.length
      return writer?.write(bytes)
    },
    async end() {
      if (size === 0 && name === '') return // so a browser sends a file field where none was chosen
      upload.documents = collector.documents
      const blob: UploadedDocument['blob'] = isEncoded ? 'encoded' : size > 0 ? 'good' : 'no bytes'
      await collector.settle({ name, mimetype, blob, sent }, writer)?.()
    },
  }
}

function describeFormFault({ field, message, isMissing }: DescribedFault): UploadFault {
  if (isMissing && field === 'name') return { field, message: `${message}: a file needs a filename` }
  return { field, message }
}
