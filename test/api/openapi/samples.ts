// Runs the curl commands of the description as a reader does, word for word.

import { execFile } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a command in a shell with these variables. Its .curlrc has curl write the headers to a file. */
export async function runSample(source: string, variables: Readonly<Record<string, string>>) {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'cambista-sample-'))
  const file = join(folder.path, 'headers')
  writeFileSync(join(folder.path, '.curlrc'), `dump-header = "${file}"\n`)
  const env = { PATH: process.env.PATH, CURL_HOME: folder.path, ...variables }
  const { stdout } = await run('sh', ['-c', source], { env, maxBuffer: 64 * 2 ** 20 })
  const [first = '', ...lines] = readFileSync(file, 'utf8').trim().split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  return { status: Number(first.split(' ')[1]), text: stdout, headers }
}
