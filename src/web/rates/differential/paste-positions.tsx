// Panel that adds pasted positions. Rows with an error are listed and not added.

import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CurrencyField } from '../../components/currency-field.tsx'
import type { DayBounds } from '../../components/dates/date-choice.ts'
import { SelectField } from '../../components/select-field.tsx'
import { formats, pageTexts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import type { PastedKind } from '../../model/pasted/columns.ts'
import { isConvertible, type PastedRow } from '../../model/pasted/rows.ts'
import type { Currency } from '../../model/rates/currencies.ts'
import type { PositionType } from '../../model/rates/differential.ts'
import { wording } from '../pasted/lists-texts.ts'
import { MissingColumns, PasteBox } from '../pasted/paste-box.tsx'
import { rowErrorText } from '../pasted/row-error.ts'
import { usePasted } from '../pasted/use-pasted.ts'
import { MAX_POSITIONS } from './position-store.ts'
import { addPositions, positions } from './positions.ts'

const MAX_ERRORS = 20
const NO_REPLACEMENTS: ReadonlyMap<string, string> = new Map()

export function PastePositions(props: {
  currencies: readonly Currency[]
  bounds: DayBounds
  onClose: () => void
}) {
  const { currencies, bounds, onClose } = props
  const { differential: words, list: listWords } = pageTexts(LISTS)
  const { count } = formats.value
  const [text, setText] = useState('')
  const [kinds, setKinds] = useState<readonly PastedKind[] | undefined>(undefined)
  const [source, setSource] = useState('USD')
  const [type, setType] = useState<PositionType>('asset')
  const pasted = usePasted({
    ...{ text, bounds, kinds, defaultCurrency: source, hasTypes: true },
    codes: new Set(currencies.map(({ code }) => code)),
    replacements: NO_REPLACEMENTS,
  })
  const rows = pasted.rows ?? []
  const ready = rows.filter(isConvertible)
  const badRows = rows.filter(({ error }) => error)
  const isFull = positions.value.length + ready.length > MAX_POSITIONS
  const add = () => {
    addPositions(
      ready.map((row) => ({
        ...{ detail: row.details.filter((one) => one !== '').join(' · '), type: row.type ?? type },
        ...{ balance: row.amount, currency: row.currency, day: row.day },
      })),
    )
    onClose()
  }
  return (
    <div class="paste-positions">
      <PasteBox
        text={text}
        onText={(newText) => {
          setText(newText)
          setKinds(undefined)
        }}
        pasted={pasted}
        onKinds={setKinds}
        hasTypes
      />
      <MissingColumns pasted={pasted} />
      <PasteErrors badRows={badRows} bounds={bounds} />
      {isFull && <p class="refusal">{words.full(count(MAX_POSITIONS))}</p>}
      <div class="row list-settings gap-12">
        <CurrencyField label={listWords.source} value={source} all={currencies} onChoose={setSource} />
        <TypeField type={type} onChoose={setType} />
        <div class="buttons convert-rows">
          <Button
            class="button main"
            disabled={ready.length === 0 || isFull || pasted.isReading}
            onClick={add}
          >
            {words.addRows(count(ready.length), ready.length === 1)}
          </Button>
          <Button onClick={onClose}>{words.form.cancel}</Button>
        </div>
      </div>
    </div>
  )
}

function TypeField({ type, onChoose }: { type: PositionType; onChoose: (type: PositionType) => void }) {
  const words = pageTexts(LISTS).differential
  const { asset, liability } = words.types
  return (
    <SelectField
      class="convert-currency"
      label={words.typeWhere}
      value={type}
      options={[
        ['asset', asset],
        ['liability', liability],
      ]}
      onChoose={(value) => onChoose(value as PositionType)}
    />
  )
}

function PasteErrors({ badRows, bounds }: { badRows: readonly PastedRow[]; bounds: DayBounds }) {
  const words = pageTexts(LISTS).differential
  const { count } = formats.value
  if (badRows.length === 0) return null
  return (
    <div class="small paste-errors above-12" role="status">
      <p class="refusal">
        {words.badRows} {count(badRows.length)}
      </p>
      <ul>
        {badRows.slice(0, MAX_ERRORS).map((row) => (
          <li key={row.number}>
            {row.error && words.badRow(count(row.number), rowErrorText(row.error, bounds, wording.value))}
          </li>
        ))}
      </ul>
    </div>
  )
}
