// What a browser is sent before it shows the first screen, and that it is the same whenever it is made.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { temporaryDirectory } from '../support/temporary.ts'

const BUNDLER = join(import.meta.dirname, '../../src/web/bundle.mjs')
const SHELL_BYTES = 61_440 // on the wire, the headers of its files with it
const HEADER_BYTES = 420

const { bundlePage }: { bundlePage(folder: string): Promise<string[]> } = await import(BUNDLER)

function filesIn(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
}

test('the shell, its chart with it, is small', async (t) => {
  const folder = temporaryDirectory(t)
  await bundlePage(folder)
  const shell = [...filesIn(folder)].filter(([name]) => /^(app|boot|chart|chunk|page|style)\b/.test(name))
  assert.ok(shell.length >= 5)
  const bytes = shell.reduce((sum, [, { length }]) => sum + length + HEADER_BYTES, 0)
  assert.ok(bytes <= SHELL_BYTES, `${bytes} bytes in ${shell.length} files`)
})

test('the same sources make the same bytes, wherever they are made', async (t) => {
  const [first, second] = [temporaryDirectory(t), temporaryDirectory(t)]
  await bundlePage(first)
  await bundlePage(second)
  assert.deepEqual(filesIn(first), filesIn(second))
})

test('nothing in it writes markup, evaluates text or asks another host', async (t) => {
  const folder = temporaryDirectory(t)
  const inputs = await bundlePage(folder)
  const own = inputs.filter((path) => path.startsWith('src/web/')).map((path) => readFileSync(path, 'utf8'))
  assert.ok(own.length > 30)
  for (const text of own)
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|style=/,
    )
  for (const [name, packed] of filesIn(folder)) {
    if (name.startsWith('reference-')) continue // Scalar's: test/page/docs.test.ts sees that it asks no other host
    const hosts =
      gunzipSync(packed)
        .toString()
        .match(/https?:\/\/[\w.-]+/g) ?? []
    const foreign = hosts.filter((host) => !/www\.w3\.org$|schemas\.openxmlformats\.org$/.test(host))
    assert.deepEqual(foreign, [], name)
  }
})
