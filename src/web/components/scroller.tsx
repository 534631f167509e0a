import type { ComponentChildren } from 'preact'

/** Scrollable section, also by keyboard. */
export function Scroller(props: { label: string; class: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it not every browser lets keys scroll here
    <section class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  )
}
