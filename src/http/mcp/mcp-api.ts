// MCP over HTTP: each message is a POST, and the body of its answer is the answer. The server stores no state between
// messages, so there are no streams and sessions, and GET and DELETE are 405. Only the server's own host names are
// served, and no website.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { InvoiceRates } from '../../domain/invoices/rate-check.ts'
import type { DatabaseState } from '../../domain/operations/database-watch.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { AuthorizedToken, Keyring } from '../access/auth.ts'
import { baseMediaType } from '../endpoint/answers/forms.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import { Integer, titledObject } from '../endpoint/answers/shapes.ts'
import type { Api } from '../endpoint/api.ts'
import { readWholeBody } from '../endpoint/body.ts'
import { post, type Reply } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'
import { checkSameOrigin, type HostNames, pageUrl, serverOrigin } from '../listener/own-origin.ts'
import { createDisconnects, type Disconnects } from '../listings/disconnects.ts'
import { trackWait } from '../listings/waits.ts'
import { authenticateClient, mcpCredentials, requestClient } from './credentials.ts'
import type { DocumentQueries, DocumentUploads, DocumentWork } from './documents/document-queries.ts'
import { errorMessage, parseMessage, type RpcReply } from './protocol/messages.ts'
import { LEGACY, MODERN } from './protocol/protocol-version.ts'
import { createMcpServer, type McpServer, parseErrorOutcome } from './protocol/server.ts'
import type { Caller } from './protocol/tool.ts'
import type { CatalogueDeps } from './rates/catalogue.ts'
import type { IndicatorToolDeps } from './rates/indicators.ts'
import { createReadTools, createResources, createWorkTools } from './tools.ts'

type McpDeps = {
  rates: CatalogueDeps & Pick<IndicatorToolDeps, 'indicators'>
  invoiceRates: InvoiceRates
  keyring: Keyring
  database: Pick<DatabaseState, 'memoryAge'>
  names: HostNames
  documents: DocumentQueries & DocumentWork & DocumentUploads
  log: Log
}

const PATH = '/mcp'
const JSON_TYPE = 'application/json'
const ACCEPTED = new Set([JSON_TYPE, 'application/*', '*/*'])
const WEBSITE = 'This is for programs and for the page of this server, not for another website'
const UTF8 = new TextDecoder('utf-8', { fatal: true })

const RequestMessage = v.looseObject({
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), Integer])),
  method: v.string(),
  params: v.optional(v.looseObject({})),
})
const errorEntries = { code: Integer, message: v.string(), data: v.optional(v.any()) }
const McpAnswer = titledObject('McpAnswer', {
  jsonrpc: v.literal('2.0'),
  id: v.nullable(v.union([v.string(), Integer])),
  result: v.optional(v.looseObject({})),
  error: v.optional(v.object(errorEntries)),
})

/** HTTP errors are JSON-RPC errors with the status as code, which is outside the ranges that JSON-RPC and MCP reserve. */
const ERRORS: ErrorShape = {
  challenge: 'Bearer',
  body: (status, message) => JSON.stringify(errorMessage(null, { code: status, message })),
  schema: McpAnswer,
}

export function mcpApi(deps: McpDeps): Api {
  const { rates, invoiceRates, documents, keyring, log, names } = deps
  const disconnects = createDisconnects()
  const server = createMcpServer({
    tools: [...createReadTools(rates, documents, invoiceRates), ...createWorkTools(documents)],
    resources: createResources(rates, documents),
    isInvented: () => rates.cache.snapshot().isInvented,
    log,
  })
  return {
    prefixes: [PATH],
    errors: ERRORS,
    tag: 'Agents',
    isForWebsites: false,
    takesSlash: true, // people type it, and some clients add it
    credentials: mcpCredentials(keyring),
    guard(event) {
      event.context.cors = undefined
      const { req } = nodeContext(event)
      checkSameOrigin(req, serverOrigin(req, names), WEBSITE)
      deps.database.memoryAge()
    },
    endpoints: [
      post({
        path: PATH,
        about:
          'Model Context Protocol: a message of JSON-RPC, and its answer. For AI agents, of the revisions ' +
          `${[MODERN, ...LEGACY].join(', ')}. A key opens the tools of the rates, a token those of the documents that ` +
          'it allows, both together all of them; tools/list says which. A notification is answered with 202 and nothing.',
        body: RequestMessage,
        answer: McpAnswer,
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
        handle: ({ event }) => answer(event, server, createCaller(event, { keyring, disconnects, names })),
      }),
    ],
  }
}

async function answer(event: H3Event, server: McpServer, caller: Caller): Promise<Reply> {
  const { headers } = event.req
  if (baseMediaType(headers.get('content-type') ?? '') !== JSON_TYPE) {
    throw new AppError('unsupported', `Content-Type must be ${JSON_TYPE}`, { details: JSON_TYPE })
  }
  const accept = headers.get('accept') ?? '*/*'
  if (!accept.split(',').some((one) => ACCEPTED.has(baseMediaType(one)))) {
    throw new AppError('not-acceptable', `Accept must name ${JSON_TYPE}`)
  }
  const body = await readWholeBody(event)
  const messageHeaders = {
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    name: headers.get('mcp-name'),
  }
  let value: unknown
  try {
    value = parseMessage(UTF8.decode(body))
  } catch {
    return toReply(parseErrorOutcome()) // invalid JSON or UTF-8, or nested deeper than the stack
  }
  return toReply(await server.answer(value, caller, messageHeaders))
}

function toReply({ status, answer }: RpcReply): Reply {
  return { status, body: answer ? JSON.stringify(answer) : '', headers: { 'content-type': JSON_TYPE } }
}

function createCaller(
  event: H3Event,
  { keyring, disconnects, names }: { keyring: Keyring; disconnects: Disconnects; names: HostNames },
): Caller {
  return {
    ...requestClient(event),
    request: { id: String(event.context.requestId), page: pageUrl(nodeContext(event).req, names) },
    watch: (onDisconnect) => trackWait(event, disconnects, onDisconnect),
    async checkAgain(): Promise<AuthorizedToken> {
      const { token } = await authenticateClient(event, keyring)
      if (token) return token
      throw new AppError('unauthorized', 'There is no token any more')
    },
  }
}
