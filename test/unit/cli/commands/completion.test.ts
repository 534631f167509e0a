// The completion scripts, run in bash and zsh.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const COMMANDS = await loadCommands()

const run = promisify(execFile)
const NO_ZSH = spawnSync('zsh', ['--version']).status !== 0 && 'there is no zsh'

/** Creates a directory with a file, a folder and the completion script. */
async function writeScript(t: TestContext, shell: 'bash' | 'zsh') {
  const cwd = temporaryDirectory(t)
  mkdirSync(join(cwd, 'folder'))
  writeFileSync(join(cwd, 'file.pem'), '')
  const { code, out, err } = await runCommand(['completion', shell])
  assert.deepEqual([code, err], [0, ''])
  const script = join(cwd, '_cambista')
  writeFileSync(script, out)
  return { cwd, script, text: out }
}

/** Returns the completions of bash at the end of a line. Bash splits the line at spaces, `=` and `:`. */
async function completeInBash(cwd: string, script: string, line: string): Promise<string[]> {
  const words = [...line.matchAll(/[=:]|[^ =:]+/g)].map(([word]) => word)
  if (line.endsWith(' ')) words.push('')
  const source = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }
    _cambista; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['-c', source, 'bash', script, ...words], { cwd })
  return stdout.split('\n').filter((one) => one !== '')
}

const lines: [line: string, expected: string[]][] = [
  ['cambista se', ['serve', 'session', 'service', 'series']],
  ['cambista --v', ['--version']],
  ['cambista help ke', []],
  ['cambista key ', ['create', 'list', 'revoke', 'rotate']],
  ['cambista key ro', ['rotate']],
  ['cambista key rotate --o', ['--overlap']],
  ['cambista key rotate erp ', []],
  ['cambista key --json ro', ['rotate']],
  ['cambista --data-dir key tok', ['token']],
  ['cambista --data-dir=key tok', ['token']],
  ['cambista serve --log-level ', ['debug', 'info', 'warn', 'error']],
  ['cambista serve --log-level=d', ['debug']],
  ['cambista serve --log-format=', ['text', 'json']],
  ['cambista serve --port 80', []],
  ['cambista serve --tls-cert ', ['_cambista', 'file.pem', 'folder']],
  ['cambista serve --data-dir f', ['folder']],
  [
    'cambista token create erp --allow do',
    ['documents:POST', 'documents:GET', 'documents:CLAIM', 'documents:DELETE', 'documents:RETRY'],
  ],
  ['cambista token create erp --allow documents:', ['POST', 'GET', 'CLAIM', 'DELETE', 'RETRY']],
  ['cambista token create erp --allow documents:P', ['POST']],
  ['cambista token create erp --allow documents:POST --comp', ['--company']],
  ['cambista backup create ', ['folder']],
  ['cambista backup create folder ', []],
  ['cambista directory import fi', ['file.pem']],
  ['cambista verify fi', ['file.pem']],
  ['cambista verify file.pem f', ['file.pem', 'folder']],
  ['cambista verify file.pem --k', ['--key']],
  ['cambista completion ', ['bash', 'zsh']],
  ['cambista manual b', ['backups']],
  ['cambista manual backups ', []],
]

test('bash completes commands, flags and their values', async (t) => {
  const { cwd, script } = await writeScript(t, 'bash')
  for (const [line, expected] of lines) {
    assert.deepEqual((await completeInBash(cwd, script, line)).sort(), [...expected].sort(), line)
  }
  for (const { name, options } of COMMANDS) {
    const all = await completeInBash(cwd, script, `cambista ${name} --`)
    assert.deepEqual(all.sort(), [...options, 'help'].map((one) => `--${one}`).sort(), name)
  }
})

test('zsh offers the same', { skip: NO_ZSH }, async (t) => {
  const { cwd, script } = await writeScript(t, 'zsh')
  // Zsh itself drops what does not fit to what is typed.
  const source = `compdef() { :; }; compset() { :; }; _files() { print "<files $*>"; }; compadd() { shift; print -rl -- "$@"; }
    source "$1"; shift; words=("$@"); CURRENT=$#; _cambista`
  const offers = async (...words: string[]) => {
    const { stdout } = await run('zsh', ['-fc', source, 'zsh', script, 'cambista', ...words], { cwd })
    return stdout.trim()
  }
  assert.equal(await offers('key', ''), 'create\nlist\nrevoke\nrotate')
  assert.equal(await offers('--json', 'key', '--data-dir', 'token', ''), 'create\nlist\nrevoke\nrotate')
  assert.equal(
    await offers('key', 'rotate', '--'),
    '--overlap\n--expires\n--data-dir\n--database\n--database-file\n--json\n--help',
  )
  assert.equal(await offers('serve', '--log-level', ''), 'debug\ninfo\nwarn\nerror')
  assert.equal(await offers('serve', '--log-format='), 'text\njson')
  assert.equal(await offers('serve', '--tls-key', 'fi'), '<files >')
  assert.equal(await offers('backup', 'create', ''), '<files -/>')
  assert.equal(await offers('verify', 'file.pem', ''), '<files >')
  assert.equal(await offers('completion', ''), 'bash\nzsh')
  assert.ok((await offers('')).split('\n').includes('healthcheck'))
})

test('another shell is wrong usage that names those there are', async () => {
  const end = await runCommand(['completion', 'fish'])
  assert.equal(end.code, 2)
  assert.match(end.err, /there is completion for bash and zsh, not for "fish"/)
})
