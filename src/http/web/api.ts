// Sessions of the page at `/`: a browser signs in with a key for the rates, a token for the documents, or both, and its
// requests then need no header with a secret that a script could read. What a session opens are the APIs themselves
// (http/api/auth.ts); here it is only begun and ended.

import * as v from 'valibot'
import type { Api } from '../api/api.ts'
import type { SessionOf } from '../api/auth.ts'
import { get, post, remove } from '../api/endpoint.ts'
import { RATES_ERRORS } from '../rates/errors.ts'
import { exportedAs } from '../rates/export.ts'
import { ownHostGuard } from './guard.ts'
import { createSignIn, type SignInDeps } from './sign-in.ts'

const Id = v.pipe(v.number(), v.integer())

const Code = v.pipe(v.string(), v.description('What stands after #login= in a link of `cambista web`'))
const SecretIn = v.object({
  secret: v.optional(v.pipe(v.string(), v.description('A key (cbk_…) or a token (cbt_…)'))),
  code: v.optional(v.pipe(Code, v.description('Instead of it the code of a link'))),
})
const PageOut = v.pipe(
  v.object({
    page: v.pipe(v.string(), v.description('To be sent as X-Cambista-Page; the other half is the cookie')),
  }),
  v.title('SignedIn'),
)
const TokenOut = v.object({
  name: v.string(),
  allow: v.array(v.string()),
  company_id: v.pipe(v.nullable(Id), v.description('null: every company')),
  expires_at: v.pipe(v.nullable(v.string()), v.description('The last day on which it is valid')),
})
const TicketIn = v.object({
  document_id: v.optional(v.pipe(Id, v.description('A PDF that the token of the session may read'))),
  export: v.optional(
    v.pipe(
      v.picklist(['csv', 'ndjson']),
      v.description('Instead of it: every stored value, for a session with a key'),
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
const held = { key: v.nullable(v.object({ name: v.string() })), token: v.nullable(TokenOut) }
const SessionOut = v.pipe(v.object(held), v.title('Session'))
const CodeOut = v.pipe(
  v.object({
    ...held,
    company: v.pipe(
      v.nullable(v.object({ id: Id, name: v.string() })),
      v.description('The one that the token is for; null: all, or there is no token'),
    ),
  }),
  v.title('LoginCode'),
)

/** The API, and how the others find the session of a request. */
export function pageApi(deps: SignInDeps): { api: Api; sessionOf: SessionOf } {
  const signIn = createSignIn(deps)
  const api: Api = {
    prefixes: ['/session', '/t'],
    errors: RATES_ERRORS,
    isForWebsites: false,
    credentials: {
      check: async (event) => {
        await signIn.sessionOf(event)
      },
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
        summary:
          'Sign in with a key, a token or a link; a key or token is added to an open session, a link replaces it',
        open: true,
        body: SecretIn,
        answer: PageOut,
        refusals: WRONG,
        handle: ({ event }) => signIn.open(event),
      }),
      get({
        path: '/session',
        summary: 'Which key and token the session has; null for what it has not',
        open: true,
        answer: SessionOut,
        handle: ({ event }) => signIn.show(event),
      }),
      remove({
        path: '/session',
        summary: 'Sign out',
        open: true,
        answer: SessionOut,
        handle: ({ event }) => signIn.close(event),
      }),
      post({
        path: '/session/code',
        summary: 'What a link would sign in with, without using it up',
        open: true,
        body: v.object({ code: Code }),
        answer: CodeOut,
        refusals: WRONG,
        handle: ({ event }) => signIn.showCode(event),
      }),
      post({
        path: '/session/ticket',
        summary:
          'A URL that opens one PDF in a tab of its own, or gives an export as a file: once, within a minute',
        body: TicketIn,
        answer: v.pipe(v.object({ url: v.string() }), v.title('Ticket')),
        notFound: 'Document not found',
        gone: 'The content was lost',
        refusals: { 415: 'The document is not a PDF, or the body not application/json' },
        handle: ({ event }) => signIn.makeTicket(event),
      }),
      get({
        path: '/t/{ticket}',
        summary: 'What a ticket is for: a PDF, or an export',
        open: true,
        params: v.object({
          ticket: v.pipe(v.string(), v.description('What the answer to /session/ticket names')),
        }),
        answer: v.any(),
        contentTypes: ['application/pdf', exportedAs('csv'), exportedAs('ndjson')],
        notFound: 'The ticket was used, is older than a minute, or never was',
        gone: 'The content was lost',
        refusals: { 401: 'The session has ended, or its token or key' },
        handle: ({ event, params }) => signIn.useTicket(event, params.ticket),
      }),
    ],
  }
  return { api, sessionOf: signIn.sessionOf }
}
