// Converts an amount. The parsed amount is always shown below the field. A result is shown only if it answers the
// current request.

import { useEffect, useId, useState } from 'preact/hooks'
import type { Conversion, Series } from '../api/responses.ts'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { SegmentedControl } from '../components/segmented-control.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, language, setView, texts, view } from '../components/view.ts'
import { formatAmount, parseAmount } from '../model/amount.ts'
import { type Currency, listedCurrencies } from '../model/currencies.ts'
import { SIDES } from '../model/fragment.ts'

const DEBOUNCE_MS = 150
const COPIED_MS = 2000

/** @param dayError reason why the page requests no rates of the day */
export function Converter({ series, dayError }: { series: readonly Series[]; dayError: string | undefined }) {
  const words = texts.value
  const { amount, source, target, side, on } = view.value
  const [input, setInput] = useState(() => formatAmount(amount, formats.value.whole))
  const inputAmount = parseAmount(input)
  const id = useId()
  const amountText = formatAmount(amount, formats.value.whole)
  useEffect(() => setInput(amountText), [language.value])
  useEffect(() => {
    if (parseAmount(input).value !== amount) setInput(amountText) // another link was opened
  }, [amount])
  const changeInput = (text: string) => {
    setInput(text)
    const { value } = parseAmount(text)
    if (value !== undefined) setView({ amount: value })
  }
  const currencies = listedCurrencies(series, formats.value)
  return (
    <section class="card converter" aria-labelledby="converter">
      <div class="card-head">
        <h2 id="converter">{words.convert.title}</h2>
        <SegmentedControl
          name="side"
          label={words.convert.side}
          value={side}
          choices={SIDES.map((value) => ({ value, label: words.sides[value] }))}
          onChoose={(side) => setView({ side: side })}
        />
      </div>
      <div class="convert-fields">
        <div class="convert-amount">
          <label for={id}>{words.convert.amount}</label>
          <input
            id={id}
            class="field amount"
            inputmode="decimal"
            autocomplete="off"
            maxLength={80}
            value={input}
            aria-invalid={inputAmount.error !== undefined}
            aria-describedby={`${id}-read`}
            onInput={(event) => changeInput(event.currentTarget.value)}
          />
        </div>
        <CurrencyField
          label={words.convert.source}
          value={source}
          all={currencies}
          onChoose={(source) => setView({ source })}
        />
        <button
          type="button"
          class="plain round swap"
          aria-label={words.convert.swap}
          title={words.convert.swap}
          onClick={() => setView({ source: target, target: source })}
        >
          {icons.swap}
        </button>
        <CurrencyField
          label={words.convert.target}
          value={target}
          all={currencies}
          onChoose={(target) => setView({ target })}
        />
      </div>
      <p class={inputAmount.error ? 'reading refusal' : 'reading'} id={`${id}-read`}>
        {inputAmount.error
          ? words.convert.errors[inputAmount.error]
          : words.convert.reads(formats.value.exact(inputAmount.value), source)}
      </p>
      {dayError === undefined ? (
        <ConversionResult
          request={inputAmount.value && { amount: inputAmount.value, source, target, side, on }}
        />
      ) : (
        <div class="outcome">
          <p class="refusal">{dayError}</p>
        </div>
      )}
    </section>
  )
}

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

type ConversionRequest = { amount: string; source: string; target: string; side: string; on: string }

function ConversionResult({ request }: { request: ConversionRequest | undefined | '' }) {
  const words = texts.value
  const path = useDebounced(request ? convertPath(request) : undefined)
  const response = useApi<Conversion>(path)
  const isCurrent = request && convertPath(request) === path
  const value = isCurrent ? response.value : undefined
  const failure = isCurrent ? response.failure : undefined
  if (!request) return <div class="outcome" />
  if (failure && !value) {
    const isMissing = failure.kind === 'not-found'
    return (
      <div class="outcome" role="status">
        <p class="refusal">{isMissing ? words.convert.none : failureText(failure).title}</p>
        {failure.detail !== '' && (
          <p class="quiet">
            {words.failures.says} <q lang="en">{failure.detail}</q>
          </p>
        )}
      </div>
    )
  }
  const { exact, rounded, day } = formats.value
  return (
    <div class="outcome" aria-live="polite" aria-busy={!value}>
      <p class="result">
        {value ? (
          <>
            <output>{rounded(value.result)}</output> <span class="unit">{request.target}</span>
            <CopyButton text={value.result} />
          </>
        ) : (
          <span class="awaited" />
        )}
      </p>
      {value && (
        <dl class="result-facts">
          <div>
            <dt>{words.convert.exactly}</dt>
            <dd>{exact(value.result)}</dd>
          </div>
          <div>
            <dt>{value.path.replaceAll('->', '→')}</dt>
            <dd>{words.convert.rate(request.source, exact(value.rate), request.target)}</dd>
          </div>
          <div>
            <dt>{words.sides[value.rate_type]}</dt>
            <dd>{day(value.rate_date)}</dd>
          </div>
          {value.rounded_to !== undefined && (
            <div>
              <dd class="caution">{words.dollar.rounded(value.rounded_to)}</dd>
            </div>
          )}
        </dl>
      )}
    </div>
  )
}

function CopyButton({ text }: { text: string }) {
  const words = texts.value.convert
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <button
      type="button"
      class="plain round copy"
      title={words.copy}
      aria-label={words.copy}
      onClick={() => void copy()}
    >
      {isCopied ? icons.done : icons.copy}
      <span class="unseen" role="status">
        {isCopied && words.copied}
      </span>
    </button>
  )
}

function convertPath({ amount, source, target, side, on }: ConversionRequest): string {
  const params = new URLSearchParams({ amount, from: source, to: target, type: side })
  if (on !== '') params.set('on', on)
  return `/api/v1/convert?${params}`
}

/** Returns the path once it is stable for 150 ms, against a request for each letter. */
function useDebounced(path: string | undefined): string | undefined {
  const [debounced, setDebounced] = useState(path)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(path), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [path])
  return debounced
}
