// Starts one PostgreSQL for all files of a run: `node --test --test-global-setup=test/support/postgres/shared-server.ts`.

import { type PostgresServer, SERVER_VARIABLE, startPostgres } from './server.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  server = await startPostgres()
  process.env[SERVER_VARIABLE] = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.close()
}
