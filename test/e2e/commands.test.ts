import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SCHEMA_VERSION } from '../../src/store/migrations.ts'
import { directory, EXECUTABLE, run } from './executable.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))

test('--version prints version, commit, date and schema', async (t) => {
  const { code, out, err } = await run(t, ['--version', '--json'])
  assert.deepEqual([code, err], [0, ''])
  const { commit, date, ...others } = JSON.parse(out)
  assert.deepEqual(others, { version, schema: SCHEMA_VERSION, packed: true, code_cache: true })
  assert.match(commit, /^[0-9a-f]{40}(-dirty)?$/)
  assert.equal(new Date(date).toISOString(), date)
  const line = `cambista ${version}, commit ${commit} of ${date.slice(0, 10)}, schema ${SCHEMA_VERSION}\n`
  assert.deepEqual(await run(t, ['--version']), { code: 0, out: line, err: '' })
})

test('helps, and opens nothing for it', async (t) => {
  const env = { TMPDIR: '/does-not-exist' }
  const program = await run(t, ['--help'], { env })
  assert.equal(program.code, 0)
  assert.match(program.out, /^ {2}serve .*\n/m)
  const command = await run(t, ['serve', '--help'], { env })
  assert.equal(command.code, 0)
  assert.match(command.out, /--data-dir DIR/)
})

for (const { words, named } of [
  { words: ['serve', '--prot', '8080'], named: /--prot/ },
  { words: ['serve', '--port', '70000'], named: /--port .*"70000"/ },
  { words: ['sync', '--from', '2026-02-30'], named: /--from .*"2026-02-30"/ },
  { words: ['serv'], named: /"serv"/ },
  { words: ['key', 'create'], named: /NAME is missing/ },
  // Node's own flags are not ours.
  { words: ['--inspect'], named: /--inspect/ },
]) {
  test(`refuses ${words.join(' ')} with exit code 2 and names what is wrong`, async (t) => {
    const { code, out, err } = await run(t, words, { cwd: directory(t) })
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, named)
  })
}

test('needs neither an environment nor a certain directory nor anything beside it', async (t) => {
  const home = directory(t)
  const executable = join(home, 'cambista')
  copyFileSync(EXECUTABLE, executable)
  const cwd = join(home, 'elsewhere')
  mkdirSync(cwd)
  const key = await run(t, ['key', 'create', 'erp'], { executable, cwd, env: {} })
  assert.equal(key.code, 0, key.err)
  assert.match(key.out, /^cbk_\w+\n$/)
  assert.deepEqual(readdirSync(home).sort(), ['cambista', 'elsewhere'])
  assert.deepEqual(readdirSync(cwd), ['cambista-data'])
})

test('has the examples in it', async (t) => {
  const { code, out, err } = await run(t, ['example', 'python'])
  const text = readFileSync(join(import.meta.dirname, '../../src/examples/python.py'), 'utf8')
  assert.deepEqual({ code, out, err }, { code: 0, out: text, err: '' })
  const script = await run(t, ['example', 'odoo'])
  assert.deepEqual([script.code, script.err], [0, ''])
  assert.match(script.out, /^#!\/bin\/sh\n/)
})

test('has the manual in it', async (t) => {
  const list = await run(t, ['manual'], { cwd: directory(t) })
  assert.deepEqual([list.code, list.err], [0, ''])
  const topics = [...list.out.matchAll(/^ {2}(\w+) /gm)].map(([, topic = '']) => topic)
  assert.ok(topics.length > 5)
  for (const topic of topics) {
    const text = readFileSync(
      join(import.meta.dirname, `../../src/manual/${topic === 'leame' ? 'es/' : ''}${topic}.md`),
      'utf8',
    )
    assert.deepEqual(await run(t, ['manual', topic]), { code: 0, out: text, err: '' })
  }
})

test('has the help in Spanish, the dashboard and the alert rules in it', async (t) => {
  const spanish = await run(t, ['key', 'create', '--help'], { env: { LANG: 'es_CR.UTF-8' } })
  assert.deepEqual([spanish.code, spanish.err], [0, ''])
  assert.match(spanish.out, /^Uso: cambista key create NOMBRE/)
  for (const [word, file] of [
    ['dashboard', 'dashboard.json'],
    ['rules', 'rules.yaml'],
  ] as const) {
    const text = readFileSync(join(import.meta.dirname, '../../src/cli/commands/metrics', file), 'utf8')
    assert.deepEqual(await run(t, ['metrics', word]), { code: 0, out: text, err: '' })
  }
})
