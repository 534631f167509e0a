// A client of uploads and downloads that costs as little as one can: bytes that are there already, on a bare socket.

import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { CREATE, TOKENS } from '../support/directory.ts'

export const MB = 1e6

const BLOCK = 3 * 1024 * 1024 // of whole base64 quanta, so that it can be sent again and again
const PIECE = 256 * 1024
const text = Buffer.from(randomBytes(BLOCK).toString('base64'))
const escaped = Buffer.from(text.toString('latin1').replaceAll('/', '\\/'))
const AUTHORIZATION = `Authorization: Bearer ${TOKENS.all}`

/** How the base64 is written: as it is, or with the slashes of PHP's json_encode. */
export type Form = 'plain' | 'escaped'

/** Sends one document of about so many bytes; how long it took to the end of the answer, and the document's id. */
export async function upload(
  port: number,
  bytes: number,
  name: string,
  form: Form = 'plain',
): Promise<{ ms: number; id: number }> {
  const pieces = chunksOf(bytes, name, form)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const head = `POST ${CREATE} HTTP/1.1\r\nHost: bench\r\n${AUTHORIZATION}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`
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

/** The block again and again, after a few bytes that make this document another one than every other. */
function chunksOf(bytes: number, name: string, form: Form): Buffer[] {
  const own = createHash('sha256').update(`${name} ${process.pid}`).digest('base64url').slice(0, 40)
  const parties = '"owner_id":1,"company_id":1,"agent_id":1'
  const document = `{"name":${JSON.stringify(name)},"mimetype":"a/b","base64":"${own.replace(/[-_]/g, 'A')}`
  const pieces = [Buffer.from(`{${parties},"documents":[${document}`)]
  const block = form === 'plain' ? text : escaped
  for (let sent = 0; sent < bytes; sent += BLOCK) {
    for (let at = 0; at < block.length; at += PIECE) pieces.push(block.subarray(at, at + PIECE))
  }
  pieces.push(Buffer.from('"}]}'))
  return pieces
}

async function textOf(socket: Socket): Promise<string> {
  let said = ''
  for await (const piece of socket) said += piece
  return said
}
