// The manual: its topics are the files of src/manual, and each is printed as it is.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TOPICS } from '../../../src/cli/commands/manual.ts'
import { runCommand } from '../../support/terminal.ts'

const FOLDER = join(import.meta.dirname, '../../../src/manual')
const files = readdirSync(FOLDER)

test('each file of src/manual is a topic, and each topic a file', () => {
  assert.deepEqual(TOPICS.map((topic) => `${topic}.md`).sort(), files.sort())
})

test('without a topic it lists all of them, each with its title', async () => {
  const { code, out, err } = await runCommand(['manual'])
  assert.deepEqual([code, err], [0, ''])
  const lines = out.split('\n').filter((line) => line.startsWith('  '))
  assert.deepEqual(
    lines.map((line) => line.trim().split(/ {2,}/)),
    TOPICS.map((topic) => [topic, titleOf(topic)]),
  )
})

for (const topic of TOPICS) {
  test(`${topic} is printed as it is, begins with its title and fits a screen's width`, async () => {
    const text = readFileSync(join(FOLDER, `${topic}.md`), 'utf8')
    assert.deepEqual(await runCommand(['manual', topic]), { code: 0, out: text, err: '' })
    assert.match(text, /^# .+\n\n\S/)
    assert.ok(text.endsWith('\n') && !text.endsWith('\n\n'))
    assert.deepEqual(
      text.split('\n').filter((line) => line.length > 120),
      [],
    )
  })
}

const meant: [typed: string, hint: string][] = [
  ['backup', '"backup": did you mean backups?'],
  ['Backups', '"Backups": did you mean backups?'],
  ['htps', '"htps": did you mean https?'],
  ['restore', '"restore": did you mean backups?'],
  ['quota', '"quota": did you mean documents?'],
  ['frobnicate', `"frobnicate", but there are: ${TOPICS.join(', ')}`],
]
for (const [typed, hint] of meant) {
  test(`${typed} is no topic: ${hint}`, async () => {
    const { code, out, err } = await runCommand(['manual', typed])
    assert.deepEqual([code, out], [2, ''])
    assert.equal(err.split('\n')[0], `cambista: there is no topic ${hint}`)
  })
}

test('one topic at a time, and its help says so', async () => {
  const two = await runCommand(['manual', 'rates', 'backups'])
  assert.deepEqual([two.code, two.out], [2, ''])
  assert.match(two.err, /unexpected "backups"; usage: cambista manual \[TOPIC\] \[flags\]/)
  const help = await runCommand(['manual', '--help'])
  assert.match(help.out, /^Usage: cambista manual \[TOPIC\] \[flags\]\n/)
})

function titleOf(topic: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(FOLDER, `${topic}.md`), 'utf8'))?.[1] ?? ''
}
