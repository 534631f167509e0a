import type { InputHTMLAttributes, Ref } from 'preact'
import { useId } from 'preact/hooks'

type TextFieldProps = InputHTMLAttributes<HTMLInputElement> & {
  /** Class of the box of label and input. */
  box: string
  label: string
  field?: Ref<HTMLInputElement>
  onText: (text: string) => void
}

export function TextField({ box, label, field, onText, ...input }: TextFieldProps) {
  const id = useId()
  return (
    <div class={box}>
      <label for={id}>{label}</label>
      <input
        class="field"
        inputmode="text"
        autocomplete="off"
        {...input}
        ref={field}
        id={id}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </div>
  )
}
