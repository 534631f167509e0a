// Makes the data of the full app once for all files of a run: `node --test --test-global-setup=test/web/full-app.ts`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { FULL_APP, FULL_APP_VARIABLE, fillFullApp, SECRETS_FILE } from './apps.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'cambista-full-app-'))

export async function globalSetup(): Promise<void> {
  const endings: (() => unknown)[] = []
  const run: Pick<TestContext, 'after'> = { after: (end) => void endings.push(end as () => unknown) }
  try {
    const { key, token } = await fillFullApp(await startTestApp(run as TestContext, { ...FULL_APP, dataDir }))
    writeFileSync(join(dataDir, SECRETS_FILE), JSON.stringify({ key, token }))
  } finally {
    for (const end of endings) await end()
  }
  process.env[FULL_APP_VARIABLE] = dataDir
}

export function globalTeardown(): void {
  rmSync(dataDir, { recursive: true, force: true })
}
