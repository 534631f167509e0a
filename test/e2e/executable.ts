// The built executable as an administrator has it: a file, almost no environment, a temporary directory of its own.

import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const BUILT = join(import.meta.dirname, '../../dist/cambista')
/** The built executable, or the one out of an archive that `npm run test:release` names. */
export const EXECUTABLE = process.env.CAMBISTA_EXECUTABLE ?? BUILT
if (!existsSync(EXECUTABLE)) throw new Error(`there is no ${EXECUTABLE}: npm run build -- --only x64`)

export type How = {
  env?: Record<string, string>
  cwd?: string
  /** Words before the executable, such as `unshare --mount`. */
  under?: readonly string[]
  executable?: string
}

export type Ended = { code: number | string; out: string; err: string }

export type Running = {
  child: ChildProcessWithoutNullStreams
  /** Waits for a text on stdout or stderr; its first group. */
  says(text: RegExp): Promise<string>
  /** Waits for the end, after a signal if one is given. */
  ended(signal?: NodeJS.Signals): Promise<Ended>
}

export function start(t: TestContext, words: readonly string[], how: How = {}): Running {
  const [command = '', ...args] = [...(how.under ?? []), how.executable ?? EXECUTABLE, ...words]
  const child = spawn(command, args, { cwd: how.cwd, env: how.env ?? {} })
  t.after(() => child.kill('SIGKILL'))
  const printed = { out: '', err: '' }
  const output = new EventTarget()
  for (const [stream, name] of [[child.stdout, 'out'] as const, [child.stderr, 'err'] as const]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed[name] += text
      output.dispatchEvent(new Event('text'))
    })
  }
  const end = once(child, 'close').then(([code, signal]): Ended => {
    output.dispatchEvent(new Event('text'))
    return { code: code ?? signal, ...printed }
  })
  return {
    child,
    async says(text) {
      for (;;) {
        const match = text.exec(printed.out) ?? text.exec(printed.err)
        if (match) return match[1] ?? match[0]
        if (child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`it ended without saying ${text}: ${JSON.stringify(await end)}`)
        }
        await once(output, 'text')
      }
    },
    ended(signal) {
      if (signal) child.kill(signal)
      return end
    },
  }
}

/** Runs it to its end. Whatever happens, no stack is shown. */
export async function run(t: TestContext, words: readonly string[], how?: How): Promise<Ended> {
  const result = await start(t, words, how).ended()
  assert.doesNotMatch(result.err, /^\s+at /m, 'a stack is shown')
  return result
}

/** Serves on a free port until the test ends. */
export async function serve(t: TestContext, dataDir: string, how?: How) {
  const program = start(t, ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir], how)
  return { ...program, url: await program.says(/ listening url=(\S+)/) }
}

/** A directory that any user may enter, gone when the test ends. */
export function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'cambista-e2e-'))
  chmodSync(path, 0o755)
  // A server that is killed only then may still write into it.
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }))
  return path
}

/** Words that run a command with a directory mounted anew, read-only or noexec, for its eyes alone. */
export function remounted(path: string, option: 'ro' | 'noexec'): string[] {
  const script = `mount --bind ${path} ${path}; mount -o remount,bind,${option} ${path}; exec "$@"`
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user']
  return ['/usr/bin/unshare', '--mount', ...user, '/bin/sh', '-ec', script, 'sh']
}
