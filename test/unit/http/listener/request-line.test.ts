// The path of a request that node:http failed to parse, from the packet and the position of the failure.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { targetPath, unreadablePath } from '../../../../src/http/listener/request-line.ts'

/** The path that is read when node:http fails at the mark. */
function pathAtFailure(marked: string): string {
  const [before = '', after = ''] = marked.split('§')
  const error = Object.assign(new Error(), {
    rawPacket: Buffer.from(before + after, 'latin1'),
    bytesParsed: before.length,
  })
  return unreadablePath(error)
}

const GET = 'GET /api/v1/rates HTTP/1.1\r\nHost: a\r\n\r\n'
const JSON_BODY = '{\r\n  "a": [1, 2],\r\n\r\n  "b": "x y"\r\n}'
const POST = `POST /api/v1/rates HTTP/1.1\r\nContent-Length: ${JSON_BODY.length}\r\n\r\n${JSON_BODY}`

const packets: [what: string, marked: string, path: string][] = [
  ['a method that there is not', 'B§REW /x HTTP/1.1\r\nHost: a\r\n\r\n', '/x'],
  ['a method in lower case', '§get /x HTTP/1.1\r\n\r\n', '/x'],
  ['a method of its own before a header', '§get /x HTTP/1.1\r\nReferer: http://a/y HTTP/1.1\r\n\r\n', '/x'],
  ['an unknown version', 'GET /x HTTP/9.9§\r\n\r\n', '/x'],
  ['an unknown protocol', 'GET /x §FOO/1.1\r\n\r\n', '/x'],
  ['line feeds alone', 'GET /x HTTP/1.1\n§X y: 1\n\n', '/x'],
  ['a query that is none', 'GET /x?a=§\xf1 HTTP/1.1\r\n\r\n', '/x'],
  ['a field name that is none', 'GET /x HTTP/1.1\r\nHost: a\r\nX§ y: 1\r\n\r\n', '/x'],
  ['a length that is none', 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: §zz\r\n\r\n', '/x'],
  ['a field that is too long', `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}§\r\n\r\n`, '/x'],
  ['a query that is too long', `GET /x?${'a'.repeat(20_000)}§`, '/x'],
  ['fields that look like request lines', 'GET /x HTTP/1.1\r\nA: GET /y HTTP/1.1\r\nX§ y\r\n\r\n', '/x'],
  ['a whole URL', 'GET https://a:1/x?y HTTP/1.1\r\nX§ y\r\n\r\n', '/x'],
  ['a URL without a path', 'GET https://a:1 HTTP/1.1\r\nX§ y\r\n\r\n', ''],
  ['empty lines before it', '\r\n\r\n§get /x HTTP/1.1\r\n\r\n', '/x'],
  ['one that was fine before it', `${GET}§get /x HTTP/1.1\r\n\r\n`, '/x'],
  ['one with a body before it', `${POST}§get /x HTTP/1.1\r\nHost: a\r\n\r\n`, '/x'],
  ['one with a body before it, and a bad field', `${POST}GET /x HTTP/1.1\r\nX§ y: 1\r\n\r\n`, '/x'],
  ['nonsense', 'G§ARBAGE\r\n\r\n', ''],
  ['nonsense after one that was fine', `${GET}N§ONSENSE xyz\r\n\r\n`, ''],
  ['a bad field of which the line came before', 'Host: a\r\nX§ y: 1\r\n\r\n', ''],
  ['a line of which a part came before', 'pi/v1/x HTTP/1.1\r\nX§ y: 1\r\n\r\n', ''],
  ['a TLS greeting', '\x16§\x03\x01\x02\x00\x01', ''],
  ['nothing', '§', ''],
]
for (const [what, marked, path] of packets) {
  test(`the path of ${what} is ${path || 'unknown'}`, () => assert.equal(pathAtFailure(marked), path))
}

test('the path is unknown without a packet', () => assert.equal(unreadablePath(new Error('timeout')), ''))

test('a path is read from each form of a request target', () => {
  const targets = {
    '/a?b#c': '/a',
    '*': '*',
    'a:1': 'a:1',
    'http://a/b?c': '/b',
    '': '',
    '/http://a/b': '/http://a/b',
  }
  for (const [target, path] of Object.entries(targets)) assert.equal(targetPath(target), path)
})
