// Many nodes that start together on an empty database: one creates the tables, and all of them serve.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figure, scaled } from '../../faults/scale.ts'
import { openCluster } from '../../support/postgres/nodes.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { until } from '../../support/terminal.ts'

const NODES = scaled({ short: 6, long: 20 })

test(`${NODES} nodes start at once on an empty database, and all serve`, async (t) => {
  const url = await createPostgresSchema()
  const { start, command } = await openCluster(t, url)
  const began = performance.now()
  const nodes = await Promise.all(Array.from({ length: NODES }, () => start()))
  figure(t, 'milliseconds until all were ready', Math.round(performance.now() - began))
  const key = (await command('key', 'create', 'erp')).out.trim()
  const headers = { 'x-api-key': key }
  const answers = await Promise.all(
    nodes.map(async (node) => {
      const fetchSeries = () => fetch(`${node.url}/api/v1/series`, { headers })
      await until(async () => (await fetchSeries()).status === 200)
      return (await fetchSeries()).text()
    }),
  )
  assert.equal(new Set(answers).size, 1)
  assert.ok((answers[0]?.length ?? 0) > 1000)
  const [meta] = await queryOnce(
    url,
    'select count(*)::int as rows, count(distinct epoch)::int as epochs from meta',
  )
  assert.deepEqual(meta, { rows: 1, epochs: 1 })
})
