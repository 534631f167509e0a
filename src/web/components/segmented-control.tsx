// Radio buttons in a row, so that arrow keys work.

import type { ComponentChildren } from 'preact'

export function SegmentedControl<T extends string>(props: {
  name: string
  label: string
  value: T | undefined
  choices: readonly { value: T; label: ComponentChildren; title?: string }[]
  onChoose: (value: T) => void
}) {
  return (
    <fieldset class="segmented">
      <legend class="unseen">{props.label}</legend>
      {props.choices.map(({ value, label, title }) => (
        <label key={value} title={title}>
          <input
            type="radio"
            name={props.name}
            class="unseen"
            checked={value === props.value}
            onChange={() => props.onChoose(value)}
          />
          <span>
            {title ? (
              <>
                <span aria-hidden="true">{label}</span>
                <span class="unseen">{title}</span>
              </>
            ) : (
              label
            )}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
