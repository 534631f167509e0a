// A connection that breaks during the commit of a sync or of a claim. Whether the database stored it or not, its data
// exist once in the end, and count once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { startProxy } from '../support/postgres/proxy.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp, temporaryDirectory } = await import('../support/app.ts')
const { runJson } = await import('../support/company.ts')
const { batch, CREATE, pdf, post, TOKENS } = await import('../support/directory.ts')
const { postgresAddress } = await import('../support/postgres/database.ts')
const { startNodeBehindProxy } = await import('../support/postgres/behind-proxy.ts')
const { queryOnce: ask } = await import('../support/postgres/server.ts')

type Network = Awaited<ReturnType<typeof startProxy>>

const WRITES = /^(insert|update|delete)/i
const COMMITS_OF_A_RUN = 4

test('whichever commit of a sync is cut off, the next one leaves all values there, and counted once', async (t) => {
  const { node, proxy, url } = await startNodeBehindProxy(t)
  const whole = await startTestApp(t, { dataDir: temporaryDirectory(t) })
  const wholeUrl = await postgresAddress(whole.dataDir)
  for (const { dataDir } of [node, whole]) {
    await runJson(dataDir, 'hook', 'create', '--url', 'https://a.example', '--event', 'rates.published')
  }
  let cuts = 0
  for (let month = 1; month <= 2 * COMMITS_OF_A_RUN; month++) {
    const range = { from: `2025-0${month}-01`, to: `2025-0${month}-20` } as const
    const cut = cutCommit(proxy, 'leases', Math.ceil(month / 2), month % 2 ? 'lose' : 'cut')
    const end = await node.sync(range).catch(() => undefined)
    assert.ok(cut.isDone(), `there is no commit ${Math.ceil(month / 2)}`)
    if (end?.run.status !== 'ok') cuts += 1
    proxy.decide(() => 'pass')
    assert.equal((await node.sync(range)).run.status, 'ok')
    await whole.sync(range)
  }
  assert.ok(cuts > COMMITS_OF_A_RUN, `${cuts} runs were not ok`)
  for (const columns of [
    'series_id, rate_date, value from rates',
    'series_id, kind, covered_from, covered_to from coverage',
    'series_id, rate_date, old_value, new_value from rate_revisions',
  ]) {
    const rows = `select ${columns} order by 1, 2, 3`
    assert.deepEqual(await ask(url, rows), await ask(wholeUrl, rows), columns)
  }
  const counted = `select (select sum(inserted) from sync_runs)::int as counted, (select count(*) from rates)::int as stored`
  const [{ counted: most = 0, stored = 0 } = {}] = await ask(url, counted)
  assert.ok(Number(stored) > 500 && Number(most) <= Number(stored), `${most} counted, ${stored} stored`)
  assert.deepEqual(await ask(url, 'select id from sync_runs where finished_at is null'), [])
  assert.deepEqual(await reportedDays(url), await reportedDays(wholeUrl))
})

test('a claim, a release and an outcome happen once if their commit is cut off, and can be repeated', async (t) => {
  const { node, proxy, url } = await startNodeBehindProxy(t)
  const bearer = { authorization: `Bearer ${TOKENS.work}` }
  const claimOptions = { agent_id: 1, limit: 1, lease_seconds: 600 }
  const claim = () => post(node, '/api/v1/documents/claim', claimOptions, bearer)
  for (const fate of ['lose', 'cut'] as const) {
    await post(node, CREATE, batch(pdf(fate)))
    const cutOnce = () => cutCommit(proxy, 'documents', 1, fate)
    cutOnce()
    let answer = await claim()
    if (fate === 'cut') {
      assert.equal(answer.status, 503)
      const [row] = await ask(url, 'select state, attempts::int from documents order by id desc limit 1')
      assert.deepEqual(row, { state: 'new', attempts: 0 })
      answer = await claim()
    }
    assert.equal(answer.status, 200)
    const { documents } = (await answer.json()) as { documents: { id: number; claim_id: string }[] }
    const [{ id, claim_id } = assert.fail('nothing is free')] = documents
    const tell = (what: string, more: object = {}) =>
      post(node, `/api/v1/documents/${id}/${what}`, { claim_id, ...more }, bearer)
    cutOnce()
    assert.equal((await tell('finish', { outcome: 'done' })).status, 503)
    assert.equal((await tell('finish', { outcome: 'done' })).status, 200)
    assert.equal((await tell('finish', { outcome: 'done' })).status, 200)
    const events = `select kind from events where document_id = ${id} order by id`
    assert.deepEqual(
      (await ask(url, events)).map(({ kind }) => kind),
      ['claimed', 'done'],
    )
  }
})

/** Cuts the n-th commit of a transaction that named a table and wrote something. */
function cutCommit(proxy: Network, table: string, n: number, fate: 'cut' | 'lose') {
  const open = new Map<number, { names: boolean; writes: boolean }>()
  let commits = 0
  let isDone = false
  proxy.decide((text, connection) => {
    const transaction = open.getOrInsertComputed(connection, () => ({ names: false, writes: false }))
    transaction.names ||= text.includes(table)
    transaction.writes ||= WRITES.test(text)
    if (text !== 'commit') return 'pass'
    open.delete(connection)
    if (isDone || !transaction.names || !transaction.writes || ++commits < n) return 'pass'
    isDone = true
    return fate
  })
  return { isDone: () => isDone }
}

async function reportedDays(url: string): Promise<string[]> {
  const rows = await ask(url, `select body from hook_messages where type = 'rates.published' order by id`)
  const days = rows.flatMap(
    ({ body }) => (JSON.parse(String(body)) as { data: { days: string[] } }).data.days,
  )
  return days.sort()
}
