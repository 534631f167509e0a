import { useEffect, useRef } from 'preact/hooks'
import { icons } from '../components/icons.tsx'
import { texts } from '../components/view.ts'
import { SecretForm } from './secret-form.tsx'

/** Adds the second secret to the open session. */
export function AddSecret({ kind, onDone }: { kind: 'key' | 'token'; onDone: () => void }) {
  const words = texts.value.session
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="card" aria-labelledby="add-secret" onClose={onDone}>
      <div class="card-head">
        <h2 id="add-secret">{kind === 'key' ? words.addKey : words.addToken}</h2>
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
