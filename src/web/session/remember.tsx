import { pageTexts } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'

/** Choice whether the session outlives the browser. */
export function Remember({
  isChecked,
  onChange,
}: {
  isChecked: boolean
  onChange: (value: boolean) => void
}) {
  return (
    <label class="line remember gap-12 touch">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {pageTexts(DOORS).remember}
    </label>
  )
}
