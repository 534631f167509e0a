import { useEffect, useRef } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { texts } from '../parts/view.ts'
import { SecretForm } from './secret-field.tsx'

/** Adds the second secret to the open session. */
export function AddSecret({ what, onDone }: { what: 'key' | 'token'; onDone: () => void }) {
  const words = texts.value.session
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="card" aria-labelledby="add-secret" onClose={onDone}>
      <div class="card-head">
        <h2 id="add-secret">{what === 'key' ? words.addKey : words.addToken}</h2>
        <button
          type="button"
          class="plain round"
          aria-label={texts.value.close}
          onClick={() => dialog.current?.close()}
        >
          {icons.close}
        </button>
      </div>
      <SecretForm button={words.add} hint={words.hint} onDone={() => dialog.current?.close()} />
    </dialog>
  )
}
