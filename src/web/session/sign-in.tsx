import { icons } from '../parts/icons.tsx'
import { texts } from '../parts/view.ts'
import { session } from '../server/session.ts'
import { SecretForm } from './secret-field.tsx'

export function SignIn() {
  const words = texts.value.session
  const current = session.value
  return (
    <div class="door">
      <section class="card door-card" aria-labelledby="sign-in">
        <div class="door-mark">{icons.mark}</div>
        <h1 id="sign-in">{words.title}</h1>
        {current.state === 'out' && current.why === 'ended' && (
          <p class="refusal" role="status">
            {words.ended}
          </p>
        )}
        <SecretForm button={words.enter} hint={words.hint} />
        <p class="quiet">{words.linkHint}</p>
      </section>
    </div>
  )
}
