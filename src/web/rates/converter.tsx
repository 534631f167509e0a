// An amount in another currency. How the amount was read always stands below it; a result is shown only for what is
// asked now.

import { useEffect, useId, useState } from 'preact/hooks'
import { useAnswer } from '../parts/answer.ts'
import { icons } from '../parts/icons.tsx'
import { wordsOf } from '../parts/notice.tsx'
import { Segmented } from '../parts/segmented.tsx'
import { formats, language, look, texts, view } from '../parts/view.ts'
import type { Conversion, Series } from '../server/answers.ts'
import { readAmount, writeAmount } from '../words/amount.ts'
import { type Currency, currenciesOf } from '../words/currencies.ts'
import { SIDES } from '../words/fragment.ts'

const PAUSE_MS = 150
const COPIED_MS = 2000

/** @param refused why no day is asked for */
export function Converter({ series, refused }: { series: readonly Series[]; refused: string | undefined }) {
  const words = texts.value
  const { amount, source, target, side, on } = view.value
  const [typed, setTyped] = useState(() => writeAmount(amount, formats.value.whole))
  const read = readAmount(typed)
  const id = useId()
  const written = writeAmount(amount, formats.value.whole)
  useEffect(() => setTyped(written), [language.value])
  useEffect(() => {
    if (readAmount(typed).value !== amount) setTyped(written) // another link was opened
  }, [amount])
  const type = (text: string) => {
    setTyped(text)
    const { value } = readAmount(text)
    if (value !== undefined) look({ amount: value })
  }
  const currencies = currenciesOf(series, formats.value)
  return (
    <section class="card converter" aria-labelledby="converter">
      <div class="card-head">
        <h2 id="converter">{words.convert.title}</h2>
        <Segmented
          name="side"
          label={words.convert.side}
          value={side}
          choices={SIDES.map((value) => ({ value, label: words.sides[value] }))}
          onChoose={(chosen) => look({ side: chosen })}
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
            value={typed}
            aria-invalid={read.fault !== undefined}
            aria-describedby={`${id}-read`}
            onInput={(event) => type(event.currentTarget.value)}
          />
        </div>
        <CurrencyField
          label={words.convert.source}
          value={source}
          all={currencies}
          onChoose={(source) => look({ source })}
        />
        <button
          type="button"
          class="plain round swap"
          aria-label={words.convert.swap}
          title={words.convert.swap}
          onClick={() => look({ source: target, target: source })}
        >
          {icons.swap}
        </button>
        <CurrencyField
          label={words.convert.target}
          value={target}
          all={currencies}
          onChoose={(target) => look({ target })}
        />
      </div>
      <p class={read.fault ? 'reading refusal' : 'reading'} id={`${id}-read`}>
        {read.fault
          ? words.convert.faults[read.fault]
          : words.convert.reads(formats.value.exact(read.value), source)}
      </p>
      {refused === undefined ? (
        <Outcome question={read.value && { amount: read.value, source, target, side, on }} />
      ) : (
        <div class="outcome">
          <p class="refusal">{refused}</p>
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

type Question = { amount: string; source: string; target: string; side: string; on: string }

function Outcome({ question }: { question: Question | undefined | '' }) {
  const words = texts.value
  const asked = usePaused(question ? pathOf(question) : undefined)
  const answer = useAnswer<Conversion>(asked)
  const isCurrent = question && pathOf(question) === asked
  const value = isCurrent ? answer.value : undefined
  const failure = isCurrent ? answer.failure : undefined
  if (!question) return <div class="outcome" />
  if (failure && !value) {
    const isNone = failure.kind === 'not-found'
    return (
      <div class="outcome" role="status">
        <p class="refusal">{isNone ? words.convert.none : wordsOf(failure).title}</p>
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
            <output>{rounded(value.result)}</output> <span class="unit">{question.target}</span>
            <Copy text={value.result} />
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
            <dd>{words.convert.rate(question.source, exact(value.rate), question.target)}</dd>
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

function Copy({ text }: { text: string }) {
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

function pathOf({ amount, source, target, side, on }: Question): string {
  const words = new URLSearchParams({ amount, from: source, to: target, type: side })
  if (on !== '') words.set('on', on)
  return `/api/v1/convert?${words}`
}

/** What was the same for a moment, so that the server is not asked for each letter. */
function usePaused(path: string | undefined): string | undefined {
  const [paused, setPaused] = useState(path)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(path), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [path])
  return paused
}
