// The bank's old web service `wsindicadoreseconomicos.asmx`, which was switched off in 2026: both operations by GET,
// form and SOAP. Its key is a parameter like others, so that a body is read before the client is known.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { parseXml } from '../../../formats/xml.ts'
import { readAsset } from '../../../runtime/assets.ts'
import { AppError } from '../../../runtime/errors.ts'
import { earliest } from '../../../values/dates.ts'
import { nodeContext } from '../../endpoint/answers/send.ts'
import { type Api, pathParameters } from '../../endpoint/api.ts'
import { readWholeBody } from '../../endpoint/body.ts'
import { type AnyEndpoint, get, post, type Reply } from '../../endpoint/endpoint.ts'
import { type ErrorShape, errorAnswer } from '../../endpoint/error-shape.ts'
import { hasKey } from '../admission.ts'
import { lowerCaseNames } from '../any-case.ts'
import {
  findIndicator,
  findIndicatorValues,
  findStoredValues,
  type IndicatorValues,
  isStoredIndicator,
  lackedDays,
} from '../indicators.ts'
import { completeParts, readMissingDays } from '../missing-days.ts'
import { requestedUrl } from '../origin.ts'
import { type CompatDeps, type CompatRequest, checkFormat, compatReply, PROVIDER } from '../shape.ts'
import {
  findOperation,
  type IndicatorQuery,
  missingParameter,
  OPERATIONS,
  type Operation,
  type Parameters,
  parseIndicatorQuery,
} from './operation.ts'
import { encodeDataSet, encodeDocument, encodeText, escapeText } from './rows.ts'
import { encodeEnvelope, faultReply, parseCall, SOAP_TYPES, type SoapVersion, soapVersion } from './soap.ts'

const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: 'text/plain; charset=utf-8',
  otherTypes: Object.values(SOAP_TYPES),
  status: (status, details) => (readMissingDays(details) ? 500 : status),
  body: (_, message, details) => (readMissingDays(details) ? sentence(message) : message),
  schema: v.string(),
}

const NAME = 'wsindicadoreseconomicos'
const ROOT = `/compat/bccr/Indicadores/Suscripciones/WS/${NAME}.asmx` as const
const SCHEMA_REFERENCE = /^ *<s:element ref="s:schema" \/>\n/gm
const XML_TYPE = 'text/xml; charset=utf-8'
const BODY_LIMITS = { idleMs: 10_000 }
const ANSWER_TYPES = ['text/xml', 'application/soap+xml', 'text/html', 'text/plain']
/** Fields of each endpoint. Open: `callReply` checks the key in the parameters. */
const ENDPOINT = { answer: v.any(), contentTypes: ANSWER_TYPES, open: true, ignoresUnknown: true } as const
/** Fields of an endpoint for calls. */
const CALL_ENDPOINT = { ...ENDPOINT, sends: ['X-Rounded-To'] } as const

/** Binding of a call and of its answer. */
type Binding = 'http' | SoapVersion
type Call = { binding: Binding; operation: Operation; parameters: Parameters }

export function bccrApi(deps: CompatDeps, proxies: BlockList | undefined): Api {
  return { prefixes: ['/compat/bccr'], errors: ERRORS, endpoints: endpoints(deps, proxies) }
}

function endpoints(deps: CompatDeps, proxies: BlockList | undefined): AnyEndpoint[] {
  return [
    get({
      ...ENDPOINT,
      path: ROOT,
      handle: ({ event }) => descriptionReply(event, proxies),
    }),
    post({
      ...CALL_ENDPOINT,
      path: ROOT,
      body: v.any(),
      bodyTypes: ['text/xml', 'application/soap+xml'],
      handle: ({ event }) => soapReply(deps, event),
    }),
    get({
      ...CALL_ENDPOINT,
      path: `${ROOT}/{operation}`,
      handle: ({ event }) => httpReply(deps, event, event.url.searchParams),
    }),
    post({
      ...CALL_ENDPOINT,
      path: `${ROOT}/{operation}`,
      body: v.any(),
      bodyTypes: ['application/x-www-form-urlencoded'],
      async handle({ event }) {
        const body = await readWholeBody(event, BODY_LIMITS)
        return httpReply(deps, event, new URLSearchParams(body.toString('latin1')))
      },
    }),
  ]
}

/**
 * Replies with the WSDL or a page. No cache may store it: it contains host and path of this client, maybe with a
 * key.
 */
function descriptionReply(event: H3Event, proxies: BlockList | undefined): Reply {
  const parameters = lowerCaseNames(event.url.searchParams)
  if (!parameters.has('wsdl'))
    return { body: htmlPage(), headers: { 'content-type': 'text/html; charset=utf-8' } }
  const address = requestedUrl(nodeContext(event).req, proxies)
  const body = wsdl(address, parameters.get('simple') === '1')
  return { body, headers: { 'content-type': XML_TYPE } }
}

/**
 * The description as .NET wrote it, with an address for all its ports: programs make their calls from it.
 * `isSimple`: without the reference to the schema of schemas, which some libraries would have to fetch.
 */
function wsdl(address: string, isSimple: boolean): string {
  const text = readAsset(`src/http/compat/bccr/${NAME}.wsdl`).trimEnd()
  const lines = isSimple ? text.replace(SCHEMA_REFERENCE, '') : text
  const location = escapeText(address).replaceAll('"', '&quot;')
  return lines.replaceAll('\n', '\r\n').replaceAll('{address}', () => location)
}

/** The page for a browser at the address of the service. */
function htmlPage(): string {
  const operations = OPERATIONS.map(({ name }) => `<li>${name}</li>`).join('')
  return `<!DOCTYPE html><html lang="es"><head><meta charset="utf-8"><title>${NAME}</title></head><body><h1>${NAME}</h1><ul>${operations}</ul><p><a href="?WSDL">WSDL</a></p></body></html>`
}

/** Returns a name for an error text. Other text may contain a key and is not repeated. */
function displayName(name: string): string {
  return /^[A-Za-z]{0,64}$/.test(name) ? name : ''
}

function httpReply(deps: CompatDeps, event: H3Event, searchParams: URLSearchParams): Reply | Promise<Reply> {
  const { operation: name = '' } = pathParameters(event)
  const operation = findOperation(name)
  if (!operation) {
    return plain500(`Request format is unrecognized for URL unexpectedly ending in '/${displayName(name)}'.`)
  }
  const parameters = lowerCaseNames(searchParams)
  const absent = missingParameter(parameters)
  if (absent !== undefined) return plain500(`Missing parameter: ${absent}.`)
  checkFormat(parameters, XML_TYPE)
  return callReply(deps, event, { binding: 'http', operation, parameters })
}

async function soapReply(deps: CompatDeps, event: H3Event): Promise<Reply> {
  const bytes = await readWholeBody(event, BODY_LIMITS)
  const contentType = event.req.headers.get('content-type')
  const call = readCall(bytes, contentType)
  if (call instanceof AppError) {
    return faultReply(soapVersion(contentType), `Server was unable to read request. ---> ${call.message}`)
  }
  const { version, name, parameters } = call
  const operation = findOperation(name)
  if (!operation) return faultReply(version, `Server did not recognize the operation ${name}.`)
  try {
    return await callReply(deps, event, { binding: version, operation, parameters })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isHole = readMissingDays(error.details) !== undefined
    if (!isHole && error.code !== 'too-many') throw error
    const { status, body, headers } = errorAnswer(error, ERRORS)
    const fault = faultReply(version, body, { status, isServerFault: isHole })
    return { ...fault, headers: { ...headers, ...fault.headers } }
  }
}

function readCall(bytes: Buffer, contentType: string | null) {
  try {
    const call = parseCall(parseXml(decodeXml(bytes, contentType)))
    return call ?? new AppError('bad-request', 'it is no SOAP envelope with a call')
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-request') return error
    throw error
  }
}

async function callReply(deps: CompatDeps, event: H3Event, call: Call): Promise<Reply> {
  const { binding, operation, parameters } = call
  const token = parameters.get('token') ?? null
  const contentType = binding === 'http' ? XML_TYPE : SOAP_TYPES[binding]
  const encode = (content: string | undefined) =>
    binding === 'http'
      ? encodeDocument(operation.hasRows, content)
      : encodeEnvelope(binding, operation.name, content)
  const emptyReply = { body: encode(undefined), headers: { 'content-type': contentType } }
  const admitted = await admit(deps, event, token)
  if (!admitted) {
    // Calls with the names from before 2019, such as tcIndicador, need no parameter Token.
    const lacksToken = binding === 'http' && token === null && !parameters.has('tcindicador')
    return lacksToken && !hasKey(event, token) ? plain500('Missing parameter: Token.') : emptyReply
  }
  const query = parseIndicatorQuery(parameters)
  if (!query) return emptyReply
  // `source` separates the cached answers of indicators from those of rates.
  const createEndpoint = <S>(find: FindValues<S>, source?: 'indicator') => ({
    path: ROOT,
    contentType,
    parse: ({ today }: CompatRequest) => ({
      ...{ ...query, to: earliest(query.to, today), operation: operation.name, binding },
      ...(source && { source }),
    }),
    async find(snapshot: S, days: IndicatorQuery): Promise<IndicatorValues | undefined> {
      const values = await find(snapshot, days)
      if (!values) return undefined
      const parts = [{ code: days.code, value: values, missing: lackedDays(values) }]
      await completeParts(deps, 'bccr', parts, {
        areNamed: true,
        provider: PROVIDER,
      })
      return values
    },
    encode: (values: IndicatorValues | undefined) =>
      encode(operation.hasRows ? encodeDataSet(values) : encodeText(values)),
    roundedTo: (values: IndicatorValues | undefined) => values?.roundedTo,
  })
  const noParameters = new URLSearchParams() // no parameter may set the side, which the indicator has
  if (await isIndicator(deps, query.code)) {
    const indicatorEndpoint = createEndpoint(findStoredValues, 'indicator')
    return compatReply({ ...deps, ...deps.indicators }, indicatorEndpoint, event, admitted, noParameters)
  }
  const rateEndpoint = createEndpoint((snapshot: RateSnapshot, { code, from, to }) => {
    const series = findIndicator(snapshot, code)
    return series && findIndicatorValues(deps, snapshot, series, { from, to })
  })
  return compatReply(deps, rateEndpoint, event, admitted, noParameters)
}

type FindValues<S> = (
  snapshot: S,
  query: IndicatorQuery,
) => IndicatorValues | undefined | Promise<IndicatorValues>

/** Returns undefined for a wrong or missing key, which is answered with an empty result. */
async function admit({ admission }: CompatDeps, event: H3Event, token: string | null) {
  try {
    return await admission(event, token)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return undefined
    throw error
  }
}

/**
 * Returns whether the code is of an indicator, and not of a rate. Logs an unknown one before the answer cache is read, so
 * that each day has a line.
 */
async function isIndicator({ cache, indicators, unserved }: CompatDeps, code: string): Promise<boolean> {
  if (findIndicator(cache.snapshot(), code)) return false
  if (await isStoredIndicator(indicators, code)) return true
  unserved.indicator('bccr', code)
  return false
}

/** Formats an error as the old service did. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

function plain500(body: string): Reply {
  return { status: 500, body, headers: { 'content-type': 'text/plain; charset=utf-8' } }
}

const DECLARED = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/
const CHARSET = /;\s*charset\s*=\s*"?([\w.-]+)/i
const ENCODINGS = /^(utf-?8|us-ascii|ascii|utf-16(le|be)?|iso-8859-1|iso-8859-15|latin1|windows-1252)$/i

/** Decodes XML by its byte order mark, the Content-Type or its declaration. Invalid bytes are replaced. @throws AppError `bad-request` */
function decodeXml(bytes: Buffer, contentType: string | null): string {
  const [, charset] = CHARSET.exec(contentType ?? '') ?? []
  const [, declared] = DECLARED.exec(bytes.toString('latin1', 0, 200)) ?? []
  const encoding = byteOrderMark(bytes) ?? charset ?? declared ?? 'utf-8'
  if (!ENCODINGS.test(encoding)) throw new AppError('bad-request', 'the encoding of the XML is not known')
  return new TextDecoder(encoding).decode(bytes)
}

function byteOrderMark([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb ? 'utf-8' : undefined
}
