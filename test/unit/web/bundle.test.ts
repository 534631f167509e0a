// Bundle of the page: size of the first screen, reproducible bytes, no dangerous code.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { temporaryDirectory } from '../../support/temporary.ts'

const BUNDLER = join(import.meta.dirname, '../../../src/web/bundle.mjs')
const SHELL_BYTES = 61_440 // on the wire, with headers
const HEADER_BYTES = 420

const { bundlePage }: { bundlePage(folder: string): Promise<string[]> } = await import(BUNDLER)

function readFiles(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
}

test(`the shell with the chart has at most ${SHELL_BYTES} bytes`, async (t) => {
  const folder = temporaryDirectory(t)
  await bundlePage(folder)
  const shell = [...readFiles(folder)].filter(([name]) => /^(app|boot|chart|chunk|page|style)\b/.test(name))
  assert.ok(shell.length >= 5)
  const bytes = shell.reduce((sum, [, { length }]) => sum + length + HEADER_BYTES, 0)
  assert.ok(bytes <= SHELL_BYTES, `${bytes} bytes in ${shell.length} files`)
})

test('bundlePage writes the same bytes into each folder', async (t) => {
  const [first, second] = [temporaryDirectory(t), temporaryDirectory(t)]
  await bundlePage(first)
  await bundlePage(second)
  assert.deepEqual(readFiles(first), readFiles(second))
})

test('the bundle writes no markup, evaluates no text and has no URL of another host', async (t) => {
  const folder = temporaryDirectory(t)
  const inputs = await bundlePage(folder)
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
    const foreign = hosts.filter((host) => !/www\.w3\.org$|schemas\.openxmlformats\.org$/.test(host))
    assert.deepEqual(foreign, [], name)
  }
})
