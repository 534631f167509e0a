// Form of one position: a new one, or one to change or remove.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CurrencyField } from '../../components/currency-field.tsx'
import { type DayBounds, useDateChoice } from '../../components/dates/date-choice.ts'
import { DateField, DateWords } from '../../components/dates/date-field.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { SignedFigure } from '../../components/signed-figure.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { formatAmount, parseAmount } from '../../model/amount.ts'
import type { Currency } from '../../model/rates/currencies.ts'
import type { Position, PositionType } from '../../model/rates/differential.ts'
import { amountErrorText } from '../converter.tsx'
import { MAX_POSITIONS } from './position-store.ts'
import { addPositions, positions, removePosition, replacePosition } from './positions.ts'

const TYPES: readonly PositionType[] = ['asset', 'liability']
const DATE_WORDS = 'position-day'

export function PositionForm(props: {
  /** Undefined: a new one. */
  position: Position | undefined
  currencies: readonly Currency[]
  bounds: DayBounds
  /** Day of a new position before one is chosen. */
  firstDay: string
  onClose: () => void
}) {
  const { position, currencies, bounds, firstDay, onClose } = props
  const { form, types, full } = pageTexts(LISTS).differential
  const [detail, setDetail] = useState(position?.detail ?? '')
  const [type, setType] = useState<PositionType>(position?.type ?? 'asset')
  const [balance, setBalance] = useState(() =>
    position ? formatAmount(position.balance, formats.value.whole) : '',
  )
  const [currency, setCurrency] = useState(position?.currency ?? 'USD')
  const [day, setDay] = useState(position?.day ?? firstDay)
  const [isSubmitted, setSubmitted] = useState(false)
  const choice = useDateChoice(day, bounds, setDay)
  const codes = new Set(currencies.map(({ code }) => code))
  const amount = parseAmount(balance, codes)
  const isFull = !position && positions.value.length >= MAX_POSITIONS
  const first = useRef<HTMLInputElement>(null)
  const amountField = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => first.current?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    setSubmitted(true)
    if (amount.error !== undefined) amountField.current?.focus()
    if (amount.error !== undefined || choice.error || isFull) return
    const entry = {
      detail: detail.trim(),
      type,
      balance: amount.value,
      currency: amount.currency ?? currency,
      day,
    }
    if (position) {
      replacePosition({ ...entry, id: position.id })
      onClose()
      return
    }
    addPositions([entry])
    setDetail('')
    setBalance('')
    setSubmitted(false)
    first.current?.focus()
  }
  const isShown = amount.error !== undefined && (isSubmitted || balance !== '')
  const error = isShown ? amountErrorText(amount, balance) : undefined
  return (
    <form
      class="position-form grid"
      aria-label={position ? form.edit(position.detail) : form.newItem}
      onSubmit={submit}
      noValidate
    >
      <div class="position-detail">
        <label for={`${id}-detail`}>{form.detail}</label>
        <input
          ref={first}
          id={`${id}-detail`}
          class="field"
          autocomplete="off"
          maxLength={200}
          value={detail}
          onInput={(event) => setDetail(event.currentTarget.value)}
        />
      </div>
      <div>
        <span class="label" aria-hidden="true">
          {form.type}
        </span>
        <SegmentedControl
          name="position-type"
          label={form.type}
          value={type}
          choices={TYPES.map((value) => ({ value, label: types[value] }))}
          onChoose={setType}
        />
      </div>
      <div class="position-balance">
        <label for={`${id}-balance`}>{form.balance}</label>
        <input
          ref={amountField}
          id={`${id}-balance`}
          class="field amount"
          autocomplete="off"
          spellcheck={false}
          maxLength={80}
          value={balance}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-read`}
          onInput={(event) => {
            const text = event.currentTarget.value
            setBalance(text)
            const read = parseAmount(text, codes)
            if (read.error === undefined && read.currency !== undefined) setCurrency(read.currency)
          }}
        />
      </div>
      <CurrencyField label={form.currency} value={currency} all={currencies} onChoose={setCurrency} />
      <DateField label={form.date} choice={choice} describedBy={DATE_WORDS} />
      <div class="reading flex above-8 quiet small one-line position-reading">
        <p
          id={`${id}-read`}
          class={error === undefined ? undefined : 'refusal'}
          role={isSubmitted && error !== undefined ? 'alert' : undefined}
        >
          {error}
          {amount.error === undefined && (
            <>
              {texts.value.convert.reads}{' '}
              <strong>
                <SignedFigure
                  value={amount.value}
                  format={formats.value.exact}
                  unit={amount.currency ?? currency}
                />
              </strong>
            </>
          )}
        </p>
        <DateWords id={DATE_WORDS} choice={choice} />
      </div>
      {isFull && <p class="refusal position-full">{full(formats.value.count(MAX_POSITIONS))}</p>}
      <div class="buttons above-10">
        <button type="submit" class="button main" disabled={isFull}>
          {form.save}
        </button>
        <Button onClick={onClose}>{form.cancel}</Button>
        {position && (
          <Button
            class="link remove"
            onClick={() => {
              removePosition(position.id)
              onClose()
            }}
          >
            {form.remove}
          </Button>
        )}
      </div>
    </form>
  )
}
