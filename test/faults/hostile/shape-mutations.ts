// Alterations of a request to a compat API by hostile and broken clients: in its address, parameters, headers and
// body.

import type { Random } from '../../support/rates/random-bank.ts'
import { changeBody } from './shape-bodies.ts'
import { DATES, KEYS, type ShapeRequest, splice } from './shape-requests.ts'

type Mutation = (random: Random, request: ShapeRequest) => ShapeRequest

const PIECES = [
  ...'% %00 %ff %c0%ae%c0%ae/ %c0%af %ed%a0%80 %EF%BB%BF %0d%0a %2e%2e/ %2f %5c .. ../ /../ /./ //'.split(
    ' ',
  ),
  ...'/// \\ ; & & = # ? + /k/ /compat/ /v6/ * \u00e9 \u00ff %e9 %C3%A9 {operation} :day __proto__'.split(
    ' ',
  ),
  ..."/constructor/ [] ' %u0041".split(' '),
]
const VALUES = [
  ...'XXX CRC%00 %F0%9F%92%A9 null ALL * -1 0 1e999 1e-999 NaN Infinity 0x10 1,5 %205%20 .5 5. 1e30'.split(
    ' ',
  ),
  ...'1e-20 1e31 0.00000000000000000001 1e99999999999999999999 %2B1 true USD,USD,usd'.split(' '),
  ...['USD,'.repeat(201), ','.repeat(5000), '9'.repeat(400), 'a'.repeat(9000)],
]
const METHODS = ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE', 'PROPFIND', 'GET']
const HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'application/x-ndjson'],
  ['accept', `${'a/b;q=0.1,'.repeat(500)}*/*`],
  ['accept-encoding', 'gzip, deflate, br;q=0'],
  ['if-none-match', '*'],
  ['if-none-match', '"a",'.repeat(2000)],
  ['content-type', 'text/xml; charset=utf-16'],
  ['content-type', 'text/xml; charset=utf-7'],
  ['content-type', `text/xml${'; charset '.repeat(800)}`],
  ['content-type', 'application/soap+xml;charset="iso-8859-1"'],
  ['content-encoding', 'gzip'],
  ['expect', '100-continue'],
  ['x-http-method-override', 'DELETE'],
  ['range', 'bytes=0-1'],
  ['origin', 'http://example.org'],
  ['x-forwarded-for', '10.7.0.1, nonsense, ::1, 999.1.1.1'],
  ['x-forwarded-for', '10.7.0.1,'.repeat(1000)],
  ['x-forwarded-proto', 'javascript'],
  ['authorization', 'Basic %%%'],
  ['authorization', `Bearer ${'a '.repeat(3000)}`],
  ['authorization', `Bearer${' '.repeat(8000)}`],
  ['soapaction', '"\u00ff"'],
  ['host', 'a:99999'],
  ['host', '<script>'],
  ['x-request-id', '../../etc/passwd'],
  ['cookie', 'a'.repeat(12_000)],
  ['x-api-key', '\u00ff\u00fe'],
]
const ODD = '%00 %2f %20 %ff \u00e9 + %0a . .. %25 : @ %c3%b1 ; ~ '.split(' ')

export const MUTATIONS: readonly Mutation[] = [
  changeAddress,
  changeAddress,
  changeAddress,
  (random, one) => ({ ...one, target: changeCase(random, one.target) }),
  (random, one) => ({ ...one, target: changeDates(random, one.target) }),
  (random, one) => ({ ...one, target: changeDates(random, one.target) }),
  changeParameter,
  changeParameter,
  changeParameter,
  addPrefix,
  changeKey,
  (random, one) => ({ ...one, method: random.item(METHODS) }),
  changeHeader,
  changeHeader,
  changeBody,
  changeBody,
  changeBody,
]

/** Alters a request in one to three ways, or rarely in none. */
export function alterRequest(random: Random, request: ShapeRequest): ShapeRequest {
  let altered = request
  for (let rest = random.int(0, 12) === 0 ? 0 : random.int(1, 3); rest > 0; rest--) {
    altered = random.item(MUTATIONS)(random, altered)
  }
  return altered
}

function changeAddress(random: Random, request: ShapeRequest): ShapeRequest {
  const { target } = request
  const long = random.item(['a', '/', '%', '.', '%20', 'k/'])
  const insertion = random.chance(0.05)
    ? long.repeat(random.int(1, 12_000 / long.length))
    : random.item(PIECES)
  return { ...request, target: splice(random, target, random.item([0, 0, 1, 5]), insertion, 1) }
}

function changeCase(random: Random, text: string): string {
  const swap = (one: string) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())
  return text.replace(/[a-z]/gi, (one) => (random.chance(0.3) ? swap(one) : one))
}

function changeDates(random: Random, text: string): string {
  return text.replace(/\d{4}[-/]\d\d[-/]\d\d|\d\d\/\d\d\/\d{4}/g, (one) =>
    random.chance(0.7) ? random.item(DATES) : one,
  )
}

/** Sets a strange value; or repeats, removes or adds a parameter. */
function changeParameter(random: Random, request: ShapeRequest): ShapeRequest {
  const [path = '', query = ''] = request.target.split('?')
  const parts = query === '' ? [] : query.split('&')
  const at = random.int(0, Math.max(0, parts.length - 1))
  const part = parts[at] ?? 'base=USD'
  const [name = ''] = part.split('=')
  const changedParts = random.item([
    () => parts.with(at % Math.max(1, parts.length), `${name}=${random.item([...VALUES, ...DATES])}`),
    () => [...parts, part],
    () => [...parts, `${name}=${random.item(VALUES)}`],
    () => parts.toSpliced(at, 1),
    () => [
      ...parts,
      random.item(['tipo=ambos', 'tipo=compra', '__proto__=1', '=', 'callback=x', 'a[]=1', 'x']),
    ],
    () => Array.from({ length: 1000 }, () => 'a=1').concat(parts),
  ] as const)
  return { ...request, target: `${path}?${(parts.length === 0 ? [part] : changedParts()).join('&')}` }
}

function addPrefix(random: Random, request: ShapeRequest): ShapeRequest {
  const prefix = random.item([
    `/k/${KEYS.url}`,
    `/K/${KEYS.url}`,
    '/k/',
    '/compat',
    '/k//',
    `/v6/${KEYS.url}`,
  ])
  return { ...request, target: prefix.repeat(random.chance(0.2) ? 100 : random.int(1, 3)) + request.target }
}

/** Alters the keys; a key inside base64 of Basic is unchanged. */
function changeKey(random: Random, request: ShapeRequest): ShapeRequest {
  const odd = random.item(ODD)
  const change = (text: string) => text.replace(/(cbk_zq7w|zq7w)(?=zq7w)/i, (one) => one + odd)
  const target = change(request.target)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, text]) => [name, change(text)]),
  )
  return { ...request, target, headers, body: request.body && Buffer.from(change(request.body.toString())) }
}

function changeHeader(random: Random, request: ShapeRequest): ShapeRequest {
  const [name, value] = random.item(HEADERS)
  return { ...request, headers: { ...request.headers, [name]: value } }
}
