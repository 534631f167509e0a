// The panels of the dashboard and the alert rules, read from the files that the program prints.

import { readAsset } from '../../src/runtime/assets.ts'

type Panel = {
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string; legendFormat: string }[]
}

export const DASHBOARD = readAsset('src/cli/commands/metrics/dashboard.json')
export const PANELS: readonly Panel[] = JSON.parse(DASHBOARD).panels

export const RULES_FILE = readAsset('src/cli/commands/metrics/rules.yaml')
export const RULES = [...RULES_FILE.matchAll(/^ {6}- alert: (\w+)\n((?: {8}.*\n)+)/gm)].map(
  ([, alert = '', fields = '']) => {
    const fieldText = (field: string): string =>
      JSON.parse(new RegExp(`^ +${field}: (".*")$`, 'm').exec(fields)?.[1] ?? 'null')
    return {
      alert,
      expr: fieldText('expr'),
      summary: fieldText('summary'),
      description: fieldText('description'),
    }
  },
)
