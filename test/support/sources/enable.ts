// Enables optional providers in the database of a test app, as `cambista provider enable` does.

import type { Provider } from '../../../src/providers/provider.ts'
import { runCommand, until } from '../terminal.ts'

type Server = { dataDir: string; json<T>(path: string): Promise<T> }

/** Enables the providers in their order, and waits until the server has noticed the last one. */
export async function enableProviders(
  { dataDir, json }: Server,
  providers: readonly Provider[],
): Promise<void> {
  for (const { code } of providers) {
    const { code: exit, err } = await runCommand(
      ['provider', 'enable', code, '--data-dir', dataDir],
      {},
      providers,
    )
    if (exit !== 0) throw new Error(err)
  }
  const lastCode = providers.at(-1)?.code
  await until(async () =>
    (await json<{ code: string; enabled: boolean }[]>('/api/v1/providers')).some(
      ({ code, enabled }) => enabled && code === lastCode,
    ),
  )
}
