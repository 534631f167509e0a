// The gate's choice for a change, the failures that a lane reports, and the list of second runs.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Choice, chooseTests } from './choice.ts'
import type { LaneResult } from './lane.ts'
import { type LaneName, listFiles } from './lanes.ts'
import { GATE } from './list.ts'
import { checkSecondRuns } from './second-runs.ts'
import { type Outcome, readVerdict } from './verdict.ts'

const ROOT = join(import.meta.dirname, '../..')

const choose = (...paths: string[]) => chooseTests({ base: 'main', paths })
const isWhole = ({ files }: Choice, name: LaneName) => files.get(name)?.length === listFiles(name).length
const listed = (name: LaneName) => Object.keys(GATE[name] ?? {}).sort()

test('without a change the gate runs its list', () => {
  const choice = choose()
  assert.ok(isWhole(choice, 'process'))
  for (const name of ['e2e', 'engines', 'faults', 'page', 'clients'] as const)
    assert.deepEqual(choice.files.get(name), listed(name))
  assert.equal(choice.files.get('measures'), undefined)
})

test('a change of texts alone runs the tests of the repository itself', () => {
  const { files } = choose('README.md', 'CHANGELOG.md', 'src/DECISIONS.md')
  assert.deepEqual([...files.keys()], ['process'])
  assert.ok(files.get('process')?.includes('test/readme.test.ts'))
  assert.ok(!files.get('process')?.some((file) => file.includes('/unit/')))
  assert.deepEqual(
    choose('README.md', 'src/domain/rates/queries.ts').files.get('page'),
    choose('src/domain/rates/queries.ts').files.get('page'),
  )
})

const EVERYTHING: [string, string][] = [
  ['the gate itself', 'test/gate/list.ts'],
  ['a script of the gate', '.ci/run'],
  ['the lock of packages', 'package-lock.json'],
  ['code of many tests', 'test/support/app.ts'],
  ['a contract', 'test/contract/engine.ts'],
  ['a path without a rule', 'doc/new.txt'],
]
for (const [name, path] of EVERYTHING) {
  test(`a change of ${name} runs every lane but the measures`, () => {
    const choice = choose(path)
    for (const lane of ['process', 'e2e', 'engines', 'faults', 'page', 'clients'] as const)
      assert.ok(isWhole(choice, lane), lane)
    assert.ok(choice.reasons.some((reason) => reason.includes(path)))
  })
}

test('a checkout without a base runs every lane', () => {
  assert.ok(isWhole(chooseTests(undefined), 'engines'))
})

const WHOLE: [string, LaneName][] = [
  ['src/web/page.tsx', 'page'],
  ['src/http/web/sign-in.ts', 'page'],
  ['src/http/rates/series.ts', 'page'], // has the schema of an answer
  ['src/store/postgres/pool.ts', 'engines'],
  ['src/store/cluster/leader.ts', 'engines'],
  ['src/store/blobs/bucket/client.ts', 'engines'],
  ['src/store/prepared.ts', 'engines'], // PostgreSQL imports it
  ['src/store/sqlite/database.ts', 'faults'],
  ['src/http/compat/shape.ts', 'clients'],
  ['src/cli/command.ts', 'e2e'],
]
for (const [path, lane] of WHOLE) {
  test(`a change of ${path} runs the whole lane ${lane}`, () => {
    assert.ok(isWhole(choose(path), lane))
  })
}

test('a change of mail adds the clients of mail', () => {
  const files = choose('src/domain/mail/imap.ts').files.get('clients') ?? []
  assert.ok(files.includes('test/clients/mail/rounds.test.ts'))
  assert.ok(!files.includes('test/clients/prices.test.ts'))
})

test('a changed test runs, and so does a test that imports a changed source', () => {
  assert.deepEqual(
    choose('test/web/print.test.ts').files.get('page'),
    [...listed('page'), 'test/web/print.test.ts'].sort(),
  )
  assert.ok(choose('test/release/deb.test.ts').files.get('page')?.length === listed('page').length)
  const importing = choose('src/domain/documents/removal.ts')
  assert.ok(importing.files.get('faults')?.includes('test/faults/week.test.ts'))
})

const NEEDED = `import { test } from 'node:test'\nimport assert from 'node:assert'\n`
const RED = `${NEEDED}test('one equals two', () => { throw new Error('it failed', { cause: new Error('it is two') }) })\ntest('one is one', () => {})\n`

test('a lane names the file of a failed test, and it may run again', async (t) => {
  const { folder, lane } = fixtures(t, { 'red.test.mjs': RED })
  const { failures, passed } = await lane('faults', ['red.test.mjs'])
  assert.equal(passed, 1)
  assert.equal(failures.length, 1)
  assert.deepEqual(failures[0]?.files, [`${folder}/red.test.mjs`])
  assert.deepEqual([failures[0]?.name, failures[0]?.isFinal], ['one equals two', false])
  assert.equal(failures[0]?.message, 'it failed: it is two')
})

const FINAL: [string, string][] = [
  ['ends its process', 'process.exit(3)'],
  ['is killed', "process.kill(process.pid, 'SIGKILL')"],
  ['never ends', 'await new Promise(() => {})'],
  ['leaves a timer', 'setInterval(() => {}, 1000)'],
]
for (const [name, statement] of FINAL) {
  test(`a lane reports a test that ${name} as final`, async (t) => {
    const text = `${NEEDED}test('it', async () => { ${statement} })\n`
    const { lane } = fixtures(t, { 'final.test.mjs': text })
    const { failures } = await lane('faults', ['final.test.mjs'], '2000')
    assert.deepEqual(new Set(failures.map(({ isFinal }) => isFinal)), new Set([true]))
  })
}

test('a lane reports a file that does not load, or throws after its tests, as final', async (t) => {
  const { lane } = fixtures(t, {
    'load.test.mjs': "import './nothing.mjs'\n",
    'late.test.mjs': `${NEEDED}test('it', () => {})\nsetTimeout(() => { throw new Error('late') }, 1)\n`,
  })
  const { failures } = await lane('faults', ['load.test.mjs', 'late.test.mjs'])
  assert.equal(failures.length, 2)
  assert.ok(failures.every(({ isFinal }) => isFinal))
})

test('a failure in a part names its own file, or all that share code', async (t) => {
  const { folder, lane } = fixtures(t, {
    'contract.mjs': `${NEEDED}export const contract = () => test('contract', () => assert.equal(1, 2))\n`,
    'red.test.mjs': RED,
    'suite.test.mjs': "import { contract } from './contract.mjs'\ncontract()\n",
    'green.test.mjs': `${NEEDED}test('it', () => {})\n`,
  })
  const files = ['red.test.mjs', 'suite.test.mjs', 'green.test.mjs']
  const { failures } = await lane('process', files)
  const filesByTest = new Map(failures.map(({ name, files }) => [name, files]))
  assert.deepEqual(filesByTest.get('one equals two'), [`${folder}/red.test.mjs`])
  assert.deepEqual(
    filesByTest.get('contract'),
    files.map((file) => `${folder}/${file}`),
  )
})

const makeFailure = (file: string, isFinal = false) => ({
  files: [file],
  name: 'it',
  message: '1 == 2',
  isFinal,
})
const makeOutcome = (...failures: LaneResult['failures']): Outcome => ({
  step: { name: 'process', lane: 'process', command: ['npm', 'test'] },
  seconds: 1,
  code: failures.length > 0 ? 1 : 0,
  result: { passed: 9, failed: failures.length, skipped: 0, failures },
})
const CHECK: Outcome = { step: { name: 'check', command: ['npm', 'run', 'check'] }, seconds: 1, code: 1 }

const VERDICTS: [string, Outcome[], string][] = [
  ['without a failure', [makeOutcome()], 'green'],
  ['after a failure of a test of secrets', [makeOutcome(makeFailure('test/api/new-secrets.test.ts'))], 'red'],
  ['after a failure of a plain test', [makeOutcome(makeFailure('test/api/caching.test.ts'))], 'again'],
  ['after a crash', [makeOutcome(makeFailure('test/api/caching.test.ts', true))], 'red'],
  ['after a failure of a model', [makeOutcome(makeFailure('test/faults/rates-model.test.ts'))], 'red'],
  [
    'after a failure of kills',
    [makeOutcome(makeFailure('test/engines/nodes/killed-under-uploads.test.ts'))],
    'red',
  ],
  [
    'after a chance and a crash',
    [makeOutcome(makeFailure('test/api/cors.test.ts'), makeFailure('test/api/caching.test.ts', true))],
    'red',
  ],
  ['after a failure of `check`', [CHECK, makeOutcome()], 'red'],
  ['after a lane without a result', [{ ...makeOutcome(), code: 1 }], 'red'],
]
for (const [name, outcomes, color] of VERDICTS) {
  test(`the verdict of a run is ${color} ${name}`, () => {
    assert.equal(readVerdict(outcomes).color, color)
  })
}

test('the second entry of a test in the list of second runs is a fault', () => {
  const line = (day: string, name: string) => `${day}\tf9ca7537\ttest/api/auth.test.ts\t${name}\t1 == 2`
  assert.deepEqual(
    checkSecondRuns(`# a comment\n${line('2026-11-28', 'one')}\n${line('2026-11-29', 'two')}\n`),
    [],
  )
  const twice = checkSecondRuns(`${line('2026-11-28', 'one')}\n${line('2026-11-29', 'one')}\n`)
  assert.equal(twice.length, 1)
  assert.match(twice[0] ?? '', /auth\.test\.ts: one$/)
  assert.match(checkSecondRuns('yesterday\tit failed\n')[0] ?? '', /no date, commit/)
})

/** Writes test files into a folder of their own. `lane` runs some of them as files of a lane. */
function fixtures(t: TestContext, texts: Record<string, string>) {
  mkdirSync(join(ROOT, 'test/.parts'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'test/.parts/fixture-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  const path = relative(ROOT, folder)
  const lane = async (name: LaneName, files: readonly string[], limitMs = ''): Promise<LaneResult> => {
    const result = join(folder, 'result.json')
    const words = ['test/gate/lane.ts', name, ...files.map((file) => `${path}/${file}`)]
    const limits = { CAMBISTA_LANE_RESULT: result, CAMBISTA_TEST_LIMIT_MS: limitMs }
    const { NODE_TEST_CONTEXT: _, ...env }: NodeJS.ProcessEnv = { ...process.env, ...limits }
    await new Promise((resolve) => {
      execFile(process.execPath, words, { cwd: ROOT, env }, resolve)
    })
    return JSON.parse(readFileSync(result, 'utf8'))
  }
  return { folder: path, lane }
}
