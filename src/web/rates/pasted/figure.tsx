import { formats, texts } from '../../components/view.ts'

/** AccountingFigure of a table. A negative one is in parentheses; screen readers get the word "minus". */
export function AccountingFigure(props: { value: string; format: (value: string) => string; sign?: string }) {
  const { value, format, sign = '' } = props
  const { accounting } = formats.value
  const text = accounting(value, (positive) => `${sign}${format(positive)}`)
  if (!value.startsWith('-')) return <>{text}</>
  return (
    <>
      <span aria-hidden="true">{text}</span>
      <span class="unseen">{texts.value.convert.minus(`${sign}${format(value.slice(1))}`)}</span>
    </>
  )
}
