// Alert rules for Prometheus. An alert is something to do: each says what, and none goes off for what mends itself within
// minutes. `critical` cannot wait for the morning.

export type Rule = {
  alert: string
  /** Of every cambista that is scraped under the job of this name. */
  expr: string
  for: string
  severity: 'critical' | 'warning' | 'info'
  summary: string
  description: string
}

const JOB = '{job="cambista"}'
const HOURS_36 = 36 * 3600 // a day, and half a day for what is tried again

export const RULES: readonly Rule[] = [
  {
    alert: 'CambistaDown',
    expr: `up${JOB} == 0`,
    for: '5m',
    severity: 'critical',
    summary: 'cambista does not answer',
    description: 'Nothing can be asked and no document sent. systemctl status cambista and its log say why.',
  },
  {
    alert: 'CambistaDollarOld',
    expr: `cambista_dollar_age_days${JOB} > 2`,
    for: '1h',
    severity: 'critical',
    summary: 'the {{ $labels.side }} of the dollar is {{ $value }} days old',
    description:
      'Conversions answer with an old rate. GET /api/v1/status and cambista doctor say what is missing.',
  },
  {
    alert: 'CambistaSideMissing',
    expr: `max without (side) (cambista_dollar_age_days${JOB}) > min without (side) (cambista_dollar_age_days${JOB})`,
    for: '6h',
    severity: 'warning',
    summary: 'one side of the dollar is behind the other',
    description: 'The bank has published one of compra and venta, or one request failed: see the last syncs.',
  },
  {
    alert: 'CambistaSyncOverdue',
    expr: `cambista_last_good_sync_age_seconds${JOB} > ${HOURS_36} or time() - cambista_next_sync_timestamp_seconds${JOB} > 3600`,
    for: '10m',
    severity: 'warning',
    summary: 'no sync has come to a good end for more than a day, or the next is overdue',
    description:
      'GET /api/v1/sync/runs has the reasons in words; is the bank to be reached from this machine?',
  },
  {
    alert: 'CambistaRoundedValues',
    expr: `cambista_rates_rounded${JOB} > 0`,
    for: '1d',
    severity: 'info',
    summary: '{{ $value }} stored values are rounded',
    description: "They were read from the bank's website. With a token of the bank they are read again.",
  },
  {
    alert: 'CambistaBackupFailed',
    expr: `cambista_backup_ok${JOB} == 0`,
    for: '2h',
    severity: 'warning',
    summary: 'the last backup failed, or has faults',
    description: 'It is tried again each hour; the log says what is wrong (backup failed, backup fault).',
  },
  {
    alert: 'CambistaBackupOld',
    expr: `cambista_verified_backup_age_seconds${JOB} > ${HOURS_36}`,
    for: '1h',
    severity: 'critical',
    summary: 'the newest backup that was verified is older than a day and a half',
    description: 'What came since is on one disk alone. cambista backup verify DIR reads the newest one.',
  },
  {
    alert: 'CambistaDatabaseSilent',
    expr: `cambista_database_silent_seconds${JOB} > 60`,
    for: '1m',
    severity: 'critical',
    summary: 'the database that nodes share has not answered for {{ $value }} s',
    description:
      'No document can be sent or read, and rates are answered for --stale-for only. The log says why (the database does not answer).',
  },
  {
    alert: 'CambistaClockOff',
    expr: `abs(cambista_clock_offset_seconds${JOB}) > 10`,
    for: '10m',
    severity: 'warning',
    summary: 'the clock of this machine is {{ $value }} s off that of the database',
    description: 'A node that is more than a minute off is not ready. Is its time set by NTP?',
  },
  {
    alert: 'CambistaDiskAlmostFull',
    expr: `cambista_disk_free_bytes${JOB} < 1e9`,
    for: '5m',
    severity: 'critical',
    summary: '{{ $value | humanize1024 }}B are left on the disk',
    description:
      'Uploads are refused when less than --min-free is left, and nothing can be stored when none is.',
  },
  {
    alert: 'CambistaDiskFillsUp',
    expr: `predict_linear(cambista_disk_free_bytes${JOB}[6h], 86400) < 0`,
    for: '1h',
    severity: 'warning',
    summary: 'the disk will be full within a day',
    description: 'As it went in the last six hours. cambista document purge deletes old documents.',
  },
  {
    alert: 'CambistaErrors',
    expr:
      `sum without (method, route, status) (rate(cambista_http_request_duration_seconds_count{job="cambista",status=~"5.."}[10m]))` +
      ` > 0.01 * sum without (method, route, status) (rate(cambista_http_request_duration_seconds_count${JOB}[10m]))`,
    for: '10m',
    severity: 'warning',
    summary: 'more than one request of a hundred is answered with 5xx',
    description:
      'The log has a cause for each 500 (request failed), and a reason for others (request refused).',
  },
  {
    alert: 'CambistaUploadsWait',
    expr: `cambista_uploads_waiting${JOB} > 0`,
    for: '10m',
    severity: 'warning',
    summary: '{{ $value }} uploads wait for their turn',
    description: 'Clients get 503. The disk is slow, or --max-uploads too low for as many senders.',
  },
  {
    alert: 'CambistaHooksFailing',
    expr: `cambista_hooks_failing${JOB} > 0`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} hooks are not told what happens',
    description:
      'cambista hook list says why, cambista hook test ID tries one. A message is given up after a day.',
  },
  {
    alert: 'CambistaHookMessagesLost',
    expr: `delta(cambista_hook_messages_given_up${JOB}[1h]) > 0`,
    for: '0m',
    severity: 'warning',
    summary: '{{ $value }} messages for hooks were given up',
    description:
      'Their receivers do not know of these documents or rates: the lists of the APIs have them (hook message given up).',
  },
]

/** A file of rules: YAML, of which texts in quotes as JSON has them are a part. */
export function rulesFile(): string {
  const rules = RULES.map(
    ({ alert, expr, for: pending, severity, summary, description }) => `      - alert: ${alert}
        expr: ${JSON.stringify(expr)}
        for: ${pending}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(summary)}
          description: ${JSON.stringify(description)}
`,
  )
  return `# Alerts of cambista (cambista metrics rules). The job of the scrape is called cambista.
groups:
  - name: cambista
    rules:
${rules.join('')}`
}
