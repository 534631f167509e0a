import { texts } from '../components/view.ts'

/** Text of the server, in English, for a cause without a known code. */
export function ServerText({ text }: { text: string }) {
  return (
    <details class="details">
      <summary class="link">{texts.value.failures.details}</summary>
      <p lang="en">{text}</p>
    </details>
  )
}
