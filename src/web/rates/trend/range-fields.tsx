import { useId } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import type { DateChoice } from '../../components/dates/date-choice.ts'
import { DateField, DateWords } from '../../components/dates/date-field.tsx'
import { texts } from '../../components/view.ts'

/**
 * Fields for the first and the last day of a chart.
 * @param onReset returns to the span; undefined: it is shown
 */
export function RangeFields(props: {
  choices: readonly [DateChoice, DateChoice]
  onReset: (() => void) | undefined
}) {
  const {
    choices: [from, to],
    onReset,
  } = props
  const words = texts.value.history
  const id = useId()
  const fields = [
    { name: 'from', label: words.from, choice: from },
    { name: 'to', label: words.to, choice: to },
  ]
  return (
    <div class="row range">
      {fields.map(({ name, label, choice }) => (
        <div key={name} class="range-day">
          <DateField label={label} choice={choice} describedBy={`${id}-${name}`} />
          <DateWords id={`${id}-${name}`} choice={choice} isShort />
        </div>
      ))}
      {onReset && (
        <Button class="link" onClick={onReset}>
          {words.zoomOut}
        </Button>
      )}
    </div>
  )
}
