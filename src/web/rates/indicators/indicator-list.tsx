import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { formats, pageTexts, setView, texts } from '../../components/view.ts'
import { INDICATORS } from '../../i18n/indicator-texts.ts'
import type { PageIndicator } from '../../model/indicators.ts'
import { INDICATOR_TREND } from './indicator-trend.tsx'

const INITIAL_ROWS = 8

/** Indicators with their newest values. @param selected code of the indicator in the chart */
export function IndicatorList(props: { indicators: readonly PageIndicator[]; selected: string | undefined }) {
  const words = pageTexts(INDICATORS)
  const { indicators, selected } = props
  const { exact, day, count } = formats.value
  const [isWhole, setWhole] = useState(false)
  const visible = isWhole ? indicators.length : Math.min(indicators.length, INITIAL_ROWS)
  return (
    <>
      <table class="data compact above-12 indicator-table">
        <caption class="unseen">{texts.value.below.indicators}</caption>
        <thead>
          <tr>
            <th scope="col">{words.columns.name}</th>
            <th scope="col" class="number">
              {words.columns.value}
            </th>
            <th scope="col">{words.columns.unit}</th>
            <th scope="col" class="number">
              {words.columns.day}
            </th>
          </tr>
        </thead>
        <tbody>
          {indicators.map(({ code, name, unit, newest_value: value, newest_date: newest }, at) => (
            <tr key={code} class={at < visible ? undefined : 'printed-only'}>
              <th scope="row">
                <TrendChoice code={code} name={name ?? code} isSelected={code === selected} isMarked />
              </th>
              <td class="number indicator-value">{value ? exact(value) : '—'}</td>
              <td class={unit ? 'quiet indicator-unit' : 'quiet indicator-unit no-unit'} lang="es">
                {unit ?? '—'}
              </td>
              <td class="number quiet">{newest ? day(newest) : '—'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {indicators.length > INITIAL_ROWS && (
        <p class="row small quiet row-count above-8">
          {!isWhole && words.shown(count(visible), count(indicators.length))}
          <Button class="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? words.showLess : words.showAll(count(indicators.length))}
          </Button>
        </p>
      )}
    </>
  )
}

/** Button that shows the chart of an indicator or entity. */
export function TrendChoice(props: { code: string; name: string; isSelected: boolean; isMarked?: boolean }) {
  const { code, name, isSelected, isMarked } = props
  const show = () => {
    setView({ indicator: code, indicatorFrom: '', indicatorTo: '' })
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    const chart = document.getElementById(INDICATOR_TREND)
    chart?.scrollIntoView({ behavior: isCalm ? 'auto' : 'smooth', block: 'nearest' })
  }
  return (
    <Button
      class="currency"
      aria-pressed={isSelected}
      title={pageTexts(INDICATORS).trend(name)}
      onClick={show}
    >
      {isMarked && <span class="currency-code sunk tiny bold">{code}</span>}
      <span class="currency-name" lang="es">
        {name}
      </span>
    </Button>
  )
}
