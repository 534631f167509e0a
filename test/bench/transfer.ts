// A client of uploads and downloads that costs as little as one can: bytes that are there already, on a bare socket.

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { CREATE, TOKENS } from '../support/directory.ts'
import { SEND } from '../support/documents/ways.ts'

export const MB = 1e6

const BLOCK = 3 * 1024 * 1024 // of whole base64 quanta, so that it can be sent again and again
const PIECE = 256 * 1024
const bytes: Buffer = randomBytes(BLOCK)
const text: Buffer = Buffer.from(bytes.toString('base64'))
const escaped: Buffer = Buffer.from(text.toString('latin1').replaceAll('/', '\\/'))
const AUTHORIZATION = `Authorization: Bearer ${TOKENS.all}`

const BOUNDARY = 'bench-boundary'
const CLOSE = `\r\n--${BOUNDARY}--\r\n`

/** In JSON, whose base64 is as it is, or with the slashes of PHP's json_encode; or without: as the body, or in a form. */
export type Form = 'plain' | 'escaped' | 'raw' | 'multipart'

/** Sends one document of about so many bytes; how long it took to the end of the answer, and the document's id. */
export async function upload(
  port: number,
  bytes: number,
  name: string,
  form: Form = 'plain',
): Promise<{ ms: number; id: number }> {
  const pieces = chunksOf(bytes, name, form)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const { path, type } = targetOf(name, form)
  const more = `${AUTHORIZATION}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nConnection: close`
  const head = `POST ${path} HTTP/1.1\r\nHost: bench\r\n${more}\r\n\r\n`
  const started = performance.now()
  const socket = connect(port, '127.0.0.1')
  const answer = textOf(socket)
  socket.write(head)
  for (const piece of pieces) {
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
  }
  const said = await answer
  const ms = performance.now() - started
  if (!said.startsWith('HTTP/1.1 200')) throw new Error(said)
  const { created_documents: made } = JSON.parse(said.slice(said.indexOf('\r\n\r\n')))
  return { ms, id: made[0].id }
}

/**
 * Makes memory for so many bytes of files on the disk of a folder, by removing one: a virtual machine first has to be given
 * what it never had, which takes three times as long as to write to it, and would be what is measured.
 */
export function haveMemoryAtHand(dir: string, bytes: number): void {
  const path = join(dir, 'memory-at-hand')
  const block = Buffer.alloc(MB, 1)
  const file = openSync(path, 'w')
  for (let size = 0; size < bytes; size += block.length) writeSync(file, block)
  closeSync(file)
  rmSync(path)
}

/** Takes all bytes of an answer into one and the same buffer; how long it took. */
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

function targetOf(name: string, form: Form): { path: string; type: string } {
  if (form === 'multipart') return { path: SEND, type: `multipart/form-data; boundary=${BOUNDARY}` }
  if (form !== 'raw') return { path: CREATE, type: 'application/json' }
  const query = new URLSearchParams({ company_id: '1', agent_id: '1', owner_id: '1', name })
  return { path: `${SEND}?${query}`, type: 'a/b' }
}

/** The block again and again, after a few bytes that make this document another one than every other. */
function chunksOf(size: number, name: string, form: Form): Buffer[] {
  const own = createHash('sha256').update(`${name} ${process.pid}`).digest('base64url').slice(0, 40)
  const { begin, block, end } = partsOf(name, form)
  const pieces: Buffer[] = [Buffer.from(begin + own.replace(/[-_]/g, 'A'))]
  for (let sent = 0; sent < size; sent += BLOCK) {
    for (let at = 0; at < block.length; at += PIECE) pieces.push(block.subarray(at, at + PIECE))
  }
  pieces.push(Buffer.from(end))
  return pieces
}

function partsOf(name: string, form: Form): { begin: string; block: Buffer; end: string } {
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

async function textOf(socket: Socket): Promise<string> {
  let said = ''
  for await (const piece of socket) said += piece
  return said
}
