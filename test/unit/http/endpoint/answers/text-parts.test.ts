// Text that is generated while it is sent: how much, and when.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { encodeChunks, textParts, wholeOrParts } from '../../../../../src/http/endpoint/answers/text-parts.ts'
import { createInterleaver } from '../../../../../src/runtime/interleave.ts'
import { passTurns } from '../../../turns.ts'

const LINE = `${'x'.repeat(1000)}\n`

function lines(count: number) {
  const progress = { lines: 0 }
  function* make() {
    for (; progress.lines < count; progress.lines += 1) yield LINE
  }
  return { made: progress, parts: textParts(make()) }
}

test('a text of one part is sent whole, a longer one in chunks', () => {
  assert.equal(wholeOrParts(lines(0).parts), '')
  assert.equal(wholeOrParts(lines(20).parts), LINE.repeat(20))
  const all = wholeOrParts(lines(200).parts)
  assert.ok(typeof all === 'object')
  assert.equal([...all].join(''), LINE.repeat(200))
})

for (const gzip of [false, true]) {
  const title = gzip ? 'compressed' : 'as it is'
  test(`${title}, the chunks make up the whole text`, async () => {
    const all = encodeChunks(lines(5000).parts, createInterleaver(), { gzip })
    const bytes = Buffer.concat(await Array.fromAsync(all))
    assert.equal(String(gzip ? gunzipSync(bytes) : bytes), LINE.repeat(5000))
  })

  test(`${title}, no more is generated than requested, and nothing after a disconnect`, async () => {
    const { made: progress, parts } = lines(100_000)
    const random = textParts(randomParts(parts))
    const chunks = encodeChunks(random, createInterleaver(), { gzip })
    await chunks.next()
    const atFirst = progress.lines
    assert.ok(atFirst < 1000, `${atFirst} lines`)
    await isQuiet(progress)
    assert.ok(progress.lines < 1000, `${progress.lines} lines, and nobody asks`)
    await chunks.return()
    const atLast = progress.lines
    await isQuiet(progress)
    assert.equal(progress.lines, atLast)
  })

  test(`${title}, an error of the generator is thrown`, async () => {
    function* broken() {
      yield LINE.repeat(100)
      throw new TypeError('a row is not there')
    }
    await assert.rejects(Array.fromAsync(encodeChunks(broken(), createInterleaver(), { gzip })), TypeError)
  })
}

/** Waits until no line is generated in 50 turns. */
async function isQuiet(progress: { lines: number }): Promise<void> {
  for (let before = -1; before !== progress.lines; ) {
    before = progress.lines
    await passTurns()
  }
}

/** Incompressible text of the length of each part. */
function* randomParts(parts: Iterable<string>): Generator<string, void> {
  let seed = 1
  for (const part of parts) {
    const codes = Array.from(part, () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return 32 + ((seed >>> 8) % 90)
    })
    yield String.fromCharCode(...codes)
  }
}
