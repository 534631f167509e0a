// The man page has each command and option of the tables that `--help` prints.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCommands } from '../../../src/cli/commands.ts'
import { helpTexts } from '../../../src/cli/help/texts.ts'
import { OPTIONS } from '../../../src/cli/options/options.ts'

const MODULE = new URL('../../../src/packaging/man-page.mjs', import.meta.url).href
const { manPage }: { manPage(parts: { version: string; epoch: number }): Promise<string> } = await import(
  MODULE
)
const PAGE = await manPage({ version: '1.2.3', epoch: Date.UTC(2026, 0, 31) / 1000 })
const LINES = new Set(PAGE.split('\n'))
const roff = (text: string) => text.replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('`', '\\(ga')

test('the man page names version and date in its head', () => {
  assert.equal(PAGE.split('\n')[0], '.TH CAMBISTA 1 "2026-01-31" "cambista 1.2.3" "User Commands"')
})

test('the man page has each command with its summary', async () => {
  const texts = helpTexts('en')
  for (const { name } of await loadCommands()) {
    const entry = [...LINES].some((line) =>
      new RegExp(`^\\\\fBcambista ${roff(name).replaceAll('\\', '\\\\')}\\b`).test(line),
    )
    assert.ok(entry, name)
    assert.ok(LINES.has(roff(texts.command(name).summary)), name)
  }
})

test('the man page has each option of a command, with its text', async () => {
  const texts = helpTexts('en')
  const names = new Set((await loadCommands()).flatMap(({ options }) => options))
  assert.deepEqual([...new Set(Object.keys(OPTIONS)).difference(names)], [])
  for (const command of await loadCommands()) {
    for (const name of command.options) {
      const entry = [...LINES].some((line) =>
        new RegExp(`^\\\\fB\\\\-\\\\-${roff(name).replaceAll('\\', '\\\\')}( .*)?\\\\fR$`).test(line),
      )
      assert.ok(entry, name)
      const text = roff(texts.option(name, command.name))
      assert.ok(
        [...LINES].some((line) => line.startsWith(text)),
        `${command.name} --${name}`,
      )
    }
  }
})

test('the man page has no line that roff reads as a request by accident', () => {
  const requests = /^\.(TH|SH|SS|TP|PP|RS|RE|EX|EE|B|I)( |$)/
  const wrong = PAGE.split('\n').filter((line) => /^[.']/.test(line) && !requests.test(line))
  assert.deepEqual(wrong, [])
})
