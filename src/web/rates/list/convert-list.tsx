// View that converts a pasted list: the field, the columns as they were read, and the result.

import type { Series } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { CurrencyField } from '../../components/currency-field.tsx'
import type { DayBounds } from '../../components/dates/date-choice.ts'
import { FailureNotice } from '../../components/notice.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { formats, pageTexts, setView, texts, view } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { SIDES } from '../../model/fragment.ts'
import { listedCurrencies } from '../../model/rates/currencies.ts'
import { MissingColumns, missingColumns, PasteBox } from '../pasted/paste-box.tsx'
import { type Pasted, usePasted } from '../pasted/use-pasted.ts'
import { ListResult } from './list-result.tsx'
import { listState, setList } from './list-state.ts'
import { useConversion } from './use-conversion.ts'

/** Currencies at par with one that has rates. */
const AT_PAR = new Map([['PAB', 'USD']])

export function ConvertList({ series, bounds }: { series: readonly Series[]; bounds: DayBounds }) {
  const words = pageTexts(LISTS).list
  const { text, kinds, isConverted, asDollar } = listState.value
  const { listSource, listTarget, listSide } = view.value
  const currencies = listedCurrencies(series, formats.value)
  const isLoaded = series.length > 0
  const pasted = usePasted({
    ...{ text: isLoaded ? text : '', bounds, kinds, defaultCurrency: listSource },
    codes: new Set(currencies.map(({ code }) => code)),
    replacements: new Map([...AT_PAR].filter(([code]) => asDollar.includes(code))),
  })
  const { rows } = pasted
  const request = isConverted && rows ? { rows, target: listTarget, side: listSide } : undefined
  const conversion = useConversion(request, isConverted)
  return (
    <>
      <section class="card list-card" aria-labelledby="list-title">
        <h2 id="list-title">{words.title}</h2>
        <p class="hint">{words.hint}</p>
        <PasteBox
          text={text}
          onText={(text) => setList({ text, kinds: undefined, isConverted: false, asDollar: [] })}
          pasted={pasted}
          onKinds={(kinds) => setList({ kinds, isConverted: false })}
        />
        <div class="row list-settings gap-12">
          <CurrencyField
            label={words.source}
            value={listSource}
            all={currencies}
            onChoose={(listSource) => setView({ listSource })}
          />
          <CurrencyField
            label={words.target}
            value={listTarget}
            all={currencies}
            onChoose={(listTarget) => setView({ listTarget })}
          />
          <div class="list-side">
            <span class="label" aria-hidden="true">
              {texts.value.convert.side}
            </span>
            <SegmentedControl
              name="list-side"
              label={texts.value.convert.side}
              value={listSide}
              choices={SIDES.map((value) => ({ value, label: texts.value.sides[value] }))}
              onChoose={(listSide) => setView({ listSide })}
            />
          </div>
          <ConvertButton pasted={pasted} isBusy={conversion.isBusy} />
        </div>
        <MissingColumns pasted={pasted} />
      </section>
      {conversion.failure && <FailureNotice failure={conversion.failure} waits={words.waits} />}
      {conversion.list && pasted.table && (
        <ListResult
          list={conversion.list}
          table={pasted.table}
          bounds={bounds}
          series={series}
          isBusy={conversion.isBusy}
          replacements={AT_PAR}
        />
      )}
    </>
  )
}

function ConvertButton({ pasted, isBusy }: { pasted: Pasted; isBusy: boolean }) {
  const words = pageTexts(LISTS)
  const { rows, isReading } = pasted
  const count = rows?.length ?? 0
  const label = isBusy
    ? words.list.converting
    : isReading
      ? words.paste.reading
      : words.list.convert(formats.value.count(count), count === 1)
  return (
    <Button
      class="button main convert-rows"
      disabled={isBusy || !rows || missingColumns(pasted).length > 0}
      aria-busy={isBusy || isReading}
      onClick={() => setList({ isConverted: true })}
    >
      {label}
    </Button>
  )
}
