// Runs the code blocks of the guides as a reader does: in their order, in one folder, unchanged. Shell blocks set
// variables for the later blocks. Port 8080 of the text leads curl to the app of the test.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { fixedClock, startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { freePort, PROGRAM_ENV, type Program, startProgram } from '../support/program.ts'
import { runCommand, until } from '../support/terminal.ts'

export type GuideExample = { heading: string; language: string; code: string }

type Runner = {
  /** File that the code is written to; Java needs the name of the class. */
  file(code: string): string
  compile?(file: string): readonly [string, ...string[]]
  start(file: string, port: number): readonly [string, ...string[]]
}

const ROOT = join(import.meta.dirname, '../..')
const PYTHON = '/usr/bin/python3'
const MINUTE_MS = 60_000
const className = (code: string) => /class (\w+)/.exec(code)?.[1] ?? ''

const RUNNERS: Record<string, Runner> = {
  sh: { file: () => 'block.sh', start: (file) => ['bash', '-e', '-c', `. ./${file}; env -0 > variables`] },
  python: { file: () => 'example.py', start: (file) => [PYTHON, file] },
  js: { file: () => 'example.mjs', start: (file) => [process.execPath, file] },
  php: {
    file: () => 'hook.php',
    start: (file, port) => (port === 0 ? ['php', file] : ['php', '-S', `127.0.0.1:${port}`, file]),
  },
  java: { file: (code) => `${className(code)}.java`, start: (file) => ['java', file] },
  csharp: {
    file: () => 'Example.cs',
    compile: (file) => ['mcs', '-out:example.exe', file],
    start: () => ['mono', 'example.exe'],
  },
}

/** Returns the code blocks of a guide in their order, each with the nearest heading above it. */
export function listGuideExamples(language: 'en' | 'es' = 'en'): GuideExample[] {
  const path = `src/manual/${language === 'es' ? 'es/' : ''}guides.md`
  const text = readFileSync(join(ROOT, path), 'utf8')
  let heading = ''
  return [...text.matchAll(/^#{2,3} (.*)$|^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap((match) => {
    const [, title, name = '', code = ''] = match
    heading = title ?? heading
    return title === undefined ? [{ heading, language: name, code }] : []
  })
}

/** Starts a server with rates. Its clock is a minute ahead of the machine, whose clock the examples use. */
async function startGuideApp(t: TestContext): Promise<TestApp> {
  const clock = fixedClock(new Date(Date.now() - MINUTE_MS).toISOString())
  const app = await startTestApp(t, { clock })
  await app.sync()
  clock.now = new Date(Date.now() + MINUTE_MS)
  return app
}

/**
 * Runs the examples of these languages, and the shell blocks before them. A receiver gets a real message.
 * @returns what each printed
 */
export async function runGuides(
  t: TestContext,
  languages: readonly string[],
): Promise<{ app: TestApp; results: (GuideExample & { output: string })[] }> {
  const app = await startGuideApp(t)
  const folder = temporaryDirectory(t)
  let env = readerEnvironment(app, folder)
  const results: (GuideExample & { output: string })[] = []
  for (const example of listGuideExamples()) {
    const { language, code, heading } = example
    const runner = RUNNERS[language]
    assert.ok(runner, `${heading}: no program runs ${language}`)
    if (language !== 'sh' && !languages.includes(language)) continue
    const file = runner.file(code)
    writeFileSync(join(folder, file), code)
    if (runner.compile) await runInFolder(runner.compile(file), folder, env)
    const isReceiver = language !== 'sh' && /webhook/i.test(code)
    const output = isReceiver
      ? await receiveMessage(t, app, { runner, file: join(folder, file), env })
      : await runInFolder(runner.start(file, 0), folder, env)
    results.push({ ...example, output })
    if (language === 'sh') env = { ...readVariables(folder), CAMBISTA_URL: app.app.url }
  }
  return { app, results }
}

/** Environment of a reader: `cambista` is on the PATH, and curl fails for an error. */
function readerEnvironment(app: TestApp, folder: string): Record<string, string> {
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  const command = join(programs, 'cambista')
  const entry = join(ROOT, 'test/support/cambista.ts')
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`)
  chmodSync(command, 0o755)
  const { host } = new URL(app.app.url)
  writeFileSync(join(folder, '.curlrc'), `fail\nconnect-to = "127.0.0.1:8080:${host}"\n`)
  return {
    ...PROGRAM_ENV,
    PATH: `${programs}:${PROGRAM_ENV.PATH}`,
    HOME: folder,
    CAMBISTA_DATA_DIR: app.dataDir,
  }
}

function readVariables(folder: string): Record<string, string> {
  const lines = readFileSync(join(folder, 'variables'), 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0] ?? '', line.replace(/^[^=]*=/, '')]))
}

async function runInFolder(
  [command, ...words]: readonly [string, ...string[]],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, words, { cwd, env, timeout: 120_000 })
  return stdout
}

/** Starts a receiver with the secret of a hook, then with another one. @returns the output of the first */
async function receiveMessage(
  t: TestContext,
  { dataDir }: TestApp,
  { runner, file, env }: { runner: Runner; file: string; env: Record<string, string> },
): Promise<string> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const run = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  const hook = await run('hook', 'create', '--url', url, '--event', 'rates.published', '--json')
  const { id, secret } = JSON.parse(hook.out) as { id: number; secret: string }
  const start = async (CAMBISTA_SECRET: string) => {
    const variables = { ...env, HOOK_PORT: String(port), CAMBISTA_SECRET }
    const program = startProgram(t, [], variables, inFolder(runner.start(file, port), dirname(file)))
    await until(() => isListening(url))
    return program
  }
  const genuine = await start(secret)
  const end = await run('hook', 'test', String(id))
  assert.equal(end.code, 0, `${end.out}${end.err}${genuine.printed.err}`)
  await until(() => printedText(genuine).includes('test'))
  await stopProgram(genuine)
  const other = await start(`whsec_${Buffer.alloc(32).toString('base64')}`)
  const { code, out, err } = await run('hook', 'test', String(id))
  assert.equal(code, 1)
  assert.match(out + err, /401/)
  await stopProgram(other)
  await run('hook', 'delete', String(id))
  return printedText(genuine)
}

function inFolder(words: readonly [string, ...string[]], folder: string): readonly [string, ...string[]] {
  return ['env', '-C', folder, ...words]
}

function printedText({ printed }: Program): string {
  return printed.out + printed.err
}

async function stopProgram(program: Program): Promise<void> {
  program.child.kill('SIGKILL')
  await program.waitForExit()
}

async function isListening(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: 'POST', body: '{}' })
    return true
  } catch {
    return false
  }
}
