// Menu of the session: its name, its rights in words, and the ways out.

import { useState } from 'preact/hooks'
import { POSITIONS_KEY, type SessionFacts } from '../api/session.ts'
import { signOut, signOutElsewhere } from '../api/sign-in.ts'
import { readStored } from '../api/storage.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { formats, texts } from '../components/view.ts'
import { sessionName } from './session-name.ts'

export function SessionMenu(props: { facts: SessionFacts; onAdd: (kind: 'key' | 'token') => void }) {
  const { facts, onAdd } = props
  const words = texts.value.session
  const [result, setResult] = useState('')
  const leaveOthers = async () => {
    const { failure } = await signOutElsewhere()
    setResult(failure ? failureText(failure).title : words.leftOthers)
  }
  const expiry = facts.token?.expires_at
  return (
    <details class="menu" onKeyDown={closeOnEscape} onFocusOut={closeOnBlur}>
      <summary class="plain round" aria-label={words.menu} title={words.menu}>
        {icons.person}
      </summary>
      <div class="menu-inside grid gap-10">
        <p class="menu-name bold breaks">{sessionName(facts)}</p>
        <ul>
          {(['key', 'token'] as const).map((kind) => (
            <li key={kind}>
              {facts[kind] ? (
                <>
                  {words.rights[kind]}
                  {kind === 'token' && expiry && <small>{words.expires(formats.value.day(expiry))}</small>}
                </>
              ) : (
                <Button class="link" onClick={() => onAdd(kind)}>
                  {words.add[kind]}
                </Button>
              )}
            </li>
          ))}
        </ul>
        <Button class="button wide" onClick={() => void leave()}>
          {words.leave}
        </Button>
        <Button class="button wide" onClick={() => void leaveOthers()}>
          {words.leaveOthers}
        </Button>
        <p class="quiet small" role="status">
          {result}
        </p>
      </div>
    </details>
  )
}

/** Signs out. Positions of exchange differences are removed, after a question if there are any. */
async function leave(): Promise<void> {
  if (readStored(POSITIONS_KEY) !== null && !(await confirmRemoval())) return
  await signOut()
}

async function confirmRemoval(): Promise<boolean> {
  try {
    const { confirmLeave } = await import('./leave-question.tsx')
    return await confirmLeave()
  } catch {
    return true // without a connection signing out is still possible
  }
}

function closeOnEscape(event: KeyboardEvent & { currentTarget: HTMLDetailsElement }) {
  if (event.key !== 'Escape') return
  event.currentTarget.open = false
  event.currentTarget.querySelector('summary')?.focus()
}

function closeOnBlur(event: FocusEvent & { currentTarget: HTMLDetailsElement }) {
  const { relatedTarget, currentTarget } = event
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false
}
