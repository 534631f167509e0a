// Form of one position: a new one, or one to change or remove.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CurrencyField } from '../../components/currency-field.tsx'
import { type DateChoice, type DayBounds, useDateChoice } from '../../components/dates/date-choice.ts'
import { DateField, DateWords } from '../../components/dates/date-field.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { SignedFigure } from '../../components/signed-figure.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { type Amount, formatAmount, parseAmount } from '../../model/amount.ts'
import type { Currency } from '../../model/rates/currencies.ts'
import type { Position, PositionType } from '../../model/rates/differential.ts'
import { amountErrorText } from '../converter.tsx'
import { MAX_POSITIONS } from './position-store.ts'
import { addPositions, positions, removePosition, replacePosition } from './positions.ts'

const TYPES: readonly PositionType[] = ['asset', 'liability']
const DATE_WORDS = 'position-day'

type Draft = Omit<Position, 'id'>

type PositionFormProps = {
  /** Undefined: a new one. */
  position: Position | undefined
  currencies: readonly Currency[]
  bounds: DayBounds
  /** Day of a new position before one is chosen. */
  firstDay: string
  onClose: () => void
}

export function PositionForm({ position, currencies, bounds, firstDay, onClose }: PositionFormProps) {
  const { form, full } = pageTexts(LISTS).differential
  const [draft, setDraft] = useState(() => firstDraft(position, firstDay))
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const { balance } = draft
  const [isSubmitted, setSubmitted] = useState(false)
  const choice = useDateChoice(draft.day, bounds, (day) => change({ day }))
  const codes = new Set(currencies.map(({ code }) => code))
  const amount = parseAmount(balance, codes)
  const readCurrency = (text: string) => parseAmount(text, codes).currency ?? draft.currency
  const isFull = !position && positions.value.length >= MAX_POSITIONS
  const detailField = useRef<HTMLInputElement>(null)
  const amountField = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => detailField.current?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    setSubmitted(true)
    if (amount.error !== undefined) amountField.current?.focus()
    if (amount.error !== undefined || choice.error || isFull) return
    const entry = {
      ...draft,
      detail: draft.detail.trim(),
      balance: amount.value,
      currency: readCurrency(balance),
    }
    if (position) {
      replacePosition({ ...entry, id: position.id })
      return onClose()
    }
    addPositions([entry])
    change({ detail: '', balance: '' })
    setSubmitted(false)
    detailField.current?.focus()
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
      <TextField
        box="position-detail"
        label={form.detail}
        field={detailField}
        maxLength={200}
        value={draft.detail}
        onText={(detail) => change({ detail })}
      />
      <TypeChoice value={draft.type} onChoose={(type) => change({ type })} />
      <TextField
        box="position-balance"
        label={form.balance}
        field={amountField}
        class="field amount"
        spellcheck={false}
        maxLength={80}
        value={balance}
        aria-invalid={error !== undefined}
        aria-describedby={id}
        onText={(text) => change({ balance: text, currency: readCurrency(text) })}
      />
      <CurrencyField
        label={form.currency}
        value={draft.currency}
        all={currencies}
        onChoose={(currency) => change({ currency })}
      />
      <DateField label={form.date} choice={choice} describedBy={DATE_WORDS} />
      <PositionReading currency={readCurrency(balance)} {...{ id, amount, error, isSubmitted, choice }} />
      {isFull && <p class="refusal position-full">{full(formats.value.count(MAX_POSITIONS))}</p>}
      <FormButtons position={position} isFull={isFull} onClose={onClose} />
    </form>
  )
}

function firstDraft(position: Position | undefined, day: string): Draft {
  if (!position) return { detail: '', type: 'asset', balance: '', currency: 'USD', day }
  const { id, ...fields } = position
  return { ...fields, balance: formatAmount(position.balance, formats.value.whole) }
}

function TypeChoice(props: { value: PositionType; onChoose: (type: PositionType) => void }) {
  const { form, types } = pageTexts(LISTS).differential
  return (
    <div>
      <span class="label" aria-hidden="true">
        {form.type}
      </span>
      <SegmentedControl
        {...props}
        name="position-type"
        label={form.type}
        choices={TYPES.map((value) => ({ value, label: types[value] }))}
      />
    </div>
  )
}

/** The parsed balance, or the reason why there is none, and the day in words. */
function PositionReading(props: {
  id: string
  amount: Amount
  currency: string
  error: string | undefined
  isSubmitted: boolean
  choice: DateChoice
}) {
  const { id, amount, currency, error, isSubmitted, choice } = props
  return (
    <div class="reading flex above-8 quiet small one-line position-reading">
      <p
        id={id}
        class={error === undefined ? undefined : 'refusal'}
        role={isSubmitted && error !== undefined ? 'alert' : undefined}
      >
        {error}
        {amount.error === undefined && (
          <>
            {texts.value.convert.reads}{' '}
            <strong>
              <SignedFigure value={amount.value} format={formats.value.exact} unit={currency} />
            </strong>
          </>
        )}
      </p>
      <DateWords id={DATE_WORDS} choice={choice} />
    </div>
  )
}

function FormButtons(props: { position: Position | undefined; isFull: boolean; onClose: () => void }) {
  const { position, isFull, onClose } = props
  const { form } = pageTexts(LISTS).differential
  const remove = (id: number) => {
    removePosition(id)
    onClose()
  }
  return (
    <div class="buttons above-10">
      <button type="submit" class="button main" disabled={isFull}>
        {form.save}
      </button>
      <Button onClick={onClose}>{form.cancel}</Button>
      {position && (
        <Button class="link remove" onClick={() => remove(position.id)}>
          {form.remove}
        </Button>
      )}
    </div>
  )
}
