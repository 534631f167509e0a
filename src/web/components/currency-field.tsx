import { useId } from 'preact/hooks'
import type { Currency } from '../model/rates/currencies.ts'

export function CurrencyField(props: {
  label: string
  value: string
  all: readonly Currency[]
  onChoose: (code: string) => void
}) {
  const id = useId()
  const isKnown = props.all.some(({ code }) => code === props.value)
  return (
    <div class="convert-currency">
      <label for={id}>{props.label}</label>
      <select
        id={id}
        class="field"
        value={props.value}
        onChange={(event) => props.onChoose(event.currentTarget.value)}
      >
        {!isKnown && <option value={props.value}>{props.value}</option>}
        {props.all.map(({ code, name }) => (
          <option key={code} value={code}>
            {code} · {name}
          </option>
        ))}
      </select>
    </div>
  )
}
