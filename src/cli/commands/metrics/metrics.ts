// What a monitoring system is given: a dashboard for Grafana, alert rules for Prometheus.

import { command } from '../../command.ts'

const NEEDS = 'They read what serve shows with --metrics or --metrics-port (cambista manual logs).'

export const metricsDashboard = command({
  name: 'metrics dashboard',
  positionals: [],
  summary: 'print a dashboard for Grafana, as JSON to import or to provision',
  about: `${NEEDS}\nIts data source is a variable, so that it is good for any Grafana as it is.`,
  options: [],
  ignoresService: true,
  changesData: false,
  example: 'cambista metrics dashboard > /etc/grafana/dashboards/cambista.json',
  async run({ terminal }) {
    const { dashboard } = await import('./dashboard.ts') // what no other command needs
    terminal.out(`${JSON.stringify(dashboard(), null, 2)}\n`)
    return 0
  },
})

export const metricsRules = command({
  name: 'metrics rules',
  positionals: [],
  summary: 'print alert rules for Prometheus, as YAML',
  about: `${NEEDS}\nThe job of the scrape must be called cambista, as the rules expect.`,
  options: [],
  ignoresService: true,
  changesData: false,
  example: 'cambista metrics rules > /etc/prometheus/rules/cambista.yml',
  async run({ terminal }) {
    const { rulesFile } = await import('./rules.ts')
    terminal.out(rulesFile())
    return 0
  },
})
