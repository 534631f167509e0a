import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uploadType } from '../../../src/values/upload-types.ts'
import { decodePreview, imageType, previewKind } from '../../../src/web/model/documents/media-types.ts'

test('previewKind depends on the media type, and markup is text', () => {
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
  for (const [type, kind] of Object.entries(expected)) assert.equal(previewKind(type), kind, type)
})

test('imageType detects five formats by their first bytes', () => {
  const head = (text: string) => Buffer.from(text, 'latin1')
  assert.equal(imageType(head('\x89PNG\r\n\x1a\n\0\0')), 'image/png')
  assert.equal(imageType(head('\xff\xd8\xff\xe0')), 'image/jpeg')
  assert.equal(imageType(head('GIF89a')), 'image/gif')
  assert.equal(imageType(head('RIFF\x01\x02\x03\x04WEBPVP8 ')), 'image/webp')
  assert.equal(imageType(head('\0\0\0\x1cftypavif')), 'image/avif')
  for (const text of ['<svg xmlns="', '<!doctype html>', '%PDF-1.7', '', 'GIF90a', '\0\0\0\x1cftypmp42'])
    assert.equal(imageType(head(text)), undefined, text)
})

test('decodePreview drops half a character at a cut, and decodes Windows-1252', () => {
  const bytes = new TextEncoder().encode('añ€😀')
  const texts = [...bytes.keys()].map((end) => decodePreview(bytes.subarray(0, end), true))
  assert.deepEqual(texts, ['', 'a', 'a', 'añ', 'añ', 'añ', 'añ€', 'añ€', 'añ€', 'añ€'])
  assert.equal(decodePreview(bytes, false), 'añ€😀')
  assert.equal(decodePreview(Uint8Array.of(0x61, 0xf1, 0x62), true), 'añb')
  for (const text of ['San José', 'Perú', 'Ñandú'])
    assert.equal(decodePreview(Buffer.from(text, 'latin1'), false), text)
})

test('uploadType guesses by extension', () => {
  assert.equal(uploadType('notas.MD', ''), 'text/markdown')
  assert.equal(uploadType('a.pdf', 'application/pdf'), 'application/pdf')
  for (const name of ['sin-final', 'a.constructor', 'a.pdf ', 'pdf', 'a.pdf/b', ''])
    assert.equal(uploadType(name, ''), 'application/octet-stream', name)
})
