// Question before signing out that removes the stored positions. Renders a dialog of its own, so that each way to sign
// out poses it.

import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { language } from '../components/view.ts'
import { LISTS } from '../i18n/lists.ts'
import { inLanguage } from '../i18n/table-texts.ts'

/** @returns true if the user agrees */
export function confirmLeave(): Promise<boolean> {
  return new Promise((resolve) => {
    const host = document.createElement('div')
    document.body.append(host)
    const answer = (isAgreed: boolean) => {
      render(null, host)
      host.remove()
      resolve(isAgreed)
    }
    render(<LeaveQuestion onAnswer={answer} />, host)
  })
}

function LeaveQuestion({ onAnswer }: { onAnswer: (isAgreed: boolean) => void }) {
  const words = inLanguage(LISTS, language.value).leave
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="card door-card"
      aria-labelledby="leave-question"
      onCancel={(event) => {
        event.preventDefault()
        onAnswer(false)
      }}
    >
      <h2 id="leave-question">{words.title}</h2>
      <p>{words.text}</p>
      <div class="buttons">
        <Button class="button main" onClick={() => onAnswer(true)}>
          {words.yes}
        </Button>
        <Button onClick={() => onAnswer(false)}>{words.no}</Button>
      </div>
    </dialog>
  )
}
