// An upload and a download of 100 MB through the program, over HTTP on this machine.
// Upload: from its first byte to the 200; it is read, checked, decoded, hashed, written, flushed and recorded. Its
// peer is a plain script that decodes, hashes, writes and flushes as many bytes of its own memory (plain-upload.ts).
// Download: to the last byte, beside a plain node:http server that pipes the same file (plain-server.ts).

import { rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Figure, median } from './figure.ts'
import { runToEnd, script, startProgram, startServer } from './process.ts'
import { contentPath, download, type Form, haveMemoryAtHand, MB, upload } from './transfer.ts'

const ROUNDS = 7
const SIZE = 100 * MB

/** `dataDir` has the directory of companies and tokens of test/support; `dir` is on the same disk. */
export async function measureDocuments(dataDir: string, dir: string): Promise<Figure[]> {
  const plainFile = join(dir, 'plain-upload')
  const server = await startProgram(dataDir)
  const times: Record<Form | 'script' | 'rawScript', number[]> = {
    plain: [],
    escaped: [],
    raw: [],
    multipart: [],
    script: [],
    rawScript: [],
  }
  const ids: number[] = []
  const send = async (form: Form, round: number) => {
    haveMemoryAtHand(dir, 3 * SIZE)
    const transfer = await upload(server.port, SIZE, `${form} ${round}`, form)
    ids.push(transfer.id)
    times[form].push(transfer.ms)
  }
  for (let round = 0; round < ROUNDS; round++) {
    times.rawScript.push(await plainUpload(plainFile, 'raw'))
    await send('raw', round)
    await send('multipart', round)
    times.script.push(await plainUpload(plainFile))
    await send('plain', round)
    await send('escaped', round)
  }

  const plain = await startServer((port) => script('plain-server.ts', port, plainFile))
  const bytes = statSync(plainFile).size
  const downloads = { ours: [] as number[], first: [] as number[], plain: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    downloads.plain.push(await download(plain.port, '/file', bytes))
    const path = contentPath(ids[round] ?? 0)
    downloads.first.push(await download(server.port, path, SIZE))
    downloads.ours.push(await download(server.port, path, SIZE))
  }
  await Promise.all([server.stop(), plain.stop()])
  return [
    rowOfTimes('upload of 100 MB (limit: plain script)', times.plain, times.script, {
      atLeast: 0.5,
      aim: 0.8,
    }),
    rowOfTimes('the same with `\\/` for each slash', times.escaped, times.script, undefined),
    rowOfTimes('the same as the body (limit: plain script)', times.raw, times.script, { atLeast: 0.8 }),
    rowOfTimes('the same in a form (limit: plain script)', times.multipart, times.script, { atLeast: 0.7 }),
    rowOfTimes('as the body (limit: script without base64)', times.raw, times.rawScript, undefined),
    rowOfTimes('in a form (limit: script without base64)', times.multipart, times.rawScript, undefined),
    rowOfTimes('download of it (limit: plain server)', downloads.ours, downloads.plain, { atLeast: 0.7 }),
    rowOfTimes('the first of a content, which is hashed', downloads.first, downloads.plain, undefined),
  ]
}

async function plainUpload(file: string, form = 'base64'): Promise<number> {
  rmSync(file, { force: true }) // overwriting a large file doubles the time
  haveMemoryAtHand(dirname(file), 3 * SIZE)
  return Number(await runToEnd(script('plain-upload.ts', file, String(SIZE), form)))
}

function rowOfTimes(work: string, ours: number[], limit: number[], must: Figure['must']): Figure {
  const rate = (times: number[]) => `${(SIZE / 1e3 / median(times)).toFixed(0)} MB/s`
  const measured = median(limit.map((ms, round) => ms / (ours[round] ?? 0)))
  return { work, ours: rate(ours), limit: rate(limit), measured, unit: '', must }
}
