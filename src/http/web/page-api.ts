// Sessions of the page at `/`. A browser signs in with a key for rates, a token for documents, or both. Its later
// requests contain no secret that a script could read. The endpoints here open and close sessions, which
// http/access/auth.ts accepts.

import * as v from 'valibot'
import type { FindSession } from '../access/auth.ts'
import { Instant, Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import type { Api } from '../endpoint/api.ts'
import { type AnyEndpoint, get, post, remove } from '../endpoint/endpoint.ts'
import { booleanParam } from '../endpoint/params.ts'
import { exportMediaType } from '../figures/exports.ts'
import { RATES_ERRORS } from '../figures/rates-errors.ts'
import { ownHostGuard } from './guard.ts'
import { createSignIn, type SignIn, type SignInDeps } from './sign-in.ts'

const Code = withDescription(v.string(), 'What stands after #login= in a link of `cambista web`')
const SecretBody = v.object({
  secret: v.optional(withDescription(v.string(), 'A key (cbk_…) or a token (cbt_…)')),
  code: v.optional(withDescription(Code, 'Instead of it the code of a link')),
  remember: v.optional(
    withDescription(
      v.boolean(),
      'Whether the session lasts for 30 days without a request and its cookie outlives the browser; false, the ' +
        'default of a new session: 12 hours. An open session has it unchanged where it is absent',
    ),
  ),
})
const PageOut = titledObject('SignedIn', {
  page: withDescription(v.string(), 'To be sent as X-Cambista-Page; the other half is the cookie'),
})
const TokenOut = v.object({
  name: v.string(),
  allow: v.array(v.string()),
  company_id: withDescription(v.nullable(Integer), 'null: every company'),
  expires_at: withDescription(v.nullable(v.string()), 'The last day on which it is valid'),
})
const TicketBody = v.object({
  document_id: v.optional(withDescription(Integer, 'A PDF that the token of the session may read')),
  export: v.optional(
    withDescription(
      v.picklist(['csv', 'ndjson']),
      'Instead of it: every stored value, for a session with a key',
    ),
  ),
})
const FOREIGN = {
  403: 'Another website asks, plain HTTP comes from elsewhere, or the key or token is not for this',
  421: 'The host is not a name of this server',
}
const WRONG = {
  401: 'The secret is unknown, revoked or expired, or the link used or too old',
  415: 'The body is not application/json',
  429: 'Too many wrong secrets in a minute',
}
const credentialFields = { key: v.nullable(v.object({ name: v.string() })), token: v.nullable(TokenOut) }
const Person = withDescription(
  v.nullable(v.string()),
  'The name in the link that the session began with; null: none',
)
const SessionOut = titledObject('Session', {
  ...credentialFields,
  person: Person,
  organization: withDescription(
    v.nullable(v.object({ name: v.string(), tax_id: v.nullable(v.string()) })),
    'The settings organization and organization-id of the server, for a session or an open network alone',
  ),
  remember: withDescription(v.boolean(), 'Whether it lasts for 30 days without a request, else for 12 hours'),
  open: withDescription(v.boolean(), 'Whether rates are open to this address without signing in'),
  public_url: v.optional(
    withDescription(
      v.string(),
      'The setting public-url, for the QR code of a certificate; without the setting it is absent',
    ),
  ),
  indicators: v.optional(
    withDescription(v.boolean(), 'true for a key, if indicators are enabled; else it is absent'),
  ),
  ended: v.optional(
    withDescription(
      v.object({
        reason: withDescription(
          v.picklist(['idle', 'age', 'closed', 'withdrawn']),
          'idle: unused for too long; age: older than 180 days, or than 30 if it was not remembered; closed: by ' +
            'another session or an operator; withdrawn: its key and token were revoked, replaced or have expired',
        ),
        remember: withDescription(v.boolean(), 'Whether it was a remembered one'),
      }),
      'Why there is no session any more; only for a browser that sends its half of one',
    ),
  ),
})
const CodeOut = titledObject('LoginCode', {
  ...credentialFields,
  person: Person,
  remember: withDescription(v.boolean(), 'What the page suggests: true for a link with a name'),
  ends_at: withDescription(Instant, 'Until when the link can be used, once'),
  company: withDescription(
    v.nullable(v.object({ id: Integer, name: v.string() })),
    'The one that the token is for; null: all, or there is no token',
  ),
})

/** Returns the API, and the function by which other APIs find the session of a request. */
export function pageApi(deps: SignInDeps): { api: Api; findSession: FindSession } {
  const signIn = createSignIn(deps)
  const api: Api = {
    prefixes: ['/session', '/t'],
    errors: RATES_ERRORS,
    isForWebsites: false,
    credentials: {
      permissions: ['session'],
      check: (event) => signIn.findSession(event).then(() => {}),
      name: 'session',
      scheme: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Cambista-Page',
        description:
          'For the page at / alone, which has the other half in a cookie; programs send a key or a token.',
      },
      refusals: { 401: 'There is no such session' },
    },
    refusals: FOREIGN,
    guard: ownHostGuard(deps.names),
    endpoints: [
      post({
        path: '/session',
        about:
          'With a key, a token or a link. A key or a token is added to an open session; a link replaces the session.',
        body: SecretBody,
        answer: PageOut,
        refusals: WRONG,
        handle: ({ event }) => signIn.open(event),
      }),
      get({
        path: '/session',
        about: 'The key and the token of the session; null for the one that it lacks.',
        answer: SessionOut,
        handle: ({ event }) => signIn.show(event),
      }),
      remove({
        path: '/session',
        about: 'Ends the session, or with others=true those of the same person in other browsers.',
        query: v.object({
          others: v.optional(
            booleanParam(
              'Whether the other sessions of the person end, and not this one; without a person those of the same ' +
                'key or token',
            ),
            'false',
          ),
        }),
        answer: SessionOut,
        refusals: { 401: 'There is no session, with others=true' },
        handle: ({ event, query }) => signIn.close(event, query),
      }),
      post({
        path: '/session/code',
        about: 'The key and the token that a link would sign in with. The link stays unused.',
        body: v.object({ code: Code }),
        answer: CodeOut,
        refusals: WRONG,
        handle: ({ event }) => signIn.showCode(event),
      }),
      ...ticketEndpoints(signIn),
    ],
  }
  return { api, findSession: (event) => signIn.findSession(event) }
}

function ticketEndpoints(signIn: SignIn): AnyEndpoint[] {
  return [
    post({
      path: '/session/ticket',
      about:
        'A URL that opens one PDF in a tab of its own, or gives an export as a file: once, within a minute.',
      body: TicketBody,
      answer: titledObject('Ticket', { url: v.string() }),
      notFound: 'Document not found',
      gone: 'The content was lost',
      refusals: { 415: 'The document is not a PDF, or the body not application/json' },
      handle: ({ event }) => signIn.makeTicket(event),
    }),
    get({
      path: '/t/{ticket}',
      about: 'The PDF or the export of a ticket, once.',
      params: v.object({
        ticket: withDescription(v.string(), 'What the answer to /session/ticket names'),
      }),
      answer: v.any(),
      contentTypes: ['application/pdf', exportMediaType('csv'), exportMediaType('ndjson')],
      notFound: 'The ticket was used, is older than a minute, or never was',
      gone: 'The content was lost',
      refusals: { 401: 'The session has ended, or its token or key' },
      handle: ({ event, params }) => signIn.useTicket(event, params.ticket),
    }),
  ]
}
