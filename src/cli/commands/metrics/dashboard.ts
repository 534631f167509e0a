// A dashboard for Grafana: what an alert asks about first is at the top. Queries name the instance, so that several
// servers can be looked at one by one or together.

type Query = { expr: string; legend?: string }

type Panel = {
  title: string
  kind: 'stat' | 'timeseries'
  /** In Grafana's words: s, bytes, short, reqps. */
  unit: string
  queries: readonly Query[]
  /** Where the colour turns orange, and red. */
  orange?: number
  red?: number
  /** Red is below, not above. */
  isWorseBelow?: boolean
}

const OF = '{instance=~"$instance"}'
const REQUESTS = 'cambista_http_request_duration_seconds'
const COLUMNS = 24
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 8, h: 8 } } as const
const DAY_S = 86_400

export const PANELS: readonly Panel[] = [
  stat('Dollar, age in days', 'short', [{ expr: `cambista_dollar_age_days${OF}`, legend: '{{side}}' }], 2, 3),
  stat(
    'Last good sync',
    's',
    [{ expr: `cambista_last_good_sync_age_seconds${OF}` }],
    1.2 * DAY_S,
    1.5 * DAY_S,
  ),
  stat('Next sync in', 's', [{ expr: `cambista_next_sync_timestamp_seconds${OF} - time()` }]),
  stat(
    'Last verified backup',
    's',
    [{ expr: `cambista_verified_backup_age_seconds${OF}` }],
    1.2 * DAY_S,
    1.5 * DAY_S,
  ),
  {
    ...stat('Free disk', 'bytes', [{ expr: `cambista_disk_free_bytes${OF}` }], 5e9, 1e9),
    isWorseBelow: true,
  },
  stat('Rounded values', 'short', [{ expr: `cambista_rates_rounded${OF}` }], 1),
  stat('Version', 'short', [{ expr: `cambista_build_info${OF}`, legend: '{{version}}' }]),
  stat('Values of rates', 'short', [{ expr: `cambista_rates${OF}` }]),
  stat('Documents', 'short', [{ expr: `cambista_documents${OF}` }]),
  stat('Their contents', 'bytes', [{ expr: `cambista_blob_bytes${OF}` }]),
  stat('Contents, each counted once', 'short', [{ expr: `cambista_blobs${OF}` }]),
  stat('Last backup is good', 'short', [{ expr: `cambista_backup_ok${OF}` }]),
  graph('Requests', 'reqps', [
    { expr: `sum by (status) (rate(${REQUESTS}_count${OF}[$__rate_interval]))`, legend: '{{status}}' },
  ]),
  graph('5xx, by route', 'reqps', [
    {
      expr: `sum by (route, status) (rate(${REQUESTS}_count{instance=~"$instance",status=~"5.."}[$__rate_interval]))`,
      legend: '{{status}} {{route}}',
    },
  ]),
  graph(
    'Duration',
    's',
    ['0.5', '0.95', '0.99'].map((share) => ({
      expr: `histogram_quantile(${share}, sum by (le) (rate(${REQUESTS}_bucket${OF}[$__rate_interval])))`,
      legend: share,
    })),
  ),
  graph('Uploads and waits', 'short', [
    { expr: `cambista_uploads_in_flight${OF}`, legend: 'uploads under way' },
    { expr: `cambista_uploads_waiting${OF}`, legend: 'uploads that wait' },
    { expr: `cambista_document_waits${OF}`, legend: 'waits for a document' },
  ]),
  graph('Hooks', 'short', [
    { expr: `cambista_hooks_failing${OF}`, legend: 'hooks that fail' },
    { expr: `cambista_hook_messages_waiting${OF}`, legend: 'messages that wait' },
    { expr: `cambista_hook_messages_given_up${OF}`, legend: 'messages given up' },
  ]),
  graph('Age of the dollar, in days', 'short', [
    { expr: `cambista_dollar_age_days${OF}`, legend: '{{side}}' },
  ]),
  graph('Syncs a day', 'short', [
    { expr: `sum by (status) (increase(cambista_sync_runs_total${OF}[1d]))`, legend: '{{status}}' },
  ]),
  graph('Free disk', 'bytes', [{ expr: `cambista_disk_free_bytes${OF}`, legend: '{{instance}}' }]),
  graph('Memory', 'bytes', [
    { expr: `process_resident_memory_bytes${OF}`, legend: 'process' },
    { expr: `cambista_cache_bytes${OF}`, legend: 'cache: {{cache}}' },
  ]),
  graph('Processor and delay', 'short', [
    { expr: `rate(process_cpu_seconds_total${OF}[$__rate_interval])`, legend: 'processors' },
    { expr: `nodejs_eventloop_lag_p99_seconds${OF}`, legend: 'delay of the event loop, s' },
  ]),
  graph('Found in the caches, share', 'percentunit', [
    {
      expr:
        `sum by (cache) (rate(cambista_cache_hits_total${OF}[$__rate_interval])) / ` +
        `(sum by (cache) (rate(cambista_cache_hits_total${OF}[$__rate_interval])) + ` +
        `sum by (cache) (rate(cambista_cache_misses_total${OF}[$__rate_interval])))`,
      legend: '{{cache}}',
    },
  ]),
]

/** The dashboard as Grafana imports and provisions it. */
export function dashboard(): Record<string, unknown> {
  const source = { type: 'prometheus', uid: '$datasource' }
  let [x, y, row] = [0, 0, 0]
  const panels = PANELS.map((panel, at) => {
    const { w, h } = SIZES[panel.kind]
    if (x + w > COLUMNS || (row !== h && x > 0)) [x, y] = [0, y + row]
    const gridPos = { x, y, w, h }
    ;[x, row] = [x + w, h]
    return panelOf(panel, { id: at + 1, gridPos, datasource: source })
  })
  return {
    id: null,
    uid: 'cambista',
    title: 'cambista',
    tags: ['cambista'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    timezone: 'browser',
    refresh: '1m',
    time: { from: 'now-24h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', refresh: 1 },
        {
          name: 'instance',
          label: 'Server',
          type: 'query',
          datasource: source,
          query: { query: 'label_values(cambista_build_info, instance)', refId: 'instance' },
          refresh: 2,
          multi: true,
          includeAll: true,
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    annotations: { list: [] },
    panels,
  }
}

function stat(title: string, unit: string, queries: Query[], orange?: number, red?: number): Panel {
  return {
    title,
    kind: 'stat',
    unit,
    queries,
    ...(orange !== undefined && { orange }),
    ...(red !== undefined && { red }),
  }
}

function graph(title: string, unit: string, queries: Query[]): Panel {
  return { title, kind: 'timeseries', unit, queries }
}

function panelOf(panel: Panel, place: { id: number; gridPos: object; datasource: object }) {
  const { title, kind, unit, queries } = panel
  return {
    ...place,
    type: kind,
    title,
    targets: queries.map(({ expr, legend = '{{instance}}' }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: place.datasource,
      expr,
      legendFormat: legend,
      ...(kind === 'stat' && { instant: true, range: false }),
    })),
    fieldConfig: { defaults: { unit, thresholds: thresholdsOf(panel) }, overrides: [] },
    options:
      kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: title === 'Version' ? 'name' : 'auto' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  }
}

/** Steps from the lowest value up; the first has none. */
function thresholdsOf({ orange, red, isWorseBelow }: Panel): Record<string, unknown> {
  const step = (color: string, value: number | null = null) => ({ color, value })
  const steps = isWorseBelow
    ? [step('red'), step('orange', red), step('green', orange)]
    : [
        step('green'),
        ...(orange === undefined ? [] : [step('orange', orange)]),
        ...(red === undefined ? [] : [step('red', red)]),
      ]
  return { mode: 'absolute', steps }
}
