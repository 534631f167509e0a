// Facts of a document in pairs of a name and a value, and the mail that brought it.

import type { ComponentChildren } from 'preact'
import type { Document } from '../../api/documents.ts'
import { formats, pageTexts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { visibleText } from '../../model/visible.ts'

export function DocumentFact(props: { name: string; isWide?: boolean; children: ComponentChildren }) {
  return (
    <div class={props.isWide ? 'wide-fact' : undefined}>
      <dt class="quiet tiny">{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}

/** @param mail whose texts are a stranger's */
export function MailFacts({ mail }: { mail: NonNullable<Document['mail']> }) {
  const words = pageTexts(DOCUMENT).mail
  return (
    <section class="details-part grid gap-8" aria-labelledby="mail">
      <h3 id="mail">{words.title}</h3>
      <dl class="facts grid">
        <DocumentFact name={words.from} isWide>
          <bdi>{visibleText(mail.from ?? words.none)}</bdi>
        </DocumentFact>
        <DocumentFact name={words.subject} isWide>
          <bdi>{visibleText(mail.subject ?? words.none)}</bdi>
        </DocumentFact>
        <DocumentFact name={words.received}>{formats.value.instant(mail.received_at)}</DocumentFact>
      </dl>
    </section>
  )
}
