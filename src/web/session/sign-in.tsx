// Content of the door: the reason why the last session ended, the form, and the ways to get a key.

import { type SessionEnding, session } from '../api/session.ts'
import { isOpenNetwork } from '../api/sign-in.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { pageTexts, texts } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'
import { SecretForm } from './secret-form.tsx'

/** @param onCancel shows the rates of an open network */
export function SignIn({ onCancel }: { onCancel: () => void }) {
  const words = pageTexts(DOORS)
  const current = session.value
  const isEnded = current.state === 'out' && current.reason === 'ended'
  const end = isEnded ? current.end : undefined
  return (
    <>
      {isEnded ? (
        <p class="line banner ended" role="status">
          {icons.clock}
          <span>
            {endText(end)} {words.ended.preserved}
          </span>
        </p>
      ) : (
        <p class="quiet">{texts.value.session.text}</p>
      )}
      <SecretForm
        button={isEnded ? words.enterAgain : words.enter}
        remember={end?.remember ?? false}
        onDone={onCancel}
      />
      {isOpenNetwork && (
        <Button class="link" onClick={onCancel}>
          {words.withoutKey}
        </Button>
      )}
      <p class="quiet">{words.noKey}</p>
      <Commands />
    </>
  )
}

function endText(end: SessionEnding | undefined): string {
  const { ended, days, hours } = pageTexts(DOORS)
  if (!end) return ended.unknown
  const { reason, remember } = end
  if (reason === 'idle') return ended.idle(remember ? days(30) : hours(12))
  if (reason === 'age') return ended.age(days(remember ? 180 : 30))
  return ended[reason]
}

/** Commands for the person who runs the server. */
function Commands() {
  const words = pageTexts(DOORS)
  const { name } = words
  return (
    <details class="commands shrink">
      <summary class="link">{words.admin}</summary>
      <p>{words.adminText}</p>
      <pre class="command">
        {[
          `cambista web --person ${name} --key ${name} --token ${name}`,
          `cambista key create ${name}`,
          `cambista token create ${name} --allow documents:GET`,
        ].join('\n')}
      </pre>
      <p>{words.adminHttps}</p>
      <pre class="command">{`cambista cert create --host ${name}`}</pre>
    </details>
  )
}
