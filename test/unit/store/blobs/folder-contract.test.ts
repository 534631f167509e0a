import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { blobPath } from '../../../../src/store/blobs/commit.ts'
import { openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { testBlobs } from '../../../contract/blobs.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

testBlobs('a folder', async (t) => {
  const dataDir = temporaryDirectory(t)
  const dir = join(dataDir, 'blobs')
  const db = temporaryDatabase(t, dataDir)
  return {
    blobs: await openBlobFolder(dir),
    db,
    reopen: () => openBlobFolder(dir),
    async damage(sha256) {
      const bytes = await readFile(blobPath(dir, sha256))
      bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
      await writeFile(blobPath(dir, sha256), bytes)
    },
    cut: async (sha256) => truncate(blobPath(dir, sha256), 9),
    unfinished: () => readdir(join(dir, 'tmp')),
  }
})
