import { texts } from './view.ts'

export function Footer() {
  const words = texts.value
  return (
    <footer class="footer">
      <p>{words.manualNote}</p>
      <a href="/docs">{words.reference}</a>
    </footer>
  )
}
