// Mails that were refused, or of which parts were left out, for the people of their company.

import * as v from 'valibot'
import { listLeftMails } from '../../domain/mail/left-mail-view.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import { Instant, Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { idParam } from '../endpoint/params.ts'

const Out = titledObject('LeftMails', {
  status: v.literal('success'),
  mails: v.array(
    v.object({
      mailbox_id: Integer,
      at: Instant,
      from: withDescription(
        v.nullable(v.string()),
        'Text of a stranger, which anybody can forge; null: none',
      ),
      subject: withDescription(v.nullable(v.string()), 'Text of a stranger'),
      reason: withDescription(
        v.nullable(v.string()),
        'Why it was refused: too_large, sender, no_documents, winmail_dat, unreadable, too_many_parts; null: it became ' +
          'documents',
      ),
      parts: withDescription(
        v.array(
          v.object({
            name: withDescription(v.nullable(v.string()), 'Text of a stranger; null: none'),
            reason: withDescription(v.string(), 'ignored, empty or unreadable'),
          }),
        ),
        'What was left out, at most 100',
      ),
    }),
  ),
})

export function leftMailsEndpoint(db: ReadDb): AnyEndpoint {
  return get({
    path: '/api/v1/mailboxes/left',
    about:
      'The last 20 mails of each mailbox that were refused, or of which parts were left out, the last one first. Those of ' +
      'mailboxes whose company and agent the token admits.',
    tag: 'Agents',
    query: v.object({ company_id: v.optional(idParam('Only those of this company')) }),
    answer: Out,
    notFound: 'Company not found, or the token is of another one',
    async handle({ event, query: { company_id: companyId } }) {
      const mails = await listLeftMails(db, tokenAccess(authorizedToken(event)), { companyId })
      return freshReply({ status: 'success', mails })
    },
  })
}
