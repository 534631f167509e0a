// Text that is made while it is sent: how much of it is made, and when.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { chunksOf, textParts, wholeOrParts } from '../../../src/http/api/text-parts.ts'
import { createTurns } from '../../../src/turns.ts'

const LINE = `${'x'.repeat(1000)}\n`

function lines(count: number) {
  const made = { lines: 0 }
  function* make() {
    for (; made.lines < count; made.lines += 1) yield LINE
  }
  return { made, parts: textParts(make()) }
}

test('a text of one part is whole, a longer one is not', () => {
  assert.equal(wholeOrParts(lines(0).parts), '')
  assert.equal(wholeOrParts(lines(20).parts), LINE.repeat(20))
  const all = wholeOrParts(lines(200).parts)
  assert.ok(typeof all === 'object')
  assert.equal([...all].join(''), LINE.repeat(200))
})

for (const packed of [false, true]) {
  const title = packed ? 'compressed' : 'as it is'
  test(`${title}, the chunks are all of the text`, async () => {
    const all = chunksOf(lines(5000).parts, createTurns(), { packed })
    const bytes = Buffer.concat(await Array.fromAsync(all))
    assert.equal(String(packed ? gunzipSync(bytes) : bytes), LINE.repeat(5000))
  })

  test(`${title}, no more is made than is asked for, and nothing when the client has gone`, async () => {
    const { made, parts } = lines(100_000)
    const random = textParts(randomly(parts))
    const chunks = chunksOf(random, createTurns(), { packed })
    await chunks.next()
    const atFirst = made.lines
    assert.ok(atFirst < 1000, `${atFirst} lines`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.ok(made.lines < 1000, `${made.lines} lines, and nobody asks`)
    await chunks.return()
    const atLast = made.lines
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(made.lines, atLast)
  })

  test(`${title}, what goes wrong while it is made is thrown`, async () => {
    function* broken() {
      yield LINE.repeat(100)
      throw new TypeError('a row is not there')
    }
    await assert.rejects(Array.fromAsync(chunksOf(broken(), createTurns(), { packed })), TypeError)
  })
}

/** Something that cannot be compressed, of the length of each part. */
function* randomly(parts: Iterable<string>): Generator<string, void> {
  let seed = 1
  for (const part of parts) {
    const codes = Array.from(part, () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return 32 + ((seed >>> 8) % 90)
    })
    yield String.fromCharCode(...codes)
  }
}
