// Styles of views are fetched one after the other. The last sheet would win over a selector of another.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const FOLDER = join(import.meta.dirname, '../../../src/web/styles')
const OVERRIDES = ['print.css'] // changes selectors of the others for paper

test('no selector is in two style sheets', () => {
  const places = new Map<string, Set<string>>()
  for (const file of readdirSync(FOLDER)) {
    if (OVERRIDES.includes(file)) continue
    for (const selector of selectors(readFileSync(join(FOLDER, file), 'utf8')))
      places.getOrInsertComputed(selector, () => new Set<string>()).add(file)
  }
  assert.ok(places.size > 300, `${places.size} selectors`)
  const twice = [...places].filter(([, files]) => files.size > 1)
  assert.deepEqual(
    twice.map(([selector, files]) => `${selector}: ${[...files].join(', ')}`),
    [],
  )
})

test('selectors are read off a style sheet', () => {
  const css = '/* x */ .a, .b > p { color: red } @media print { .a:is(.c, .d) { top: 0 } }'
  assert.deepEqual(selectors(css), ['.a', '.b > p', '.a:is(.c, .d)'])
})

/** Selectors of all rules; lists are split at their commas, those within parentheses aside. */
function selectors(css: string): string[] {
  const rules = css.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{};]+)\{/g)
  return [...rules]
    .map(([, head = '']) => head.replace(/\s+/g, ' ').trim())
    .filter((head) => !head.startsWith('@'))
    .flatMap((head) => head.split(/,(?![^(]*\))/).map((one) => one.trim()))
}
