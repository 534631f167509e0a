// Files for monitoring: a dashboard for Grafana, alert rules for Prometheus.

import { readAsset } from '../../../runtime/assets.ts'
import { command } from '../../command.ts'

export const metricsDashboard = printCommand('metrics dashboard', 'dashboard.json')
export const metricsRules = printCommand('metrics rules', 'rules.yaml')

function printCommand(name: string, file: string) {
  return command({
    ...{ name, options: [], ignoresService: true },
    run: async ({ terminal }) => terminal.out(readAsset(`src/cli/commands/metrics/${file}`)),
  })
}
