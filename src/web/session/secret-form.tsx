// The one field for a key or a token, and what became of it.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '../parts/view.ts'
import type { Failure } from '../server/ask.ts'
import { type Refusal, signIn } from '../server/sign-in.ts'
import type { Texts } from '../texts/es.ts'

export function SecretForm(props: { button: string; hint: string; onDone?: () => void }) {
  const words = texts.value.session
  const [secret, setSecret] = useState('')
  const [isShown, show] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | 'form' | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const send = async (event: Event) => {
    event.preventDefault()
    const text = secret.trim()
    if (!/^cb[kt]_\S+$/.test(text)) {
      setRefusal('form')
      field.current?.focus()
      return
    }
    setBusy(true)
    const refused = await signIn(text)
    setBusy(false)
    setRefusal(refused)
    if (refused) field.current?.select()
    else props.onDone?.()
  }
  return (
    <form class="secret" onSubmit={send} noValidate>
      <label for={id}>{words.secret}</label>
      <div class="field-with-button">
        <input
          ref={field}
          id={id}
          class="field"
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete="off"
          spellcheck={false}
          autocapitalize="none"
          value={secret}
          readOnly={isBusy}
          aria-describedby={`${id}-hint`}
          aria-invalid={refusal !== undefined}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <button type="button" class="button" aria-pressed={isShown} onClick={() => show(!isShown)}>
          {isShown ? words.hide : words.show}
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        {props.hint}
      </p>
      <p class="refusal" role="alert">
        {refusal && (refusal === 'form' ? words.notASecret : refusalWords(refusal, texts.value))}
      </p>
      <button type="submit" class="button main wide" disabled={isBusy}>
        {isBusy ? words.entering : props.button}
      </button>
    </form>
  )
}

/** Why signing in did not work, and what to do. */
export function refusalWords(refusal: Refusal, { session, failures }: Texts): string {
  if (refusal.kind === 'storage') return session.storage
  const { kind, detail } = refusal as Failure
  if (kind === 'signed-out') return session.wrong
  if (kind === 'too-many') return session.tooMany
  if (kind === 'forbidden' && /http/i.test(detail)) return session.insecure
  if (kind === 'offline') return failures.offline
  if (kind === 'busy') return failures.busy
  return detail === '' ? failures.server : `${failures.says} ${detail}`
}
