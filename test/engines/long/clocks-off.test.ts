// Nodes with wrong clocks: with more than a minute a node runs, reports it, and is not ready. Stored instants always
// have the time of the database.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureHookKey } from '../../../src/store/hooks/key.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { figure } from '../../faults/scale.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../../support/directory.ts'
import { programWithClock } from '../../support/postgres/clock-off.ts'
import { type Node, openCluster } from '../../support/postgres/nodes.ts'
import { queryOnce } from '../../support/postgres/server.ts'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/terminal.ts'

const HOUR_MS = 3_600_000
const HALF_MINUTE_MS = 30_000
const CLOCKS = [HOUR_MS, -HALF_MINUTE_MS, -HOUR_MS]
const DAY = addDays(
  currentDay(() => new Date()),
  -3,
)
const EXACT_MS = 2000 // a node extrapolates the time between two polls
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/
// Instants in the future, and those of `fillDatabase`.
const LATER = new Set(['ends_at', 'expires_at', 'due_at', 'lease_ends', 'next_run'])

test('nodes whose clocks are off write the time of the database, and are not ready with more than a minute', async (t) => {
  const cluster = await openCluster(t)
  const { dataDir, env } = cluster
  await fillDatabase(dataDir)
  await ensureHookKey(dataDir)
  Object.assign(env, { CAMBISTA_HOOK_KEY_FILE: join(dataDir, 'hook.key') })
  const database = env.CAMBISTA_DATABASE ?? ''
  const run = (aheadMs: number, ...words: string[]) => startProgram(t, words, env, programWithClock(aheadMs))
  const start = async (aheadMs: number): Promise<Node> => {
    const program = run(aheadMs, 'serve', '--port', '0', '--backfill-from', DAY)
    const [, url = ''] = await program.waitForOutput(/listening url=(\S+)/, 300_000)
    await until(async () => (await fetch(`${url}/api/v1/documents`, { headers: READ })).status === 200)
    return { ...program, url }
  }

  const knownInstants = new Set<string>()
  const counts: Record<string, number> = {}
  let from = 0 // instants stored during the query are seen by the next one
  const storedNow = async () => {
    const queryTime = await databaseTime(database)
    const found = (await storedInstants(database)).filter(([place, instant]) => {
      const isNew = !knownInstants.has(`${place} ${instant}`)
      knownInstants.add(`${place} ${instant}`)
      return isNew
    })
    const since = from
    from = queryTime
    return { found, since, until: await databaseTime(database) }
  }
  /** Checks that new instants are between the database times before and after. */
  const writes = async (what: string, act: () => Promise<unknown>) => {
    await act()
    const { found, since, until } = await storedNow()
    for (const [place, instant] of found) {
      const isInside = instant > since - EXACT_MS && instant < until + EXACT_MS
      assert.ok(isInside, `${what}: ${place} is ${(instant - until) / 1000} s off`)
    }
    counts[what] = found.length
  }
  await storedNow()

  for (const aheadMs of CLOCKS) {
    const of = `${aheadMs / 1000} s`
    let node: Node | undefined
    await writes(`${of}: start`, async () => {
      node = await start(aheadMs)
    })
    assert.ok(node)
    const { url, printed } = node
    const send = (path: string, body: object, token: string, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
      return readOk(fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
    }

    const [, told, machine, shared] =
      /machine's clock is (.*) machine=(\S+) database=(\S+) behind_ms=/.exec(printed.err + printed.out) ?? []
    const difference = Date.parse(machine ?? '') - Date.parse(shared ?? '')
    assert.ok(Math.abs(difference - aheadMs) < EXACT_MS, `${of}: ${told} ${machine} ${shared}`)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    const ready = await fetch(`${url}/readyz`)
    const detail = await ready.text()
    if (Math.abs(aheadMs) > HALF_MINUTE_MS) {
      assert.equal(ready.status, 503, detail)
      const words = aheadMs > 0 ? 'ahead of' : 'behind'
      assert.match(detail, new RegExp(`the clock of this machine is 3[56]\\d\\d s ${words} the database's`))
      assert.equal(told, 'far off')
    } else {
      assert.equal(ready.status, 200, detail)
      assert.equal(told, 'off')
    }

    await writes(`${of}: upload`, () =>
      send(CREATE, batch(pdf(`at ${of}`)), TOKENS.all, { 'idempotency-key': of }),
    )
    await writes(`${of}: claim and finish`, async () => {
      const { documents } = await send(
        '/api/v1/documents/claim',
        { agent_id: 1, lease_seconds: 60 },
        TOKENS.work,
      )
      const [{ id, claim_id } = { id: 0, claim_id: '' }] = documents
      const [{ lease_s } = {}] = await queryOnce(
        database,
        `select extract(epoch from lease_ends - clock_timestamp())::float as lease_s from documents where id = ${id}`,
      )
      assert.ok(Number(lease_s) > 0 && Number(lease_s) < 62, `${of}: the lease ends in ${lease_s} s`)
      await send(`/api/v1/documents/${id}/finish`, { claim_id, outcome: 'done' }, TOKENS.work)
    })
    const runs = async (...words: string[]) => {
      const command = run(aheadMs, ...words)
      assert.equal(await command.waitForExit(), 0, command.printed.err)
    }
    await writes(`${of}: key and hook`, () =>
      Promise.all([
        runs('key', 'create', `key at ${of}`),
        runs('hook', 'create', '--url', 'http://127.0.0.1:9/', '--event', 'document.created'),
      ]),
    )
    await writes(`${of}: sync`, async () => {
      const sync = () => run(aheadMs, 'sync', '--from', DAY).waitForExit()
      await until(async () => (await sync()) === 0, 300_000) // the sync of the start may still run
    })
    await writes(`${of}: upload that a hook is told of`, () =>
      send(CREATE, batch(pdf(`at ${of} again`)), TOKENS.all),
    )
    await writes(`${of}: stop, with what was used`, async () => {
      node?.child.kill('SIGTERM')
      assert.equal(await node?.waitForExit(), 0)
    })
  }
  figure(t, 'instants', JSON.stringify(counts))
  for (const what of ['upload', 'claim and finish', 'key and hook', 'sync', 'stop, with what was used']) {
    assert.ok((counts[`3600 s: ${what}`] ?? 0) > 0, what)
  }
})

const READ = { authorization: `Bearer ${TOKENS.read}` }

async function readOk(request: Promise<Response>) {
  const answer = await request
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(text)
}

async function databaseTime(database: string): Promise<number> {
  const [row] = await queryOnce(database, 'select clock_timestamp() as told')
  return Number(row?.told)
}

/** Each instant that is stored, with its table, row and column, in milliseconds. */
async function storedInstants(database: string): Promise<[string, number][]> {
  const tables = await queryOnce(
    database,
    'select table_name from information_schema.tables where table_schema = current_schema()',
  )
  const found: [string, number][] = []
  for (const { table_name: table } of tables) {
    for (const { row } of await queryOnce(database, `select to_jsonb(t) as row from ${table} t`)) {
      for (const [column, value] of Object.entries(row as Record<string, unknown>)) {
        if (LATER.has(column)) continue
        const isCounted = typeof value === 'number' && column.endsWith('_at')
        if (isCounted) found.push([`${table}.${column}`, value])
        else if (INSTANT.test(String(value))) found.push([`${table}.${column}`, Date.parse(String(value))])
      }
    }
  }
  return found
}
