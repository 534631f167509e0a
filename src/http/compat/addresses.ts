// The addresses at which other services' programs ask: at the upstream's own path, below /compat/<shape>/, and both below
// /k/<key>/ for a program that can set an address and nothing else. Here each of them becomes the one address under
// which its endpoint is mounted. What is none of them stays as it is; below /k/<key>/ it is nothing, so that a proxy may
// publish those paths alone, or deny others by their names.

/** A request's target as it is to be routed: the path and query, and the key that stood in the path. */
export type Address = { target: string; key: string | undefined }

const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx'
const ASMX_FOLDERS =
  /^\/(?:indicadores\/suscripciones\/ws|indicadores\/suministro\/sw|indicadoreseconomicos\/webservices)\/wsindicadoreseconomicos\.asmx(?=\/|$)/i
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const SDDE_BASE = /^(?:\/sdde)?\/api\/bccr\.ge\.sdde\.publico\.indicadores\.api(?=\/|$)/i
const DATE = String.raw`\d{4}-\d\d-\d\d`
const UNVERSIONED = new RegExp(`^/(?:latest|current|currencies|${DATE}(?:\\.\\.(?:${DATE})?)?)$`)
const APILAYER = /^(?:\/api|\/currency_data)?\/(live|historical|convert|timeframe|list)$/
const FIXER = new RegExp(`^/(?:api|fixer)/(latest|symbols|timeseries|${DATE}|(?<=fixer/)convert)$`)
const OXR = new RegExp(
  `^/api/(latest|currencies|usage|time-series|historical/${DATE})\\.json$|^/api/convert/[^/]+/[^/]+/[^/]+$`,
)
const KEYED_LATEST = /[?&](?:access_key|base_currency)=/

/** Paths of one shape: what its path below `/compat/<shape>` is; undefined: it is none of this shape. */
type Rule = (path: string, query: string) => string | undefined

/** In this order: of two shapes with the same path the first has it. */
const SHAPES: Readonly<Record<string, Rule>> = {
  bccr: (path) => (ASMX_FOLDERS.test(path) ? path.replace(ASMX_FOLDERS, ASMX) : undefined),
  sdde(path) {
    const [base] = SDDE_BASE.exec(path) ?? []
    return base && SDDE + path.slice(base.length).toLowerCase() // in any case, as of all that .NET routes
  },
  hacienda: (path) => (/^\/(?:indicadores\/tc|fe)(?:\/|$)/.test(path) ? path : undefined),
  oxr: (path) => (OXR.test(path) ? path : undefined),
  fixer(path, query) {
    const [, rest] =
      FIXER.exec(path) ?? (KEYED_LATEST.test(query) && UNVERSIONED.test(path) ? ['', path.slice(1)] : [])
    return rest && `/api/${rest}`
  },
  currencylayer(path) {
    const [, rest] = APILAYER.exec(path) ?? []
    return rest && `/${rest}`
  },
  'exchangerate-api': (path) => (/^\/v[46]\//.test(path) ? path : undefined),
  frankfurter: (path) => (/^\/v[12](?:\/|$)/.test(path) || UNVERSIONED.test(path) ? path : undefined),
}

/** Shapes that are another's under a name of their own. */
const ALIASES: Readonly<Record<string, string>> = { 'hacienda-2020': 'hacienda' }

const V6_KEYED = /^(\/v6)\/(?!latest\/)([^/?]+)(?=\/(?:latest|pair|codes|history|quota)(?:[/?]|$))/
const OWN = /^\/(?:api\/v1|healthz|readyz|openapi\.json|metrics)(?:[/?]|$)/
const KEYED = /^\/k\/([^/?]+)(?=\/)/
const NAMED = /^\/compat\/([^/?]+)(?=\/)/

const VALOR = /^\/compat\/valor(?:\?|$)/
/** A path that a reader of URLs would make a shorter one. */
const DOTS = /^[^?]*(?:\\|\/(?:\.|%2e){1,2}(?:[/?]|$))/i
/** A path without an endpoint. */
const NOWHERE = { target: '/k', key: undefined }

/** Where a request goes; `target` begins with a slash. `takesUrlKeys`: whether a path of ours is there below a key. */
export function addressOf(target: string, takesUrlKeys: (path: string) => boolean): Address {
  if (OWN.test(target)) return { target, key: undefined } // most requests, at the cost of one look
  const [prefix, key] = KEYED.exec(target) ?? []
  const rest = prefix === undefined ? target : target.slice(prefix.length)
  if (prefix !== undefined && DOTS.test(rest)) return NOWHERE
  const own = V6_KEYED.exec(rest.replace(/^\/compat\/exchangerate-api/, ''))
  if (own) {
    const [whole, version, inside] = own
    const { path, query } = partsOf(rest.slice(rest.indexOf(whole) + whole.length))
    return { target: `/compat/exchangerate-api${version}/keyed${path}${query}`, key: inside }
  }
  const found = shapeTarget(rest)
  if (prefix === undefined || found !== undefined || VALOR.test(rest)) return { target: found ?? rest, key }
  const [path = ''] = rest.split('?', 1)
  return takesUrlKeys(path) ? { target: rest, key } : NOWHERE
}

function shapeTarget(target: string): string | undefined {
  const [prefix = '', name] = NAMED.exec(target) ?? []
  const { path, query } = partsOf(target.slice(prefix.length))
  if (name !== undefined) {
    const found = SHAPES[ALIASES[name] ?? name]?.(path, query) ?? path
    return `/compat/${name}${found}${query}`
  }
  for (const [shape, rule] of Object.entries(SHAPES)) {
    const found = rule(path, query)
    if (found !== undefined) return `/compat/${shape}${found}${query}`
  }
  return undefined
}

/** A path without slashes at its end, and its query. */
function partsOf(target: string): { path: string; query: string } {
  const at = target.indexOf('?')
  const whole = at < 0 ? target.length : at
  let end = whole
  while (target[end - 1] === '/') end -= 1 // a pattern such as /\/+$/ takes the square of the time for slashes within
  return { path: target.slice(0, end), query: target.slice(whole) }
}
