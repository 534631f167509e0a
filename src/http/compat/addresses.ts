// Rewrites the addresses of other services to those of our endpoints. A program may use the upstream's own path, or
// the same path below /compat/<name>/. Both also work below /k/<key>/, for a program that can set only an address.
// Other paths are not rewritten. Below /k/<key>/ they are 404, so that a proxy may allow or deny paths by name.

/** Path and query to route, and the key from the path. */
export type RoutedTarget = { target: string; key: string | undefined }

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
/** Days with slashes, which one program doubles. */
const PAGINASWEB = /^\/api(?:\/+(\d+)\/+(\d+)\/+(\d+))?$/
/** Paths of both Fixer and Frankfurter, and names in a query that only one of the two reads. */
const FIXER_UNVERSIONED = new RegExp(`^/(?:latest|${DATE})$`)
const BASE_CURRENCY = /[?&]base_currency=/
const ACCESS_KEY = /[?&]access_key=/
const FRANKFURTER_NAMES = /[?&](?:from|to|amount)=/

/** Returns the path below `/compat/<name>`; undefined: the path is not of this API. */
type AddressRule = (path: string, query: string) => string | undefined

/** Ordered: the first API of two with the same path has it. */
const RULES: Readonly<Record<string, AddressRule>> = {
  bccr: (path) => (ASMX_FOLDERS.test(path) ? path.replace(ASMX_FOLDERS, ASMX) : undefined),
  sdde(path) {
    const [base] = SDDE_BASE.exec(path) ?? []
    return base && SDDE + path.slice(base.length).toLowerCase() // in any case, as of all that .NET routes
  },
  hacienda: (path) => (/^\/(?:indicadores\/tc|fe)(?:\/|$)/.test(path) ? path : undefined),
  gometa: (path) => (/^\/(?:tdc\/tdc\.json$|cedulas(?:\/|$))/.test(path) ? path : undefined),
  paginasweb(path) {
    const [whole, ...parts] = PAGINASWEB.exec(path) ?? []
    return whole && ['/api', ...parts.filter((part) => part !== undefined)].join('/')
  },
  ecb: (path) => (/^\/stats\/eurofxref(?:\/|$)/.test(path) ? path : undefined),
  oxr: (path) => (OXR.test(path) ? path : undefined),
  fixer(path, query) {
    const isFixer = BASE_CURRENCY.test(query)
      ? UNVERSIONED.test(path)
      : ACCESS_KEY.test(query) && !FRANKFURTER_NAMES.test(query) && FIXER_UNVERSIONED.test(path)
    const [, rest] = FIXER.exec(path) ?? (isFixer ? ['', path.slice(1)] : [])
    return rest && `/api/${rest}`
  },
  currencylayer(path) {
    const [, rest] = APILAYER.exec(path) ?? []
    return rest && `/${rest}`
  },
  'exchangerate-api': (path) => (/^\/v[46]\//.test(path) ? path : undefined),
  frankfurter: (path) => (/^\/v[12](?:\/|$)/.test(path) || UNVERSIONED.test(path) ? path : undefined),
}

/** Further names of an API. */
const ALIASES: Readonly<Record<string, string>> = { 'hacienda-2020': 'hacienda' }

const V6_KEYED = /^(\/v6)\/(?!latest\/)([^/?]+)(?=\/(?:latest|pair|codes|history|quota)(?:[/?]|$))/
const OWN_PATHS = /^\/(?:api\/v1|healthz|readyz|openapi\.json|metrics)(?:[/?]|$)/
const KEY_PREFIX = /^\/k\/([^/?]+)(?=\/)/
const COMPAT_NAME = /^\/compat\/([^/?]+)(?=\/)/

const VALOR = /^\/compat\/valor(?:\?|$)/
/** A path without an endpoint, so 404. */
const NOT_FOUND = { target: '/k', key: undefined }

/**
 * Rewrites a target, which begins with a slash. `takesUrlKeys` returns true for a path of ours that may have a key
 * in front.
 */
export function rewriteTarget(target: string, takesUrlKeys: (path: string) => boolean): RoutedTarget {
  if (OWN_PATHS.test(target)) return { target, key: undefined } // most requests, at the cost of one look
  const [prefix, key] = KEY_PREFIX.exec(target) ?? []
  const rest = prefix === undefined ? target : target.slice(prefix.length)
  const keyedV6 = V6_KEYED.exec(rest.replace(/^\/compat\/exchangerate-api/, ''))
  if (keyedV6) {
    const [whole, version, inside] = keyedV6
    const { path, query } = splitTarget(rest.slice(rest.indexOf(whole) + whole.length))
    return { target: `/compat/exchangerate-api${version}/keyed${path}${query}`, key: inside }
  }
  const compatPath = compatTarget(rest)
  if (prefix === undefined || compatPath !== undefined || VALOR.test(rest))
    return { target: compatPath ?? rest, key }
  const [path = ''] = rest.split('?', 1)
  return takesUrlKeys(path) ? { target: rest, key } : NOT_FOUND
}

function compatTarget(target: string): string | undefined {
  const [prefix = '', name] = COMPAT_NAME.exec(target) ?? []
  const { path, query } = splitTarget(target.slice(prefix.length))
  if (name !== undefined) {
    const upstreamPath = RULES[ALIASES[name] ?? name]?.(path, query) ?? path
    return `/compat/${name}${upstreamPath}${query}`
  }
  for (const [api, rule] of Object.entries(RULES)) {
    const upstreamPath = rule(path, query)
    if (upstreamPath !== undefined) return `/compat/${api}${upstreamPath}${query}`
  }
  return undefined
}

/** Splits off the query, and the slashes at the end of the path. */
function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?')
  const whole = at < 0 ? target.length : at
  let end = whole
  while (target[end - 1] === '/') end -= 1 // a pattern such as /\/+$/ takes the square of the time for slashes within
  return { path: target.slice(0, end), query: target.slice(whole) }
}
