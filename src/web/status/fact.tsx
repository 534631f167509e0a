import type { ComponentChildren } from 'preact'
import { serverTime } from '../api/clock.ts'
import { formats } from '../components/view.ts'

/** Name and value in a `dl`. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Instant with its distance from now. */
export function Instant({ at }: { at: string }) {
  const { instant, ago } = formats.value
  return (
    <time dateTime={at}>
      {instant(at)} <small>{ago(at, serverTime())}</small>
    </time>
  )
}
