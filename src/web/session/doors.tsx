// Doors of the page, in one lazily fetched file: signing in, one-time links, and the second secret of a session.

import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../components/icon-button.tsx'
import { icons } from '../components/icons.tsx'
import { pageTexts, texts } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'
import { SecretForm } from './secret-form.tsx'

export { OneTimeLink } from './one-time-link.tsx'
export { SignIn } from './sign-in.tsx'

/** Form for the key or token that a screen requires. */
export function NeedsSecret({ kind }: { kind: 'key' | 'token' }) {
  const words = pageTexts(DOORS)
  return (
    <div class="door">
      <section class="card door-card">
        <h1>{words.needs[kind]}</h1>
        <p class="quiet">{words.needsText}</p>
        <SecretForm button={words.add} />
      </section>
    </div>
  )
}

/** Adds the second secret to the open session. */
export function AddSecret({ kind, onDone }: { kind: 'key' | 'token'; onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="card" aria-labelledby="add-secret" onClose={onDone}>
      <div class="card-head">
        <h2 id="add-secret">{texts.value.session.add[kind]}</h2>
        <IconButton label={texts.value.close} isUntitled onClick={() => dialog.current?.close()}>
          {icons.close}
        </IconButton>
      </div>
      <SecretForm button={pageTexts(DOORS).add} onDone={() => dialog.current?.close()} />
    </dialog>
  )
}
