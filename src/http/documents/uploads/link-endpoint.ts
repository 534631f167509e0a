// The address of a link: a PUT of the bytes of one document, without a token (decisions#mcp-uploads).

import * as v from 'valibot'
import type { UploadLink, UploadLinks } from '../../../domain/documents/uploads/links.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Keyring } from '../../access/auth.ts'
import { nodeContext } from '../../endpoint/answers/send.ts'
import type { Api } from '../../endpoint/api.ts'
import { put } from '../../endpoint/endpoint.ts'
import { checkSameOrigin, type HostNames, serverOrigin } from '../../listener/own-origin.ts'
import { LINKS_PATH } from '../../routes.ts'
import { DOCUMENTS_ERRORS } from '../documents-errors.ts'
import { acceptedBody } from './answer.ts'
import { describedFormat } from './raw-body.ts'
import { choosePriority, incomingBody, parseDuplicates, type UploadReceiver } from './receive.ts'
import { UploadOut } from './shapes.ts'

type LinkDeps = {
  links: UploadLinks
  uploads: UploadReceiver
  keyring: Keyring
  names: HostNames
}

const PERMISSION = 'documents:POST'
const ENDED = 'The link has ended, or never was: request another'
const WEBSITE = 'A link is for programs, not for another website'

export function uploadLinksApi({ links, uploads, keyring, names }: LinkDeps): Api {
  const { limits, store } = uploads
  return {
    prefixes: [LINKS_PATH],
    errors: DOCUMENTS_ERRORS,
    tag: 'Documents',
    isForWebsites: false,
    guard(event) {
      event.context.cors = undefined
      const { req } = nodeContext(event)
      checkSameOrigin(req, serverOrigin(req, names), WEBSITE)
    },
    endpoints: [
      put({
        path: '/u/{link}',
        about:
          'The link is in the answer of the tool upload_document, with the Content-Type to send. It is used up when the ' +
          'document is stored; then the same bytes are answered alike, and others are refused.',
        ignoresUnknown: false,
        params: v.object({ link: v.pipe(v.string(), v.description('What the tool answered')) }),
        rawBody: true,
        bodyTypes: [],
        body: v.any(),
        reads: ['X-Cambista-Priority', 'X-Cambista-Duplicates', 'Content-Digest', 'Repr-Digest'],
        answer: UploadOut,
        notFound: 'The link has ended, after ten minutes or with its token, or never was',
        refusals: {
          403: 'Another website asks',
          409: 'The link was used for other bytes, or is being used; or the invoice has a document already',
          415: 'The Content-Type is not that of the link',
          421: 'The host is not a name of this server',
          507: 'Not enough free disk space, or a quota is used up',
        },
        async handle({ event, params }) {
          const link = await links.find(params.link)
          const token = link && keyring.findTokenByHash(keyring.currentHash('token', link.tokenId))
          if (!link || !token?.allow.includes(PERMISSION)) throw new AppError('not-found', ENDED)
          event.context.token = token
          const client = { token, requestId: String(event.context.requestId) }
          const { accepted, release } = await store(client, () => {
            const body = incomingBody(event, { ...limits, maxBody: Math.min(limits.maxBody, link.maxBytes) })
            checkType(event.req.headers.get('content-type'), link)
            const { headers } = event.req
            return {
              ...{ ...body, key: linkKey(link), format: describedFormat(link) },
              priority: choosePriority(headers.get('x-cambista-priority'), undefined),
              refusesDuplicates: parseDuplicates(headers.get('x-cambista-duplicates')),
            }
          })
          return { body: await acceptedBody(accepted, release) }
        },
      }),
    ],
  }
}

/** @throws AppError `unsupported` for another type than that of the link */
function checkType(type: string | null, { mimetype }: UploadLink): void {
  if (type?.trim().toLowerCase() === mimetype.toLowerCase()) return
  throw new AppError('unsupported', `Content-Type must be ${mimetype}, as the link was made for`)
}

/** A link is stored once like an Idempotency-Key; its hash is none that a client could send by chance. */
function linkKey({ hash }: UploadLink) {
  return {
    value: `link ${hash}`,
    inProgress: 'An upload to this link is in progress',
    otherBody: 'The link was used for other bytes: request another',
  }
}
