// Files for monitoring: a dashboard for Grafana, alert rules for Prometheus.

import { readAsset } from '../../../runtime/assets.ts'
import { command } from '../../command.ts'

export const metricsDashboard = command({
  name: 'metrics dashboard',
  options: [],
  ignoresService: true,
  async run({ terminal }) {
    terminal.out(readAsset('src/cli/commands/metrics/dashboard.json'))
  },
})

export const metricsRules = command({
  name: 'metrics rules',
  options: [],
  ignoresService: true,
  async run({ terminal }) {
    terminal.out(readAsset('src/cli/commands/metrics/rules.yaml'))
  },
})
