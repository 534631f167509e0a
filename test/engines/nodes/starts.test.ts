// Many nodes that start at the same time on an empty database: one makes it, and all of them serve.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figure, scaled } from '../../faults/scale.ts'
import { openCluster } from '../../support/postgres/nodes.ts'
import { ask, postgresSchemaFor } from '../../support/postgres/server.ts'
import { until } from '../../support/terminal.ts'

const NODES = scaled({ short: 6, long: 20 })

test(`${NODES} nodes start at once on an empty database, and all serve`, async (t) => {
  const url = await postgresSchemaFor(t)
  const { start, command } = await openCluster(t, url)
  const began = performance.now()
  const nodes = await Promise.all(Array.from({ length: NODES }, () => start()))
  figure(t, 'milliseconds until all were ready', Math.round(performance.now() - began))
  const key = (await command('key', 'create', 'erp')).out.trim()
  const headers = { 'x-api-key': key }
  const answers = await Promise.all(
    nodes.map(async (node) => {
      const asked = () => fetch(`${node.url}/api/v1/series`, { headers })
      await until(async () => (await asked()).status === 200)
      return (await asked()).text()
    }),
  )
  assert.equal(new Set(answers).size, 1)
  assert.ok((answers[0]?.length ?? 0) > 1000)
  const [meta] = await ask(
    url,
    'select count(*)::int as rows, count(distinct epoch)::int as epochs from meta',
  )
  assert.deepEqual(meta, { rows: 1, epochs: 1 })
})
