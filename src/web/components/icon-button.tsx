import type { ComponentChildren } from 'preact'

/** Round button with an icon. */
export function IconButton(props: {
  label: string
  class?: string
  isOff?: boolean
  isUntitled?: boolean
  onClick: () => void
  children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class={props.class ? `plain round ${props.class}` : 'plain round'}
      aria-label={props.label}
      title={props.isUntitled ? undefined : props.label}
      disabled={props.isOff}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  )
}
