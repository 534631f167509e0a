import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badgeOf, imageTypeOf, showingOf, textIn, typeName, typeOf } from '../../src/web/words/contents.ts'

test('what is shown goes by the type, and markup is text', () => {
  const expected = {
    'text/html': 'text',
    'text/markdown; charset=utf-8': 'text',
    'image/svg+xml': 'text',
    'application/xml': 'text',
    'application/ld+json': 'text',
    'text/csv': 'text',
    'IMAGE/PNG': 'image',
    'image/avif': 'image',
    'image/tiff': 'nothing',
    'application/pdf': 'pdf',
    'application/zip': 'nothing',
    'application/octet-stream': 'nothing',
  }
  for (const [type, showing] of Object.entries(expected)) assert.equal(showingOf(type), showing, type)
})

test('an image is one by its first bytes', () => {
  const head = (text: string) => Buffer.from(text, 'latin1')
  assert.equal(imageTypeOf(head('\x89PNG\r\n\x1a\n\0\0')), 'image/png')
  assert.equal(imageTypeOf(head('\xff\xd8\xff\xe0')), 'image/jpeg')
  assert.equal(imageTypeOf(head('GIF89a')), 'image/gif')
  assert.equal(imageTypeOf(head('RIFF\x01\x02\x03\x04WEBPVP8 ')), 'image/webp')
  assert.equal(imageTypeOf(head('\0\0\0\x1cftypavif')), 'image/avif')
  for (const text of ['<svg xmlns="', '<!doctype html>', '%PDF-1.7', '', 'GIF90a', '\0\0\0\x1cftypmp42'])
    assert.equal(imageTypeOf(head(text)), undefined, text)
})

test('a text that was cut inside a character is shown without that one', () => {
  const bytes = new TextEncoder().encode('añ€😀')
  const shown = [...bytes.keys()].map((end) => textIn(bytes.subarray(0, end)))
  assert.deepEqual(shown, ['', 'a', 'a', 'añ', 'añ', 'añ', 'añ€', 'añ€', 'añ€', 'añ€'])
  assert.equal(textIn(bytes), 'añ€😀')
  assert.equal(textIn(Uint8Array.of(0x61, 0xf1, 0x62)), 'añb')
})

test('a file that is sent has a type, and a document a few letters for its own', () => {
  assert.equal(typeOf('notas.MD', ''), 'text/markdown')
  assert.equal(typeOf('a.pdf', 'application/pdf'), 'application/pdf')
  assert.equal(typeOf('sin-final', ''), 'application/octet-stream')
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  assert.deepEqual([word, 'application/vnd.ms-excel', 'Text/CSV; header'].map(typeName), [
    'Word',
    'Excel',
    'text/csv',
  ])
  assert.deepEqual(
    [
      ['a.txt', 'text/plain; charset=utf-8'],
      ['a.exe', 'application/pdf'],
      ['a.docx', word],
      ['sin-final', word],
      ['x.svg', 'image/svg+xml'],
    ].map(([name = '', type = '']) => badgeOf(name, type)),
    ['TXT', 'PDF', 'DOCX', 'DOCU', 'SVG'],
  )
})
