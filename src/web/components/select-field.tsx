import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

type SelectOption = readonly [value: string | number, text: string]

/** Select with its label. `children` are options before the others. */
export function SelectField(props: {
  class?: string
  label: string
  value: string | number
  options: readonly SelectOption[]
  onChoose: (value: string) => void
  children?: ComponentChildren
}) {
  const id = useId()
  return (
    <div class={props.class}>
      <label for={id}>{props.label}</label>
      <select
        id={id}
        class="field"
        value={props.value}
        onChange={(event) => props.onChoose(event.currentTarget.value)}
      >
        {props.children}
        <Options all={props.options} />
      </select>
    </div>
  )
}

export function Options({ all }: { all: readonly SelectOption[] }) {
  return all.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}
