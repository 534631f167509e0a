// Filter by the issuer or the clave of an invoice, in one field: 50 digits are a clave. Enter, leaving the field or
// pasting a clave reads the text. Refused text stays in the field.

import { useId, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { pageTexts, setView, view } from '../components/view.ts'
import { INVOICES } from '../i18n/invoice-words.ts'
import { type InvoiceSearch, readInvoiceSearch } from '../model/documents/invoices.ts'

type SearchRefusal = Extract<InvoiceSearch, { error: string }>

export type InvoiceChoice = { text: string; error: SearchRefusal | undefined; read: (text: string) => void }

export function useInvoiceChoice(): InvoiceChoice {
  const { issuer, clave } = view.value
  const value = clave || issuer
  const [refusal, setRefusal] = useState<{ over: string; text: string; error: SearchRefusal } | undefined>(
    undefined,
  )
  const current = refusal?.over === value ? refusal : undefined // else another link was opened
  const read = (text: string) => {
    const search = readInvoiceSearch(text)
    setRefusal(search.error ? { over: value, text, error: search } : undefined)
    if (!search.error) setView(search)
  }
  return { text: current?.text ?? value, error: current?.error, read }
}

export function InvoiceFilter({ choice }: { choice: InvoiceChoice }) {
  const words = pageTexts(INVOICES).search
  const { text, error } = choice
  const id = useId()
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const commit = (typed: string) => {
    setDraft(undefined)
    choice.read(typed)
  }
  const onInput = (typed: string) => {
    const search = readInvoiceSearch(typed)
    const isComplete = !search.error && (search.clave !== '' || search.issuer === '')
    if (isComplete) commit(typed)
    else setDraft(typed)
  }
  return (
    <div class="invoice-filter">
      <label>
        <span class="unseen">{words.label}</span>
        <input
          class="field"
          type="search"
          inputMode="numeric"
          autocomplete="off"
          placeholder={words.label}
          aria-invalid={error !== undefined}
          aria-describedby={error && id}
          value={draft ?? text}
          onInput={({ currentTarget: { value } }) => onInput(value)}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && commit(currentTarget.value)}
          onBlur={() => draft !== undefined && commit(draft)}
        />
      </label>
      {error && (
        <p id={id} class="date-error" role="alert">
          {error.error === 'digits' ? words.digits(error.digits) : words.text}{' '}
          <Button class="link" onClick={() => commit('')}>
            {words.clear}
          </Button>
        </p>
      )}
    </div>
  )
}
