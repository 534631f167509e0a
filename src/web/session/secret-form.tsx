// Form for a key or a token, with its error. Password managers store the secret under the name of the server.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Failure } from '../api/request.ts'
import { type Refusal, requestSession } from '../api/sign-in.ts'
import { Button } from '../components/button.tsx'
import { failureText } from '../components/notice.tsx'
import { pageTexts } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'
import { Remember } from './remember.tsx'

/** @param remember first state of the choice; undefined: the session has it already */
export function SecretForm(props: { button: string; remember?: boolean; onDone?: () => void }) {
  const words = pageTexts(DOORS)
  const [secret, setSecret] = useState('')
  const [isRemembered, setRemembered] = useState(props.remember)
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
    const error = await requestSession({ secret: text, remember: isRemembered })
    setBusy(false)
    setRefusal(error)
    if (error) field.current?.select()
    else props.onDone?.()
  }
  return (
    <form class="secret" onSubmit={submit} noValidate>
      <input
        class="unseen"
        type="text"
        name="username"
        autocomplete="username"
        aria-hidden="true"
        aria-label={words.server}
        tabIndex={-1}
        readOnly
        value={`cambista ${location.host}`}
      />
      <label for={id}>{words.secret}</label>
      <div class="field-with-button">
        <input
          ref={field}
          id={id}
          class="field"
          name="password"
          type={(isVisible ? 'text' : 'password') as 'password'}
          autocomplete="current-password"
          spellcheck={false}
          autocapitalize="none"
          value={secret}
          readOnly={isBusy}
          aria-describedby={`${id}-error`}
          aria-invalid={refusal !== undefined}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <Button aria-pressed={isVisible} onClick={() => setVisible(!isVisible)}>
          {isVisible ? words.hide : words.show}
        </Button>
      </div>
      <p class="refusal" role="alert" id={`${id}-error`}>
        {refusal && (refusal === 'form' ? words.wrong : refusalText(refusal))}
      </p>
      {isRemembered !== undefined && <Remember isChecked={isRemembered} onChange={setRemembered} />}
      <button type="submit" class="button main wide" disabled={isBusy}>
        {isBusy ? words.entering : props.button}
      </button>
    </form>
  )
}

/** Reason why the sign-in failed, with a remedy. */
export function refusalText(refusal: Refusal): string {
  const words = pageTexts(DOORS)
  if (refusal.kind === 'storage') return words.storage
  const failure = refusal as Failure
  const { kind, reason } = failure
  if (kind === 'signed-out' || kind === 'invalid') return words.wrong
  if (kind === 'too-many') return words.tooMany
  if (kind === 'forbidden') return reason === 'https_required' ? words.insecure : words.wrong
  return failureText(failure).title
}
