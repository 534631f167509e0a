// Metrics and labels of the dashboard and the alert rules exist in /metrics.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, temporaryDirectory } from '../../support/app.ts'
import { DASHBOARD, PANELS, RULES, RULES_FILE } from '../../support/monitoring.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { send } from '../support.ts'
import { metricsNamed } from './metrics-named.ts'

/** Labels of each sample, by its name. */
const samples = new Map<string, Set<string>>()
const readSamples = (text: string) => {
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const knownLabels = samples.getOrInsertComputed(name, () => new Set(['instance', 'job']))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) knownLabels.add(label)
  }
}

// test/engines/cli/leaks.test.ts covers the metrics of a cluster.
const OF_A_CLUSTER = ['database_silent_seconds', 'commits_waiting', 'clock_offset_seconds']
for (const name of OF_A_CLUSTER.map((one) => `cambista_${one}`)) {
  samples.set(name, new Set(['instance', 'job']))
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

const findFaults = (expr: string, legend = '') => {
  const metrics = [...metricsNamed(expr)]
  const legends = [...legend.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label)
  return metrics.flatMap(({ metric, labels }) => {
    const has = samples.get(metric) ?? (metric === 'up' ? new Set(['instance', 'job']) : undefined)
    if (!has) return [`there is no ${metric}`]
    return [...labels, ...legends]
      .filter((label) => !has.has(label))
      .map((label) => `${metric} has no ${label}`)
  })
}

for (const { alert, expr, summary, description } of RULES) {
  test(`the metrics of the alert ${alert} exist`, () => {
    assert.ok([...metricsNamed(expr)].length > 0)
    assert.deepEqual(findFaults(expr, summary.replace(/\{\{ \$value.*?\}\}/g, '') + description), [])
  })
}

for (const { title, targets } of PANELS) {
  test(`the metrics of the panel ${title} exist`, () => {
    for (const { expr, legendFormat } of targets) assert.deepEqual(findFaults(expr, legendFormat), [])
  })
}

test('the check finds an unknown metric and an unknown label', () => {
  for (const [expr, legend, fault] of [
    ['cambista_dolar_age_days > 2', '', 'there is no cambista_dolar_age_days'],
    ['cambista_rates{side="venta"}', '', 'cambista_rates has no side'],
    ['sum by (path) (rate(cambista_http_request_duration_seconds_count[5m]))', '', /has no path/],
    ['cambista_rates', '{{side}}', 'cambista_rates has no side'],
  ] as const) {
    const faults = findFaults(expr, legend)
    assert.ok(faults.length > 0)
    assert.match(faults[0] ?? '', typeof fault === 'string' ? new RegExp(`^${fault}$`) : fault)
  }
})

test('the alerts are those of the list, each once', () => {
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
  assert.deepEqual([code, out], [0, DASHBOARD])
  const { id, uid, panels } = JSON.parse(out)
  assert.deepEqual([id, uid, panels.length], [null, 'cambista', 23])
  const sources = [...out.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid)
  assert.deepEqual([...new Set(sources)].sort(), ['$datasource', 'cambista'])
  const cells = new Set<string>()
  for (const { gridPos } of PANELS) {
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
  assert.deepEqual([code, out], [0, RULES_FILE])
  assert.equal(RULES.length, out.match(/^ *- alert: /gm)?.length)
  assert.ok(RULES.every(({ expr, summary, description }) => expr && summary && description))
})
