import type { ComponentChildren } from 'preact'

/** Button to the value before or after. */
export function Step(props: {
  label: string
  isOff: boolean
  onClick: () => void
  children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class="plain round"
      aria-label={props.label}
      title={props.label}
      disabled={props.isOff}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  )
}
