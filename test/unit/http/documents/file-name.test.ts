import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFileName } from '../../../../src/http/listings/file-name.ts'

const cases: [string, string][] = [
  ['factura.pdf', 'factura.pdf'],
  ['Factura N.º 7 "é" 日本.pdf', 'Factura N.º 7 "é" 日本.pdf'],
  ['../../etc/passwd', '___.._etc_passwd'],
  ['..\\..\\windows\\a.ini', '___.._windows_a.ini'],
  ['/', '_'],
  ['a/', 'a_'],
  ['.', '_'],
  ['..', '__'],
  ['.bashrc', '_bashrc'],
  [' .bashrc', '__bashrc'],
  ['\u3000...x', '____x'],
  ['a.b.', 'a.b.'],
  ['.tar.gz', '_tar.gz'],
  ['factura\u202efdp.exe', 'factura_fdp.exe'],
  ['\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069', '_________'],
  ['\u2066.bashrc', '_.bashrc'],
  ['فاتورة.pdf', 'فاتورة.pdf'],
]
for (const [name, expected] of cases) {
  test(`${JSON.stringify(name)} is the file name ${JSON.stringify(expected)}`, () => {
    assert.equal(toFileName(name), expected)
  })
}
