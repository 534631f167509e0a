// MCP over HTTP: a message is a POST, its answer the body. Nothing is kept between two of them, so that there is no stream
// to open and no session to end: GET and DELETE are 405. It answers to the server's own names alone, and to no website.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { DatabaseState } from '../../domain/database-watch.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Api } from '../api/api.ts'
import type { AuthorizedToken, Keyring } from '../api/auth.ts'
import { wholeBodyOf } from '../api/body.ts'
import { post, type Reply } from '../api/endpoint.ts'
import type { ErrorShape } from '../api/errors.ts'
import { mediaTypeOf } from '../api/forms.ts'
import { nodeOf } from '../api/send.ts'
import { createDepartures, type Departures } from '../documents/departures.ts'
import { watchWait } from '../documents/waits.ts'
import { checkSameOrigin, type OwnNames, ownOriginOf } from '../listener/own-origin.ts'
import { heldBy, holderOf, mcpCredentials } from './credentials.ts'
import type { DocumentQueries, DocumentWork } from './documents/queries.ts'
import { errorMessage, type Outcome, parseMessage } from './protocol/messages.ts'
import { createMcpServer, type McpServer, unreadable } from './protocol/server.ts'
import type { Caller } from './protocol/tool.ts'
import type { CatalogueDeps } from './rates/catalogue.ts'
import { resourcesOver, toolsOver, workToolsOver } from './tools.ts'

export type McpDeps = CatalogueDeps & {
  keyring: Keyring
  database: Pick<DatabaseState, 'memoryAge'>
  names: OwnNames
  documents: DocumentQueries & DocumentWork
  log: Log
}

const PATH = '/mcp'
const JSON_TYPE = 'application/json'
const LIMITS = { maxBytes: 64 * 1024, idleMs: 30_000 }
const ACCEPTED = new Set([JSON_TYPE, 'application/*', '*/*'])
const WEBSITE = 'This is for programs and for the page of this server, not for another website'
const UTF8 = new TextDecoder('utf-8', { fatal: true })

const MessageIn = v.looseObject({
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), v.pipe(v.number(), v.integer())])),
  method: v.string(),
  params: v.optional(v.looseObject({})),
})
const fault = { code: v.pipe(v.number(), v.integer()), message: v.string(), data: v.optional(v.any()) }
const MessageOut = v.pipe(
  v.object({
    jsonrpc: v.literal('2.0'),
    id: v.nullable(v.union([v.string(), v.pipe(v.number(), v.integer())])),
    result: v.optional(v.looseObject({})),
    error: v.optional(v.object(fault)),
  }),
  v.title('McpAnswer'),
)

/** An error of HTTP is one of JSON-RPC too, whose code is the status: it is outside of what JSON-RPC and MCP reserve. */
const ERRORS: ErrorShape = {
  challenge: 'Bearer',
  body: (status, message) => JSON.stringify(errorMessage(null, { code: status, message })),
  schema: MessageOut,
  invalid: MessageOut,
}

export function mcpApi(deps: McpDeps): Api {
  const { keyring, log, names, documents } = deps
  const departures = createDepartures()
  const server = createMcpServer({
    tools: [...toolsOver(deps, documents), ...workToolsOver(documents)],
    resources: resourcesOver(deps, documents),
    log,
  })
  return {
    prefixes: [PATH],
    errors: ERRORS,
    tag: 'Agents',
    isForWebsites: false,
    credentials: mcpCredentials(keyring),
    guard(event) {
      event.context.cors = undefined
      const { req } = nodeOf(event)
      checkSameOrigin(req, ownOriginOf(req, names), WEBSITE)
      deps.database.memoryAge()
    },
    endpoints: [
      post({
        path: PATH,
        summary: 'Model Context Protocol: a message of JSON-RPC, and its answer',
        about:
          'For AI agents, of the revisions 2026-07-28, 2025-11-25 and 2025-06-18. A key opens the tools of the rates, a ' +
          'token those of the documents that it allows, both together all of them; tools/list says which. A notification ' +
          'is answered with 202 and nothing.',
        body: MessageIn,
        answer: MessageOut,
        also: { 202: 'A notification was taken' },
        refusals: {
          400: 'The body is no such message, or its headers say something else',
          403: 'Another website asks',
          404: 'There is no such method',
          406: 'The client takes no JSON',
          413: 'The message is larger than 64 KiB',
          415: 'The body is not application/json',
          421: 'The host is not a name of this server',
        },
        handle: ({ event }) => answer(event, server, callerOf(event, { keyring, departures })),
      }),
    ],
  }
}

async function answer(event: H3Event, server: McpServer, caller: Caller): Promise<Reply> {
  const { headers } = event.req
  if (mediaTypeOf(headers.get('content-type') ?? '') !== JSON_TYPE) {
    throw new AppError('unsupported', `Content-Type must be ${JSON_TYPE}`, { details: JSON_TYPE })
  }
  const accept = headers.get('accept') ?? '*/*'
  if (!accept.split(',').some((one) => ACCEPTED.has(mediaTypeOf(one)))) {
    throw new AppError('not-acceptable', `Accept must name ${JSON_TYPE}`)
  }
  const { req, res } = nodeOf(event)
  const body = await wholeBodyOf(req, res, LIMITS)
  const sent = {
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    name: headers.get('mcp-name'),
  }
  let value: unknown
  try {
    value = parseMessage(UTF8.decode(body))
  } catch {
    return replyOf(unreadable()) // no JSON, no UTF-8, or nested so deeply that the stack is not enough
  }
  return replyOf(await server.answer(value, caller, sent))
}

function replyOf({ status, answer }: Outcome): Reply {
  return { status, body: answer ? JSON.stringify(answer) : '', headers: { 'content-type': JSON_TYPE } }
}

function callerOf(
  event: H3Event,
  { keyring, departures }: { keyring: Keyring; departures: Departures },
): Caller {
  return {
    ...heldBy(event),
    watch: (gone) => watchWait(event, departures, gone),
    async checkAgain(): Promise<AuthorizedToken> {
      const { token } = await holderOf(event, keyring)
      if (token) return token
      throw new AppError('unauthorized', 'There is no token any more')
    },
  }
}
