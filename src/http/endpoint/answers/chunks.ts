import type { ServerResponse } from 'node:http'
import type { Chunks } from '../../../store/blobs/chunks.ts'

/**
 * Sends chunks in order; reads the next one after the kernel has the one before.
 * @throws the error of the first chunk: nothing was sent, so it can be answered as an error
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
      if (!(await writeChunk(res, next.value))) return
      next = await chunks.next()
    }
    res.end()
  } catch (error) {
    if (!res.headersSent) throw error
    res.destroy() // an incomplete answer shows the client the failure
  } finally {
    await chunks.return()
  }
}

/** Returns true when the kernel has the bytes; false when the client has disconnected, so that nothing waits forever. */
function writeChunk(res: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.closed || res.destroyed) return resolve(false)
    const onClose = () => resolve(false)
    res.once('close', onClose)
    res.write(bytes, (error) => {
      res.off('close', onClose)
      resolve(!error)
    })
  })
}
