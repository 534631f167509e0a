// PostgreSQL passes the suite of every engine: two nodes on one schema.

import { testEngine } from '../contract/engine.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'

testEngine('postgres', async (t) => {
  const url = await createPostgresSchema()
  return [await openNode(t, url), await openNode(t, url)]
})
