import { decimalSign } from '../model/decimal.ts'
import { texts } from './view.ts'

const LENGTHS = [
  [30, 'figure longest'],
  [20, 'figure longer'],
  [13, 'figure long'],
] as const

/** Decimal with its currency. A negative one is in parentheses; screen readers get the word "minus". */
export function SignedFigure(props: { value: string; format: (value: string) => string; unit: string }) {
  const { value, format, unit } = props
  const isNegative = decimalSign(value) < 0
  const digits = format(isNegative ? value.slice(1) : value)
  const sign = unit === 'CRC' ? '₡' : ''
  const [open, close] = isNegative ? ['(', ')'] : ['', '']
  const length = digits.length + unit.length
  const name = LENGTHS.find(([least]) => length > least)?.[1] ?? 'figure'
  const figure = (
    <>
      {open}
      {sign && <span class="sign">{sign}</span>}
      {digits}
      {close}
      {!sign && <span class="unit"> {unit}</span>}
    </>
  )
  if (!isNegative) return <span class={name}>{figure}</span>
  return (
    <>
      <span class={name} aria-hidden="true">
        {figure}
      </span>
      <span class="unseen">{texts.value.convert.minus(`${sign}${digits} ${sign ? '' : unit}`.trim())}</span>
    </>
  )
}
