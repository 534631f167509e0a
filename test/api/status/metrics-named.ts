// Returns the metrics of a Prometheus query, each with the labels of its matchers, sums and groups.

const METRIC = /\b(up|(?:cambista|process|nodejs)_\w+)(?:\{([^}]*)\})?/g

export function* metricsNamed(expr: string): Generator<{ metric: string; labels: string[] }> {
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  )
  for (const [, metric = '', matchers = ''] of expr.matchAll(METRIC)) {
    const matched = [...matchers.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    yield { metric, labels: [...matched, ...grouped] }
  }
}
