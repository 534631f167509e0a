// Checks the alert rules and the dashboard's queries with promtool, Prometheus's own tool. Only in the long version,
// which needs Debian's package prometheus.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PANELS, RULES, RULES_FILE } from '../support/monitoring.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, LONG } from './scale.ts'

const SERIES = 'job="cambista", instance="a"'

/** Cases of a rule: a series, its value, and the alerts that fire after a day of it. */
const CASES: { series: string; values: string; alerts: string[] }[] = [
  { series: 'up', values: '0', alerts: ['CambistaDown'] },
  { series: 'up', values: '1', alerts: [] },
  { series: 'cambista_hooks_failing', values: '1', alerts: ['CambistaHooksFailing'] },
  { series: 'cambista_hooks_failing', values: '0', alerts: [] },
  { series: 'cambista_hook_messages_given_up', values: '3', alerts: [] },
  { series: 'cambista_rates_rounded', values: '12', alerts: ['CambistaRoundedValues'] },
  { series: 'cambista_rates_rounded', values: '0', alerts: [] },
  { series: 'cambista_rates_damaged', values: '1', alerts: ['CambistaDamagedValues'] },
  { series: 'cambista_rates_damaged', values: '0', alerts: [] },
  { series: 'cambista_last_good_sync_age_seconds', values: '1e99', alerts: ['CambistaSyncOverdue'] },
  { series: 'cambista_last_good_sync_age_seconds', values: '100000', alerts: [] },
  { series: 'cambista_backup_ok', values: '0', alerts: ['CambistaBackupFailed'] },
  { series: 'cambista_verified_backup_age_seconds', values: '1e99', alerts: ['CambistaBackupOld'] },
  { series: 'cambista_verified_backup_age_seconds', values: '90000', alerts: [] },
  { series: 'cambista_disk_free_bytes', values: '5e8', alerts: ['CambistaDiskAlmostFull'] },
  { series: 'cambista_disk_free_bytes', values: '5e10', alerts: [] },
  { series: 'cambista_uploads_waiting', values: '3', alerts: ['CambistaUploadsWait'] },
  { series: 'cambista_database_silent_seconds', values: '120', alerts: ['CambistaDatabaseSilent'] },
  { series: 'cambista_database_silent_seconds', values: '20', alerts: [] },
  { series: 'cambista_clock_offset_seconds', values: '-15', alerts: ['CambistaClockOff'] },
  { series: 'cambista_clock_offset_seconds', values: '3', alerts: [] },
]

function promtool(t: TestContext, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' })
  assert.equal(error, undefined, 'install the Debian package prometheus')
  assert.equal(status, 0, stdout + stderr)
  figure(t, args.slice(0, 2).join(' '), stdout.trim().split('\n').at(-1) ?? '')
  return stdout
}

if (LONG) {
  test('Prometheus accepts the alert rules and the dashboard queries', (t) => {
    const dir = temporaryDirectory(t)
    const rules = join(dir, 'rules.yml')
    writeFileSync(rules, RULES_FILE)
    assert.ok(promtool(t, 'check', 'rules', rules).includes(`${RULES.length} rules found`))
    const queries = PANELS.flatMap((panel) => panel.targets).map(({ expr }, at) => {
      const plain = expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')
      return { record: `panel:${at}`, expr: plain }
    })
    const queryFile = join(dir, 'dashboard.yml') // JSON is YAML
    writeFileSync(queryFile, JSON.stringify({ groups: [{ name: 'panels', rules: queries }] }))
    assert.ok(promtool(t, 'check', 'rules', queryFile).includes(`${queries.length} rules found`))
  })

  test('each alert fires for its condition alone', (t) => {
    const dir = temporaryDirectory(t)
    writeFileSync(join(dir, 'rules.yml'), RULES_FILE)
    const selector = (name: string, labels = '') => `${name}{${SERIES}${labels}}`
    const steady = (value: string) => `${value}x1600` // a minute each
    const groups = CASES.map(({ series, values, alerts }) => ({
      interval: '1m',
      input_series: [{ series: selector(series), values: steady(values) }],
      promql_expr_test: RULES.map(({ alert }) => ({
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: '26h',
        exp_samples: [{ labels: '{}', value: alerts.includes(alert) ? 1 : 0 }],
      })),
    }))
    const sides = (compra: string, venta: string, alerts: string[]) => ({
      interval: '1m',
      input_series: [
        { series: selector('cambista_dollar_age_days', ', side="compra"'), values: steady(compra) },
        { series: selector('cambista_dollar_age_days', ', side="venta"'), values: steady(venta) },
      ],
      promql_expr_test: ['CambistaDollarOld', 'CambistaSideMissing'].map((alert) => ({
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: '26h',
        exp_samples: [{ labels: '{}', value: alerts.filter((name) => name === alert).length }],
      })),
    })
    const http = (status: string, errors: number) => ({
      interval: '1m',
      input_series: [
        {
          series: selector(
            'cambista_http_request_duration_seconds_count',
            ', method="GET", route="/", status="200"',
          ),
          values: '0+100x1600',
        },
        {
          series: selector(
            'cambista_http_request_duration_seconds_count',
            `, method="GET", route="/", status="${status}"`,
          ),
          values: `0+${errors}x1600`,
        },
      ],
      promql_expr_test: [
        {
          expr: 'count(ALERTS{alertname="CambistaErrors",alertstate="firing"}) or vector(0)',
          eval_time: '26h',
          exp_samples: [{ labels: '{}', value: status === '500' && errors > 1 ? 1 : 0 }],
        },
      ],
    })
    const tests = [
      ...groups,
      sides('-1', '0', ['CambistaSideMissing']),
      sides('0', '0', []),
      sides('3', '2', ['CambistaDollarOld', 'CambistaSideMissing']),
      sides('1e99', '0', ['CambistaDollarOld', 'CambistaSideMissing']),
      http('500', 5),
      http('404', 50),
    ]
    const file = join(dir, 'tests.yml')
    writeFileSync(file, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests }))
    promtool(t, 'test', 'rules', file)
  })
}
