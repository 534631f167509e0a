// The lanes of tests. Each test file is in the gate or in the full run; each file of the repository has a rule.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findRules } from './gate/choice.ts'
import { readSources } from './gate/imports.ts'
import { LANES, type LaneName, listFiles } from './gate/lanes.ts'
import { GATE, NO_SECOND_RUN } from './gate/list.ts'
import { ALONE } from './gate/parts.ts'
import { RULES } from './gate/rules.ts'

const ROOT = join(import.meta.dirname, '..')
const EXCLUDED = ['**/node_modules']
const NAMES = Object.keys(LANES) as LaneName[]
const OF_OTHERS = /^test\/(release|engines\/long)\// // for `npm run test:release` and `npm run test:long`
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const contributing = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8')

test('each test file is in one lane of `.ci/full`', () => {
  const inLanes = NAMES.flatMap((name) => globSync(LANES[name].patterns, { cwd: ROOT, exclude: EXCLUDED }))
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: EXCLUDED })
  assert.deepEqual(inLanes.sort(), files.filter((file) => !OF_OTHERS.test(file)).sort())
})

test('each lane has its script in package.json', () => {
  for (const name of NAMES) {
    const script = LANES[name].command.replace(/^npm (run )?/, '')
    assert.match(scripts[script] ?? '', new RegExp(`node test/gate/lane\\.ts ${name}$`))
  }
})

test('each line of the list of the gate names a file of its lane, and a reason', () => {
  for (const [name, entry] of Object.entries(GATE)) {
    if (typeof entry === 'string') {
      assert.ok(entry.length > 20, name)
      continue
    }
    const files = new Set(listFiles(name as LaneName))
    for (const [file, reason] of Object.entries(entry)) {
      assert.ok(files.has(file), file)
      assert.ok(reason.length > 10, file)
    }
  }
})

test('each file of the repository has a rule', () => {
  const sources = [...readSources('src'), ...readSources('bin')]
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const existing = paths.filter((path) => path !== '' && existsSync(join(ROOT, path)))
  assert.ok(existing.length > 1500)
  assert.deepEqual(
    existing.filter((path) => findRules(path, sources).length === 0),
    [],
  )
})

test('each rule has files, and each pattern of tests finds some beside `npm test`', () => {
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const tests = NAMES.filter((name) => name !== 'process').flatMap((name) => listFiles(name))
  for (const { paths: pattern, adds, reason } of RULES) {
    assert.ok(
      paths.some((path) => pattern.test(path)),
      String(pattern),
    )
    assert.ok(reason.length > 2)
    for (const one of adds === 'everything' ? [] : adds) {
      if (one instanceof RegExp)
        assert.ok(
          tests.some((file) => one.test(file)),
          String(one),
        )
    }
  }
})

test('each pattern without a second run finds files', () => {
  const tests = NAMES.flatMap((name) => listFiles(name))
  for (const one of NO_SECOND_RUN)
    assert.ok(
      tests.some((file) => one.test(file)),
      String(one),
    )
})

test('each file with a process of its own exists', () => {
  assert.deepEqual(
    Object.keys(ALONE).filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
})

test('CONTRIBUTING has the gate and the full run, and the command of each lane', () => {
  for (const script of ['.ci/run', '.ci/full']) {
    assert.ok(existsSync(join(ROOT, script)))
    assert.ok(contributing.includes(`\n${script} `), script)
  }
  const rows = [...contributing.matchAll(/^\| `(npm [^`]+)` \|/gm)].map(([, command]) => command)
  for (const name of NAMES) assert.ok(rows.includes(LANES[name].command), name)
})

test('the workflow runs the gate on each push, with its base, and the full run nightly', () => {
  const workflow = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')
  const [, gate = '', full = ''] = workflow.split(/^ {2}(?:gate|full):$/m)
  assert.match(workflow, /^ {2}push:$/m)
  assert.match(gate, /fetch-depth: 0\n {6}- run: \.ci\/run\n[\s\S]*CAMBISTA_BASE: \S/)
  assert.match(full, /event_name == 'schedule'[\s\S]*- run: \.ci\/full\n/)
})
