import type { ComponentChildren } from 'preact'
import { CurrencyField } from '../components/currency-field.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { icons } from '../components/icons.tsx'
import { texts } from '../components/view.ts'
import type { Currency } from '../model/rates/currencies.ts'

/** Fields of the two currencies of a pair, with a button that swaps them. @param swap class of the button */
export function PairFields(props: {
  pair: string
  all: readonly Currency[]
  swap?: string
  onChoose: (base: string, quote: string) => void
  children?: ComponentChildren
}) {
  const { pair, all, swap = '', onChoose } = props
  const words = texts.value.convert
  const [base = '', quote = ''] = pair.split('/')
  const onSwap = () => onChoose(quote, base)
  return (
    <div class="pair-fields grid">
      <CurrencyField
        label={words.source}
        value={base}
        all={all}
        onChoose={(code) => (code === quote ? onSwap() : onChoose(code, quote))}
      />
      <IconButton label={words.swap} class={swap} onClick={onSwap}>
        {icons.swap}
      </IconButton>
      <CurrencyField
        label={words.target}
        value={quote}
        all={all}
        onChoose={(code) => (code === base ? onSwap() : onChoose(base, code))}
      />
      {props.children}
    </div>
  )
}
