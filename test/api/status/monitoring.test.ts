// The dashboard and the alert rules name metrics and labels that /metrics has, and nothing else.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { dashboard, PANELS } from '../../../src/cli/commands/metrics/dashboard.ts'
import { RULES } from '../../../src/cli/commands/metrics/rules.ts'
import { startTestApp, temporaryDirectory } from '../../support/app.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { send } from '../support.ts'
import { metricsNamed } from './metrics-named.ts'

/** Labels of each sample, by its name. */
const shown = new Map<string, Set<string>>()
const readSamples = (text: string) => {
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const known = shown.getOrInsertComputed(name, () => new Set(['instance', 'job']))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
  }
}

// Those of nodes that share a database are seen in test/engines/cli/leaks.test.ts.
for (const name of ['cambista_database_silent_seconds', 'cambista_clock_offset_seconds']) {
  shown.set(name, new Set(['instance', 'job']))
}

before(async (t) => {
  const home = temporaryDirectory(t as TestContext)
  mkdirSync(join(home, 'disk'))
  const app = await startTestApp(t as TestContext, {
    scheduler: true,
    listen: { metrics: 'local' },
    backup: { dir: join(home, 'disk/set'), cron: '30 3 * * *', keep: 7 },
  })
  await until(async () => (await send(`${app.app.url}/metrics`)).body.includes('cambista_backup_ok 1'))
  await app.get('/api/v1/rates')
  await until(async () => (await send(`${app.app.url}/metrics`)).body.includes('route="/api/v1/rates"'))
  readSamples((await send(`${app.app.url}/metrics`)).body)
})

const faultsOf = (expr: string, legend = '') => {
  const used = [...metricsNamed(expr)]
  const legends = [...legend.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label)
  return used.flatMap(({ metric, labels }) => {
    const has = shown.get(metric) ?? (metric === 'up' ? new Set(['instance', 'job']) : undefined)
    if (!has) return [`there is no ${metric}`]
    return [...labels, ...legends]
      .filter((label) => !has.has(label))
      .map((label) => `${metric} has no ${label}`)
  })
}

for (const { alert, expr, summary, description } of RULES) {
  test(`what ${alert} reads is there`, () => {
    assert.ok([...metricsNamed(expr)].length > 0)
    assert.deepEqual(faultsOf(expr, summary.replace(/\{\{ \$value.*?\}\}/g, '') + description), [])
  })
}

for (const { title, queries } of PANELS) {
  test(`what the panel ${title} shows is there`, () => {
    for (const { expr, legend } of queries) assert.deepEqual(faultsOf(expr, legend), [])
  })
}

test('a metric or a label that is not there would be noticed', () => {
  for (const [expr, legend, fault] of [
    ['cambista_dolar_age_days > 2', '', 'there is no cambista_dolar_age_days'],
    ['cambista_rates{side="venta"}', '', 'cambista_rates has no side'],
    ['sum by (path) (rate(cambista_http_request_duration_seconds_count[5m]))', '', /has no path/],
    ['cambista_rates', '{{side}}', 'cambista_rates has no side'],
  ] as const) {
    const faults = faultsOf(expr, legend)
    assert.ok(faults.length > 0)
    assert.match(faults[0] ?? '', typeof fault === 'string' ? new RegExp(`^${fault}$`) : fault)
  }
})

test('the alerts are those that were asked for, each once', () => {
  const names = RULES.map(({ alert }) => alert)
  assert.equal(new Set(names).size, names.length)
  for (const about of 'Down DollarOld SideMissing SyncOverdue Rounded Backup Disk Errors UploadsWait'.split(
    ' ',
  )) {
    assert.ok(
      names.some((name) => name.startsWith(`Cambista${about}`)),
      about,
    )
  }
})

test('the dashboard is JSON to provision: no id, its data source a variable, its panels side by side', async () => {
  const { code, out } = await runCommand(['metrics', 'dashboard'])
  assert.equal(code, 0)
  const board = JSON.parse(out)
  assert.deepEqual(board, JSON.parse(JSON.stringify(dashboard())))
  assert.deepEqual([board.id, board.uid, board.panels.length], [null, 'cambista', PANELS.length])
  const sources = [...out.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid)
  assert.deepEqual([...new Set(sources)].sort(), ['$datasource', 'cambista'])
  const cells = new Set<string>()
  for (const { gridPos } of board.panels as { gridPos: { x: number; y: number; w: number; h: number } }[]) {
    assert.ok(gridPos.x + gridPos.w <= 24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(!cells.has(`${x} ${y}`), JSON.stringify(gridPos))
        cells.add(`${x} ${y}`)
      }
    }
  }
})

test('the rules are YAML with every alert', async () => {
  const { code, out } = await runCommand(['metrics', 'rules'])
  assert.equal(code, 0)
  for (const { alert, expr } of RULES) {
    assert.ok(out.includes(`      - alert: ${alert}\n        expr: ${JSON.stringify(expr)}\n`), alert)
  }
})
