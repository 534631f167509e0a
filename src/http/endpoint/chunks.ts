import type { ServerResponse } from 'node:http'
import type { Chunks } from '../../store/blobs/chunks.ts'

/**
 * Sends chunks, one after the other: each is out of this process, or the client gone, before the next is asked for.
 * @throws what the first of them throws: until then nothing was sent, and an error can be answered as one
 */
export async function sendChunks(
  res: ServerResponse,
  chunks: Chunks,
  status: number,
  headers: Record<string, string>,
): Promise<void> {
  try {
    let next = await chunks.next()
    res.writeHead(status, headers)
    while (!next.done) {
      if (!(await written(res, next.value))) return
      next = await chunks.next()
    }
    res.end()
  } catch (error) {
    if (!res.headersSent) throw error
    res.destroy() // the client is told by an answer that ends early
  } finally {
    await chunks.return()
  }
}

/** Whether the bytes went to the kernel; false when the client is gone, so that nothing waits for it without end. */
function written(res: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.closed || res.destroyed) return resolve(false)
    const gone = () => resolve(false)
    res.once('close', gone)
    res.write(bytes, (error) => {
      res.off('close', gone)
      resolve(!error)
    })
  })
}
