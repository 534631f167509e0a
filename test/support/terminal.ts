// A terminal for one command line, with its output and a way to stop it.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Terminal } from '../../src/cli/command.ts'
import { run } from '../../src/main.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { ensureHookKey } from '../../src/store/hooks/key.ts'
import { bundlePage } from './bundle-page.ts'
import { TEST_PROVIDERS } from './providers.ts'
import { postgres } from './temporary.ts'

export type CommandEnd = { code: number; out: string; err: string }

/** Runs a command line in this process to its end. */
export async function runCommand(
  argv: string[],
  env: Record<string, string> = {},
  providers: readonly Provider[] = TEST_PROVIDERS,
): Promise<CommandEnd> {
  const { ended } = startCommand(argv, env, providers)
  return ended
}

/** Runs a command line in this process; `stop` ends it as SIGTERM does. */
export function startCommand(
  argv: string[],
  env: Record<string, string> = {},
  providers: readonly Provider[] = TEST_PROVIDERS,
) {
  const printed = { out: '', err: '' }
  const stop = new AbortController()
  const code = runOnTestEngine(argv, env, {
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      // The first lines of commands that change data have a test: test/unit/cli/service/settings.test.ts.
      if (!/^(data directory|database): |^cambista: --data-dir .* is ignored/.test(text)) printed.err += text
    },
    providers,
    bundlePage,
    interactive: false,
    stop: stop.signal,
  })
  return {
    printed,
    stop: () => stop.abort(),
    ended: code.then((number): CommandEnd => ({ code: number, ...printed })),
  }
}

/** Runs on the engine of this run; a data directory names a schema of PostgreSQL. */
async function runOnTestEngine(
  argv: string[],
  env: Record<string, string>,
  terminal: Omit<Terminal, 'env'>,
): Promise<number> {
  const dataDir = argv[argv.indexOf('--data-dir') + 1]
  if (!postgres || !argv.includes('--data-dir') || dataDir === undefined)
    return run(argv, { ...terminal, env: env })
  const CAMBISTA_DATABASE = await postgres.postgresAddress(dataDir)
  const shared = { CAMBISTA_BLOBS: join(dataDir, 'blobs'), CAMBISTA_BLOBS_SHARED: '1' }
  if (argv[0] === 'hook') {
    await mkdir(dataDir, { recursive: true })
    await ensureHookKey(dataDir)
    Object.assign(shared, { CAMBISTA_HOOK_KEY_FILE: join(dataDir, 'hook.key') })
  }
  return run(argv, { ...terminal, env: { ...env, CAMBISTA_DATABASE, ...shared } })
}

/** Waits until a condition is true. The limit is long, since a shared machine may stall. @throws after `ms` */
export async function until(condition: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true in time')
    await wait(20)
  }
}
