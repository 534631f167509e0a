import { texts } from '../components/view.ts'
import { SecretForm } from './secret-form.tsx'

/** Form for the key or token that a screen requires. */
export function NeedsSecret({ kind }: { kind: 'key' | 'token' }) {
  const words = texts.value.session
  const [title, text] =
    kind === 'key' ? [words.needsKey, words.needsKeyText] : [words.needsToken, words.needsTokenText]
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
