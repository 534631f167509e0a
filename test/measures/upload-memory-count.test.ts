// The counted memory of an upload is its real memory (decisions#document), measured in a separate process.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

// Flags of the executable.
const V8_FLAGS = ['--min-semi-space-size=2', '--max-semi-space-size=8']
const PROGRAM_BYTES = 40 * 1024 ** 2 // memory of the process itself, whatever it reads
const TRIES = 3 // on a busy machine the collector is late, and garbage adds up

type Measured = Record<'count' | 'held' | 'grown' | 'rssGrown' | 'left', number>

test('400,000 documents use as much memory as is counted', async (t) => {
  let measured = await measure(t)
  for (let at = 1; at < TRIES && measured.rssGrown >= measured.held + PROGRAM_BYTES; at += 1)
    measured = await measure(t)
  const { held, rssGrown } = measured
  assert.ok(rssGrown < held + PROGRAM_BYTES, `the process grew by ${rssGrown}, ${held} counted`)
})

/** Measures one upload in a process of its own. */
async function measure(t: TestContext): Promise<Measured> {
  const program = join(import.meta.dirname, '../support/documents/measure-upload.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...V8_FLAGS, program])
  const measured = JSON.parse(stdout) as Measured
  const { count, held, grown, rssGrown, left } = measured
  t.diagnostic(`${count} documents: ${held} bytes counted, ${grown} found, ${rssGrown} more in the process`)
  assert.ok(held < count * 100, `${held / count} bytes each`)
  assert.ok(grown > held * 0.75 && grown < held * 1.1, `${grown} bytes found, ${held} counted`)
  assert.equal(left, 0)
  return measured
}
