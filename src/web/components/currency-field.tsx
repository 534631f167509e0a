import type { Currency } from '../model/rates/currencies.ts'
import { SelectField } from './select-field.tsx'

export function CurrencyField(props: {
  label: string
  value: string
  all: readonly Currency[]
  onChoose: (code: string) => void
}) {
  const { all, value } = props
  const isKnown = all.some(({ code }) => code === value)
  return (
    <SelectField {...props} class="convert-currency" options={currencyOptions(all)}>
      {!isKnown && <option value={value}>{value}</option>}
    </SelectField>
  )
}

export function currencyOptions(all: readonly Currency[]) {
  return all.map(({ code, name }) => [code, `${code} · ${name}`] as const)
}
