// Other documents of the same clave: XML, PDF and answers.

import { companionsPath, type Document, type NewestDocuments } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { FailureNotice } from '../../components/notice.tsx'
import { pageTexts, texts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { INVOICES } from '../../i18n/invoice-words.ts'
import { documentKind } from '../../model/documents/document-kinds.ts'
import { isReadInvoice } from '../../model/documents/invoices.ts'
import { visibleText } from '../../model/visible.ts'
import { invoiceKindText } from '../invoice-texts.ts'
import { useChanging } from './use-changing.ts'

export function Companions(props: {
  document: Document
  clave: string
  changed: number | undefined
  onOpen: (id: number) => void
}) {
  const words = pageTexts(DOCUMENT).companions
  const { id, company_id } = props.document
  const { value, failure } = useChanging<NewestDocuments>(
    companionsPath(company_id, props.clave),
    props.changed,
  )
  const others = value?.documents.filter((one) => one.id !== id)
  return (
    <section class="details-part grid gap-8" aria-labelledby="companions">
      <h3 id="companions">{words.title}</h3>
      {failure && !value && <FailureNotice failure={failure} />}
      {!failure && !value && <p class="quiet">{texts.value.loading}</p>}
      {others?.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="companions">
        {others?.map((one) => (
          <li key={one.id}>
            <Button class="companion grid rounded touch text-start" onClick={() => props.onOpen(one.id)}>
              <span class="link-text">{companionText(one)}</span>
              <bdi class="quiet tiny">{visibleText(one.name)}</bdi>
            </Button>
          </li>
        ))}
      </ul>
      {value?.has_more && <p class="quiet">{words.more}</p>}
    </section>
  )
}

/** Kind of an invoice with its outcome, or the format of a file. */
function companionText({ name, mimetype, invoice }: Document): string {
  const { outcomes, file } = pageTexts(INVOICES)
  if (!isReadInvoice(invoice)) return documentKind(name, mimetype).letters ?? file
  const { kind, outcome } = invoice
  return outcome ? `${invoiceKindText(kind)}: ${outcomes[outcome]}` : invoiceKindText(kind)
}
