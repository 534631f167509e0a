// The bank's old web service `wsindicadoreseconomicos.asmx`, which was switched off in 2026: both operations by GET, form and
// SOAP. Its key is a parameter like others, so that a body is read before the client is known.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { earliest } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import { type Api, pathOf } from '../../api/api.ts'
import { wholeBodyOf } from '../../api/body.ts'
import { type AnyEndpoint, get, post, type Reply } from '../../api/endpoint.ts'
import { type ErrorShape, errorAnswer } from '../../api/errors.ts'
import { nodeOf } from '../../api/send.ts'
import { bringsKey } from '../admission.ts'
import { inAnyCase } from '../any-case.ts'
import { findIndicator, type IndicatorValues, valuesBetween } from '../indicators.ts'
import { missingDaysOf, wholeParts } from '../missing-days.ts'
import { addressAsked } from '../origin.ts'
import { type ShapeDeps, shapeReply } from '../shape.ts'
import { decodeXml } from './encoding.ts'
import { absentParameter, findOperation, type Operation, type Parameters, queryIn } from './operation.ts'
import { dataSetOf, documentOf, textOf } from './rows.ts'
import { callIn, envelopeOf, faultReply, SOAP_TYPES, type SoapVersion, versionOf } from './soap.ts'
import { htmlPage, wsdlOf } from './wsdl.ts'
import { parseXml } from './xml.ts'

const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: 'text/plain; charset=utf-8',
  otherTypes: Object.values(SOAP_TYPES),
  status: (of, details) => (missingDaysOf(details) ? 500 : of),
  body: (_, message, details) => (missingDaysOf(details) ? sentence(message) : message),
  schema: v.string(),
  invalid: v.string(),
}

const ROOT = '/compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx'
const XML_TYPE = 'text/xml; charset=utf-8'
const BODY = { maxBytes: 64 * 1024, idleMs: 10_000 }
const ANSWERS = ['text/xml', 'application/soap+xml', 'text/html', 'text/plain']
const OPEN = { answer: v.any(), contentTypes: ANSWERS, open: true, ignoresUnknown: true } as const

/** How a call came, and how its answer is written. */
type Binding = 'http' | SoapVersion
type Call = { binding: Binding; operation: Operation; parameters: Parameters }

export function bccrApi(deps: ShapeDeps, proxies: BlockList | undefined): Api {
  return { prefixes: ['/compat/bccr'], errors: ERRORS, endpoints: endpoints(deps, proxies) }
}

function endpoints(deps: ShapeDeps, proxies: BlockList | undefined): AnyEndpoint[] {
  return [
    get({
      ...OPEN,
      path: ROOT,
      summary: 'Old web service of the bank: WSDL, or what it is',
      handle: ({ event }) => described(event, proxies),
    }),
    post({
      ...OPEN,
      path: ROOT,
      summary: 'Old web service of the bank: SOAP 1.1 and 1.2',
      body: v.any(),
      bodyTypes: ['text/xml', 'application/soap+xml'],
      handle: ({ event }) => soapReply(deps, event),
    }),
    get({
      ...OPEN,
      path: `${ROOT}/{operation}`,
      summary: 'Old web service of the bank: GET',
      handle: ({ event }) => httpReply(deps, event, event.url.searchParams),
    }),
    post({
      ...OPEN,
      path: `${ROOT}/{operation}`,
      summary: 'Old web service of the bank: form',
      body: v.any(),
      bodyTypes: ['application/x-www-form-urlencoded'],
      async handle({ event }) {
        const body = await bodyOf(event)
        return httpReply(deps, event, new URLSearchParams(body.toString('latin1')))
      },
    }),
  ]
}

/** Not kept by any cache: it names the host and the path that this client used, which may hold a key. */
function described(event: H3Event, proxies: BlockList | undefined): Reply {
  const asked = inAnyCase(event.url.searchParams)
  if (!asked.has('wsdl')) return { body: htmlPage(), headers: { 'content-type': 'text/html; charset=utf-8' } }
  const address = addressAsked(nodeOf(event).req, proxies)
  const body = wsdlOf(address, { isSimple: asked.get('simple') === '1' })
  return { body, headers: { 'content-type': XML_TYPE } }
}

/** What is no name may be a part of a query, with a key in it, and is not repeated. */
function shownName(name: string): string {
  return /^[A-Za-z]{0,64}$/.test(name) ? name : ''
}

function httpReply(deps: ShapeDeps, event: H3Event, sent: URLSearchParams): Reply | Promise<Reply> {
  const { operation: name = '' } = pathOf(event)
  const operation = findOperation(name)
  if (!operation) {
    return plain500(`Request format is unrecognized for URL unexpectedly ending in '/${shownName(name)}'.`)
  }
  const parameters = inAnyCase(sent)
  const absent = absentParameter(parameters)
  if (absent !== undefined) return plain500(`Missing parameter: ${absent}.`)
  return callReply(deps, event, { binding: 'http', operation, parameters })
}

async function soapReply(deps: ShapeDeps, event: H3Event): Promise<Reply> {
  const bytes = await bodyOf(event)
  const contentType = event.req.headers.get('content-type')
  const call = readCall(bytes, contentType)
  if (call instanceof AppError) {
    return faultReply(versionOf(contentType), `Server was unable to read request. ---> ${call.message}`)
  }
  const { version, name, parameters } = call
  const operation = findOperation(name)
  if (!operation) return faultReply(version, `Server did not recognize the operation ${name}.`)
  try {
    return await callReply(deps, event, { binding: version, operation, parameters })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (missingDaysOf(error.details)) {
      const fault = faultReply(version, sentence(error.message), { isOurs: true })
      return { ...fault, headers: { ...errorAnswer(error, ERRORS).headers, ...fault.headers } }
    }
    if (error.code !== 'too-many') throw error
    return faultReply(version, error.message, { status: 429 })
  }
}

function readCall(bytes: Buffer, contentType: string | null) {
  try {
    const call = callIn(parseXml(decodeXml(bytes, contentType)))
    return call ?? new AppError('bad-request', 'it is no SOAP envelope with a call')
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-request') return error
    throw error
  }
}

async function callReply(deps: ShapeDeps, event: H3Event, call: Call): Promise<Reply> {
  const { binding, operation, parameters } = call
  const token = parameters.get('token') ?? null
  const contentType = binding === 'http' ? XML_TYPE : SOAP_TYPES[binding]
  const written = (content: string | undefined) =>
    binding === 'http' ? documentOf(operation.hasRows, content) : envelopeOf(binding, operation.name, content)
  const nothing = { body: written(undefined), headers: { 'content-type': contentType } }
  const admitted = await admit(deps, event, token)
  if (!admitted) {
    const lacksToken = binding === 'http' && token === null && !bringsKey(event, token)
    return lacksToken && !parameters.has('tcindicador') ? plain500('Missing parameter: Token.') : nothing
  }
  const query = queryIn(parameters)
  if (!query) return nothing
  noteUnheld(deps, query.code)
  return shapeReply(
    deps,
    {
      path: ROOT,
      summary: '',
      contentType,
      ask: ({ today }) => ({
        ...query,
        to: earliest(query.to, today),
        operation: operation.name,
        binding,
      }),
      async find(snapshot, { code, from, to }): Promise<IndicatorValues | undefined> {
        const series = findIndicator(snapshot, code)
        if (!series) return undefined
        const found = await valuesBetween(deps, snapshot, series, { from, to })
        const missing = found.holes.length > 0 ? { days: found.holes } : undefined
        await wholeParts(deps, 'bccr', [{ code, value: found, missing }], { areNamed: true })
        return found
      },
      encode: (found) => written(operation.hasRows ? dataSetOf(found) : textOf(found)),
      roundedTo: (found) => found?.roundedTo,
    },
    event,
    admitted.side,
    new URLSearchParams(), // an indicator has its side: nothing else may say one
  )
}

/** Undefined for a client with a wrong key or none, which is answered as if there were nothing. */
async function admit({ admission }: ShapeDeps, event: H3Event, token: string | null) {
  try {
    return await admission(event, token)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return undefined
    throw error
  }
}

/** Before the kept answers are looked at, for it is noted anew each day. */
function noteUnheld({ cache, missed }: ShapeDeps, code: string): void {
  if (!findIndicator(cache.snapshot(), code)) missed.indicator('bccr', code)
}

function bodyOf(event: H3Event): Promise<Buffer> {
  const { req, res } = nodeOf(event)
  return wholeBodyOf(req, res, BODY)
}

/** As the old service wrote its errors. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

function plain500(body: string): Reply {
  return { status: 500, body, headers: { 'content-type': 'text/plain; charset=utf-8' } }
}
