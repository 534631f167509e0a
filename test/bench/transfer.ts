// Cheapest possible client of uploads and downloads: prepared bytes on a bare socket.

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { CREATE, TOKENS } from '../support/directory.ts'
import { SEND } from '../support/documents/ways.ts'

export const MB = 1e6

const BLOCK = 3 * 1024 * 1024 // whole base64 quanta, so that it can be repeated
const PIECE = 256 * 1024
const bytes: Buffer = randomBytes(BLOCK)
const text: Buffer = Buffer.from(bytes.toString('base64'))
const escaped: Buffer = Buffer.from(text.toString('latin1').replaceAll('/', '\\/'))
const AUTHORIZATION = `Authorization: Bearer ${TOKENS.all}`

const BOUNDARY = 'bench-boundary'
const CLOSE = `\r\n--${BOUNDARY}--\r\n`

/** Ways of an upload: JSON with plain base64, or with the slashes of PHP's json_encode; the body; a form. */
export type Form = 'plain' | 'escaped' | 'raw' | 'multipart'

/** Sends one document of about `bytes` bytes. Returns the duration to the end of the answer, and the document's id. */
export async function upload(
  port: number,
  bytes: number,
  name: string,
  form: Form = 'plain',
): Promise<{ ms: number; id: number }> {
  const pieces = uploadChunks(bytes, name, form)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const { path, type } = uploadTarget(name, form)
  const more = `${AUTHORIZATION}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nConnection: close`
  const head = `POST ${path} HTTP/1.1\r\nHost: bench\r\n${more}\r\n\r\n`
  const started = performance.now()
  const socket = connect(port, '127.0.0.1')
  const answer = readText(socket)
  socket.write(head)
  for (const piece of pieces) {
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
  }
  const response = await answer
  const ms = performance.now() - started
  if (!response.startsWith('HTTP/1.1 200')) throw new Error(response)
  const { created_documents: made } = JSON.parse(response.slice(response.indexOf('\r\n\r\n')))
  return { ms, id: made[0].id }
}

/**
 * Allocates memory for files on the disk of a folder, by writing and removing one. The first use of memory in a virtual
 * machine takes three times as long as a write and would distort results.
 */
export function haveMemoryAtHand(dir: string, bytes: number): void {
  const path = join(dir, 'memory-at-hand')
  const block = Buffer.alloc(MB, 1)
  const file = openSync(path, 'w')
  for (let size = 0; size < bytes; size += block.length) writeSync(file, block)
  closeSync(file)
  rmSync(path)
}

/** Reads all bytes of an answer into one buffer, and returns the duration. */
export function download(port: number, path: string, bytes: number): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    let size = 0
    const take = (length: number) => {
      size += length
      return true
    }
    const onread = { buffer: Buffer.allocUnsafe(PIECE), callback: take }
    const socket = connect({ port, host: '127.0.0.1', onread })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n${AUTHORIZATION}\r\nConnection: close\r\n\r\n`)
    socket.on('error', reject)
    socket.on('close', () => {
      if (size < bytes) reject(new Error(`of ${path} only ${size} bytes came`))
      else resolve(performance.now() - started)
    })
  })
}

export function contentPath(id: number): string {
  return `/api/v1/documents/${id}/content`
}

function uploadTarget(name: string, form: Form): { path: string; type: string } {
  if (form === 'multipart') return { path: SEND, type: `multipart/form-data; boundary=${BOUNDARY}` }
  if (form !== 'raw') return { path: CREATE, type: 'application/json' }
  const query = new URLSearchParams({ company_id: '1', agent_id: '1', owner_id: '1', name })
  return { path: `${SEND}?${query}`, type: 'a/b' }
}

/** Yields the block repeatedly, after a few bytes that make this document unique. */
function uploadChunks(size: number, name: string, form: Form): Buffer[] {
  const own = createHash('sha256').update(`${name} ${process.pid}`).digest('base64url').slice(0, 40)
  const { begin, block, end } = documentParts(name, form)
  const pieces: Buffer[] = [Buffer.from(begin + own.replace(/[-_]/g, 'A'))]
  for (let sentBytes = 0; sentBytes < size; sentBytes += BLOCK) {
    for (let at = 0; at < block.length; at += PIECE) pieces.push(block.subarray(at, at + PIECE))
  }
  pieces.push(Buffer.from(end))
  return pieces
}

function documentParts(name: string, form: Form): { begin: string; block: Buffer; end: string } {
  if (form === 'raw') return { begin: '', block: bytes, end: '' }
  const ids = ['owner_id', 'company_id', 'agent_id']
  if (form === 'multipart') {
    const part = (about: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${about}\r\n`
    const fields = ids.map((id) => `${part(`name="${id}"`)}\r\n1\r\n`).join('')
    const file = `${part(`name="file"; filename="${name}"`)}Content-Type: a/b\r\n\r\n`
    return { begin: fields + file, block: bytes, end: CLOSE }
  }
  const parties = ids.map((id) => `"${id}":1`).join()
  const document = `{"name":${JSON.stringify(name)},"mimetype":"a/b","base64":"`
  return {
    begin: `{${parties},"documents":[${document}`,
    block: form === 'plain' ? text : escaped,
    end: '"}]}',
  }
}

async function readText(socket: Socket): Promise<string> {
  let text = ''
  for await (const piece of socket) text += piece
  return text
}
