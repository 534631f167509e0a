import type { ComponentChildren } from 'preact'
import { formats } from '../parts/view.ts'
import { now } from '../server/clock.ts'

/** A name and what it is, a row of a `dl`. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A moment, and how long ago it was or how soon it comes. */
export function Moment({ at }: { at: string }) {
  const { instant, ago } = formats.value
  return (
    <time dateTime={at}>
      {instant(at)} <small>{ago(at, now())}</small>
    </time>
  )
}
