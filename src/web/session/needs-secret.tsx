import { texts } from '../parts/view.ts'
import { SecretForm } from './secret-field.tsx'

/** A screen whose secret the session does not hold says so, and takes it. */
export function NeedsSecret({ what }: { what: 'key' | 'token' }) {
  const words = texts.value.session
  const [title, text] =
    what === 'key' ? [words.needsKey, words.needsKeyText] : [words.needsToken, words.needsTokenText]
  return (
    <div class="door">
      <section class="card door-card">
        <h1>{title}</h1>
        <p class="quiet">{text}</p>
        <SecretForm button={words.add} hint={words.hint} />
      </section>
    </div>
  )
}
