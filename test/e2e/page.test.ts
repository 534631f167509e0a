// The page travels inside the executable: every file of it, those that are fetched later too.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory, serve } from './executable.ts'

test('the executable serves the page and each file that it names', async (t) => {
  const { url, ended } = await serve(t, join(directory(t), 'data'))
  const page = await fetch(`${url}/`)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  const names = new Set(
    [...(await page.text()).matchAll(/"page\/([\w-]+\.\w+)"/g)].map(([, name = '']) => name),
  )
  assert.equal(names.size, 6)
  for (const name of names) {
    const file = await fetch(`${url}/page/${name}`)
    assert.equal(file.status, 200, name)
    for (const [, later = ''] of (await file.text()).matchAll(/["']\.\/([\w-]+-[A-Z0-9]{8}\.js)["']/g))
      names.add(later)
  }
  for (const part of ['chart', 'documents-screen', 'missing-days', 'views', 'workbook']) {
    assert.ok(
      [...names].some((name) => name.startsWith(part)),
      part,
    )
  }
  assert.equal((await ended('SIGTERM')).code, 0)
})
