import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorDetail } from '../../../src/web/api/request.ts'
import { safeFileName, visibleText } from '../../../src/web/model/visible.ts'

const CONTROLS = [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]

test('visibleText shows each bidirectional control character as its code', () => {
  for (const code of CONTROLS) {
    const control = String.fromCharCode(code)
    const visible = `⟨U+${code.toString(16).toUpperCase()}⟩`
    assert.equal(visibleText(`a${control}gnp.exe${control}`), `a${visible}gnp.exe${visible}`)
    assert.equal(safeFileName(`a${control}gnp.exe`), 'a_gnp.exe')
  }
})

test('visibleText does not change other text', () => {
  for (const text of ['Año ñandú.pdf', 'חשבון.pdf', 'a\u200fb', '<img onerror=1>', '\u2065\u206a\u2029'])
    assert.equal(visibleText(text), text)
})

test('errorDetail replaces control characters of quoted names', () => {
  assert.equal(errorDetail('{"detail":"no agent \u202egnp"}'), 'no agent ⟨U+202E⟩gnp')
})
