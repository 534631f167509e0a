// Converts an amount on a day of its own. The parsed amount and the day in words are always shown below the fields. A
// currency in the amount becomes the source.

import { useEffect, useId, useState } from 'preact/hooks'
import type { Series } from '../api/responses.ts'
import { CurrencyField } from '../components/currency-field.tsx'
import type { DateChoice } from '../components/dates/date-choice.ts'
import { DateField, DateWords } from '../components/dates/date-field.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { icons } from '../components/icons.tsx'
import { SegmentedControl } from '../components/segmented-control.tsx'
import { SignedFigure } from '../components/signed-figure.tsx'
import { TextField } from '../components/text-field.tsx'
import { formats, language, setView, texts, view } from '../components/view.ts'
import { type Amount, formatAmount, parseAmount } from '../model/amount.ts'
import { SIDES } from '../model/fragment.ts'
import { listedCurrencies } from '../model/rates/currencies.ts'
import { ConversionOutcome } from './conversion.tsx'

export function Converter({ series, choice }: { series: readonly Series[]; choice: DateChoice }) {
  const words = texts.value.convert
  const { amount, source, target, side, on, day } = view.value
  const currencies = listedCurrencies(series, formats.value)
  const codes = series.length > 0 ? new Set(currencies.map(({ code }) => code)) : undefined
  const field = useAmountField(codes)
  const id = useId()
  const inputAmount = parseAmount(field.text, codes)
  const isRefused = inputAmount.error !== undefined || choice.error !== undefined
  const isToday = on === '' && day === ''
  return (
    <section class="card converter flex" aria-labelledby="converter">
      <div class="card-head">
        <h2 id="converter">{words.title}</h2>
        <SegmentedControl
          name="side"
          label={words.side}
          value={side}
          choices={SIDES.map((value) => ({ value, label: texts.value.sides[value] }))}
          onChoose={(side) => setView({ side })}
        />
      </div>
      <div class="convert-fields grid above-14">
        <TextField
          box="convert-amount"
          label={words.amount}
          class="field amount"
          spellcheck={false}
          maxLength={80}
          value={field.text}
          aria-invalid={inputAmount.error !== undefined}
          aria-describedby={id}
          onText={field.change}
        />
        <CurrencyField
          label={words.source}
          value={source}
          all={currencies}
          onChoose={(source) => field.choose({ source })}
        />
        <IconButton
          label={words.swap}
          class="swap"
          onClick={() => field.choose({ source: target, target: source })}
        >
          {icons.swap}
        </IconButton>
        <CurrencyField
          label={words.target}
          value={target}
          all={currencies}
          onChoose={(target) => field.choose({ target })}
        />
        <DateField label={words.date} choice={choice} describedBy={`${id}-day`} />
      </div>
      <div class="reading flex above-8 quiet small one-line">
        <Reading id={id} text={field.text} inputAmount={inputAmount} source={source} />
        <DateWords id={`${id}-day`} choice={choice} />
      </div>
      <ConversionOutcome
        request={isRefused ? undefined : { amount, source, target, side, on: isToday ? '' : choice.day }}
        day={choice.day}
      />
    </section>
  )
}

function useAmountField(codes: ReadonlySet<string> | undefined) {
  const { amount, source, target } = view.value
  const [text, setText] = useState(() => formatAmount(amount, formats.value.whole))
  const bareText = formatAmount(amount, formats.value.whole)
  useEffect(() => setText(bareText), [language.value])
  useEffect(() => {
    if (parseAmount(text, codes).value !== amount) setText(bareText) // another link was opened
  }, [amount])
  return {
    text,
    change(newText: string) {
      setText(newText)
      const { value, currency = source } = parseAmount(newText, codes)
      if (value === undefined) return
      const isSwap = currency === target && currency !== source
      setView({ amount: value, source: currency, ...(isSwap ? { target: source } : {}) })
    },
    /** Changes the currencies. Text with another currency loses it. */
    choose(change: { source?: string; target?: string }) {
      const { currency } = parseAmount(text, codes)
      if (currency !== undefined && currency !== (change.source ?? source)) setText(bareText)
      setView(change)
    },
  }
}

/** The parsed amount, or the reason why there is none. */
function Reading({
  id,
  text,
  inputAmount,
  source,
}: {
  id: string
  text: string
  inputAmount: Amount
  source: string
}) {
  const words = texts.value.convert
  if (inputAmount.error !== undefined) {
    return (
      <p id={id} class="refusal">
        {amountErrorText(inputAmount, text)}
      </p>
    )
  }
  const { value, isSum, hasYenSign, currency = source } = inputAmount
  return (
    <p id={id}>
      {words.reads}{' '}
      <strong>
        {isSum && '= '}
        <SignedFigure value={value} format={formats.value.exact} unit={currency} />
      </strong>
      {hasYenSign && ` · ${words.yen}`}
    </p>
  )
}

/** Reason why a text is no amount. */
export function amountErrorText(
  { error, code = '' }: Extract<Amount, { value?: undefined }>,
  text: string,
): string {
  const words = texts.value.convert
  if (error === 'no-amount') return words.noAmount(text.trim())
  return error === 'unknown-currency' ? words.unknown(code) : words.errors[error]
}
