// Bundle of the page: size of the first screen, reproducible bytes, no dangerous code.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeBundle } from '../../support/bundle-page.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

// On the wire, with headers.
const SHELL_BYTES = 51_200
const FIRST_SCREEN_BYTES = 73_728
const VIEW_BYTES = 14_336
const HEADER_BYTES = 420

function readFiles(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
}

test(`the shell has at most ${SHELL_BYTES} bytes, and ${FIRST_SCREEN_BYTES} with the chart`, async (t) => {
  const folder = temporaryDirectory(t)
  await writeBundle(folder)
  const files = [...readFiles(folder)]
  const html = gunzipSync(readFileSync(join(folder, 'page.html'))).toString()
  const isOfShell = (name: string) =>
    name === 'page.html' || (/\.(js|css)$/.test(name) && html.includes(`="page/${name}"`))
  const shell = files.filter(([name]) => isOfShell(name) && !name.startsWith('views-'))
  const chart = files.filter(([name]) => name.startsWith('chart-'))
  assert.equal(shell.length, 4, 'HTML, styles, and two scripts')
  assert.equal(chart.length, 1)
  const size = (some: typeof files) => some.reduce((sum, [, { length }]) => sum + length + HEADER_BYTES, 0)
  assert.ok(size(shell) <= SHELL_BYTES, `${size(shell)} bytes in ${shell.length} files`)
  assert.ok(size([...shell, ...chart]) <= FIRST_SCREEN_BYTES, `${size(chart)} bytes of the chart`)
})

test(`each other script has at most ${VIEW_BYTES} bytes`, async (t) => {
  const folder = temporaryDirectory(t)
  await writeBundle(folder)
  const html = gunzipSync(readFileSync(join(folder, 'page.html'))).toString()
  const others = [...readFiles(folder)].filter(
    ([name]) =>
      /\.(js|css)$/.test(name) &&
      !/^(chart|docs|reference)-/.test(name) &&
      !html.includes(`src="page/${name}"`),
  )
  assert.ok(others.length >= 6)
  for (const [name, { length }] of others) assert.ok(length <= VIEW_BYTES, `${name} has ${length} bytes`)
})

test('bundlePage writes the same bytes into each folder', async (t) => {
  const [first, second] = [temporaryDirectory(t), temporaryDirectory(t)]
  await writeBundle(first)
  await writeBundle(second)
  assert.deepEqual(readFiles(first), readFiles(second))
})

test('the bundle writes no markup, evaluates no text and has no URL of another host', async (t) => {
  const folder = temporaryDirectory(t)
  const inputs = await writeBundle(folder)
  const own = inputs.filter((path) => path.startsWith('src/web/')).map((path) => readFileSync(path, 'utf8'))
  assert.ok(own.length > 30)
  for (const text of own)
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|style=/,
    )
  for (const [name, packed] of readFiles(folder)) {
    if (name.startsWith('reference-')) continue // test/web/docs.test.ts checks the hosts of Scalar
    const hosts =
      gunzipSync(packed)
        .toString()
        .match(/https?:\/\/[\w.-]+/g) ?? []
    // The guides have the address of a server on the machine of the reader.
    const allowed = /www\.w3\.org$|schemas\.openxmlformats\.org$|^http:\/\/127\.0\.0\.1$/
    const foreign = hosts.filter((host) => !allowed.test(host))
    assert.deepEqual(foreign, [], name)
  }
})
