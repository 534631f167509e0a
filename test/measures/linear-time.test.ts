// Processor time of parsers of long and hostile texts: linear, where quadratic time would be minutes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText } from '../../src/http/documents/plain-text.ts'
import { unreadablePath } from '../../src/http/listener/request-line.ts'
import { parseSourceJson } from '../../src/providers/json.ts'
import { FetchFailure } from '../../src/providers/provider.ts'
import { boundedDecimal } from '../../src/values/decimal.ts'
import { measureCpuMs } from '../support/stalls.ts'

test('parseJson takes linear time for long bodies', async () => {
  const much = 1024 * 1024
  for (const text of ['"', '\\"', '-', '1', '1 ', '1e', '\\', '"\\\\', ' ', '1.1:', '1,', '[']) {
    for (const before of ['', '"', '1']) {
      const body = `${before}${text.repeat(much / text.length)}x`
      const cpuMs = await measureCpuMs(() => assert.throws(() => parseSourceJson(body), FetchFailure))
      assert.ok(cpuMs < 5000, `${before}${text}… ${cpuMs} ms`) // quadratic time would be minutes
    }
  }
})

test('a path is read fast, whatever is in the packet', async () => {
  const size = 65_536
  const fills = [' ', 'a', 'a ', '\n', 'a:\n', ' a HTTP/', 'http://', '/'].map((one) =>
    one.repeat(size / one.length),
  )
  const took = await measureCpuMs(() => {
    for (const fill of fills) {
      const rawPacket = Buffer.from(fill + fill, 'latin1')
      unreadablePath(Object.assign(new Error(), { rawPacket, bytesParsed: fill.length }))
    }
  })
  assert.ok(took < 1000, `${took} ms`)
})

test('boundedDecimal takes linear time for long texts', async () => {
  const zeros = '0'.repeat(8000)
  const texts = [`1${zeros}1`, `.${zeros}1${zeros}e9`, `${zeros}${zeros}`, `1e${zeros}`, `${zeros}x`]
  const cpuMs = await measureCpuMs(() => {
    for (const text of texts)
      for (let times = 0; times < 100; times += 1) boundedDecimal(text, { whole: 30, fraction: 20 })
  })
  assert.ok(cpuMs < 1000, `${cpuMs} ms`)
})

test('plain text takes time in proportion to its input, even a hostile one', async () => {
  const nasty = [
    '<div>',
    '<b>',
    '</b>',
    '<b></i>',
    '<',
    '</',
    '&',
    '&am',
    '&#x',
    '<!--',
    '<!-',
    '-->',
    '<script>',
    '<script></',
    '<template>',
    '<a b="',
    '<a b=\'"',
    '<a ',
    '<svg>',
    '<textarea>&',
    '<title><',
    '<![CDATA[',
    ']]>',
    ' ',
    '\u00a0x',
    'a',
  ]
  const took = await measureCpuMs(() => {
    for (const piece of nasty) {
      const text = plainText(piece.repeat(200_000))
      assert.ok(text.length <= piece.length * 200_000, piece)
    }
  })
  // Quadratic time would be hours; the bound only separates the two.
  assert.ok(took < 60_000, `${took} ms`)
})
