// Form for a key or a token, with its error.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Failure } from '../api/request.ts'
import { type Refusal, requestSession } from '../api/sign-in.ts'
import { texts } from '../components/view.ts'
import type { Texts } from '../i18n/page.ts'

export function SecretForm(props: { button: string; hint: string; onDone?: () => void }) {
  const words = texts.value.session
  const [secret, setSecret] = useState('')
  const [isVisible, setVisible] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | 'form' | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: Event) => {
    event.preventDefault()
    const text = secret.trim()
    if (!/^cb[kt]_\S+$/.test(text)) {
      setRefusal('form')
      field.current?.focus()
      return
    }
    setBusy(true)
    const error = await requestSession({ secret: text })
    setBusy(false)
    setRefusal(error)
    if (error) field.current?.select()
    else props.onDone?.()
  }
  return (
    <form class="secret" onSubmit={submit} noValidate>
      <label for={id}>{words.secret}</label>
      <div class="field-with-button">
        <input
          ref={field}
          id={id}
          class="field"
          type={(isVisible ? 'text' : 'password') as 'password'}
          autocomplete="off"
          spellcheck={false}
          autocapitalize="none"
          value={secret}
          readOnly={isBusy}
          aria-describedby={`${id}-hint`}
          aria-invalid={refusal !== undefined}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <button type="button" class="button" aria-pressed={isVisible} onClick={() => setVisible(!isVisible)}>
          {isVisible ? words.hide : words.show}
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        {props.hint}
      </p>
      <p class="refusal" role="alert">
        {refusal && (refusal === 'form' ? words.notASecret : refusalText(refusal, texts.value))}
      </p>
      <button type="submit" class="button main wide" disabled={isBusy}>
        {isBusy ? words.entering : props.button}
      </button>
    </form>
  )
}

/** Reason why the sign-in failed, with a remedy. */
export function refusalText(refusal: Refusal, { session, failures }: Texts): string {
  if (refusal.kind === 'storage') return session.storage
  const { kind, detail } = refusal as Failure
  if (kind === 'signed-out') return session.wrong
  if (kind === 'too-many') return session.tooMany
  if (kind === 'forbidden' && /http/i.test(detail)) return session.insecure
  if (kind === 'offline') return failures.offline
  if (kind === 'busy') return failures.busy
  return detail === '' ? failures.server : `${failures.says} ${detail}`
}
