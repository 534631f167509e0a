// `manual`: its topics are the files of src/manual, printed unchanged.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TOPICS } from '../../../../src/cli/commands/manual.ts'
import { ROUTES } from '../../../../src/http/routes.ts'
import { runCommand } from '../../../support/terminal.ts'

const FOLDER = join(import.meta.dirname, '../../../../src/manual')
const LANGUAGES: { language: string; folder: string; env: Record<string, string> }[] = [
  { language: 'English', folder: FOLDER, env: {} },
  { language: 'Spanish', folder: join(FOLDER, 'es'), env: { LANG: 'es_CR.UTF-8' } },
]

test('each file of src/manual is a topic, and each topic has a file', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.md'))
  assert.deepEqual(TOPICS.map((topic) => `${topic}.md`).sort(), [...files, 'leame.md'].sort())
})

for (const { language, folder, env } of LANGUAGES) {
  test(`\`manual\` lists all topics with their titles in ${language}`, async () => {
    const { code, out, err } = await runCommand(['manual'], env)
    assert.deepEqual([code, err], [0, ''])
    const lines = out.split('\n').filter((line) => line.startsWith('  '))
    assert.deepEqual(
      lines.map((line) => line.trim().split(/ {2,}/)),
      TOPICS.map((topic) => [topic, readTitle(readTopic(topic, folder))]),
    )
  })

  for (const topic of TOPICS) {
    test(`\`manual ${topic}\` prints the file in ${language}, with a title and lines of at most 120 characters`, async () => {
      const text = readTopic(topic, folder)
      assert.deepEqual(await runCommand(['manual', topic], env), { code: 0, out: text, err: '' })
      assert.match(text, /^# .+\n\n\S/)
      assert.ok(text.endsWith('\n') && !text.endsWith('\n\n'))
      assert.deepEqual(
        text.split('\n').filter((line) => line.length > 120),
        [],
      )
    })
  }
}

test('the shell blocks of a topic set the address and the secret before they read them', () => {
  for (const topic of TOPICS) {
    const text = readTopic(topic, FOLDER)
    const shell = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code).join('')
    for (const { 1: name, index } of shell.matchAll(/\$(url|api|key|token)\b/gi)) {
      assert.match(shell.slice(0, index), new RegExp(`^${name}=`, 'm'), `${topic}: $${name}`)
    }
  }
})

test('`manual api` names each answer about rates that is CSV and NDJSON too', () => {
  const [sentence = ''] = /^`[^.]* are CSV and NDJSON too/m.exec(readTopic('api', FOLDER)) ?? []
  const paths = [...sentence.matchAll(/`(\/\w+)`/g)].map(([, path]) => path)
  const tables = Object.entries(ROUTES).flatMap(([route, [permission]]) =>
    permission.endsWith('key') ? (/^GET \/api\/v1.*(\/\w+)\.csv$/.exec(route)?.[1] ?? []) : [],
  )
  assert.deepEqual(paths.sort(), [...new Set(tables)].sort())
})

const topicHints: [typed: string, hint: string][] = [
  ['backup', '"backup": did you mean backups?'],
  ['Backups', '"Backups": did you mean backups?'],
  ['htps', '"htps": did you mean https?'],
  ['restore', '"restore": did you mean backups?'],
  ['quota', '"quota": did you mean documents?'],
  ['frobnicate', `"frobnicate", but there are: ${TOPICS.join(', ')}`],
]
for (const [typed, hint] of topicHints) {
  test(`the unknown topic ${typed} has the hint ${hint}`, async () => {
    const { code, out, err } = await runCommand(['manual', typed])
    assert.deepEqual([code, out], [2, ''])
    assert.equal(err.split('\n')[0], `cambista: there is no topic ${hint}`)
  })
}

test('`manual` accepts one topic, as its help shows', async () => {
  const two = await runCommand(['manual', 'rates', 'backups'])
  assert.deepEqual([two.code, two.out], [2, ''])
  assert.match(two.err, /unexpected "backups"; usage: cambista manual \[TOPIC\] \[flags\]/)
  const help = await runCommand(['manual', '--help'])
  assert.match(help.out, /^Usage: cambista manual \[TOPIC\] \[flags\]\n/)
})

function readTopic(topic: string, folder: string): string {
  return readFileSync(join(topic === 'leame' ? join(FOLDER, 'es') : folder, `${topic}.md`), 'utf8')
}

function readTitle(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1] ?? ''
}
