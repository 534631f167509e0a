// A node whose every statement passes a proxy that can lose or cut it. A file that sets PostgreSQL as its engine
// imports this after it.

import type { TestContext } from 'node:test'
import { startTestApp, temporaryDirectory } from '../app.ts'
import { fillDirectory } from '../directory.ts'
import { postgresAddress } from './database.ts'
import { startProxy } from './proxy.ts'

export async function startNodeBehindProxy(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const url = await postgresAddress(dataDir)
  const proxy = await startProxy(t, url)
  const node = await startTestApp(t, { dataDir, database: `${proxy.url}&prepare=0` })
  await fillDirectory(node)
  return { node, proxy, url }
}
