// Published values that the rate was computed from: indicator of the bank, day, and operation. Notes name the values that
// are older than the day of the certificate.

import type { Series, StatedConversion } from '../../api/responses.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import { type CertificateLink, isWeekend } from '../../model/certificate-link.ts'
import { legName } from '../../model/rates/support.ts'

type StatedLeg = StatedConversion['legs'][number]
type LegsProps = {
  series: readonly Series[]
  link: CertificateLink
  conversions: readonly StatedConversion[]
}

export function LegsTable({ series, link, conversions }: LegsProps) {
  const words = pageTexts(CERTIFICATE)
  if (conversions.every(({ legs }) => legs.length === 0)) return <p class="paper-hint">{words.noLegs}</p>
  return (
    <>
      <table class="paper-table full">
        <caption>{words.source}</caption>
        <thead>
          <tr>
            {[words.value, words.series, words.published, words.figure, words.operation].map((title) => (
              <th key={title} scope="col" class={title === words.figure ? 'figure' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        {conversions.map((conversion) => (
          <ConversionRows key={conversion.rate_type} {...{ series, link, conversion }} />
        ))}
      </table>
      <Notes link={link} legs={usedLegs(conversions)} />
    </>
  )
}

/** Indicators of the values, without repetition. */
export function indicatorCodes(
  conversions: readonly StatedConversion[],
  series: readonly Series[],
): readonly string[] {
  const codes = usedLegs(conversions).map(({ series_id }) => indicatorCode(series_id, series))
  return [...new Set(codes)].filter((code) => code !== '')
}

function ConversionRows(props: Omit<LegsProps, 'conversions'> & { conversion: StatedConversion }) {
  const { series, link, conversion } = props
  const words = pageTexts(CERTIFICATE)
  const { sides } = texts.value
  const { exact, day } = formats.value
  const whole = { ...conversion, pair: `${link.source}/${link.target}`, value: '', inverse: false }
  return (
    <tbody>
      {conversion.legs.map((leg) => (
        <tr key={leg.series_id}>
          <th scope="row">{legName(leg, sides)}</th>
          <td>{words.indicator(indicatorCode(leg.series_id, series))}</td>
          <td>{day(leg.rate_date)}</td>
          <td class="figure">{exact(leg.value)}</td>
          <td>{leg.inverse ? words.divides : words.multiplies}</td>
        </tr>
      ))}
      {(conversion.legs.length > 1 || conversion.legs[0]?.inverse) && (
        <tr class="whole">
          <th scope="row">{legName(whole, sides)}</th>
          <td>{conversion.legs.map(equationPart).join(' ')}</td>
          <td>{words.numericDay(day(link.on))}</td>
          <td class="figure">{exact(conversion.rate)}</td>
          <td />
        </tr>
      )}
    </tbody>
  )
}

function equationPart({ value, inverse }: StatedLeg, index: number): string {
  const { exact } = formats.value
  if (inverse) return `${index === 0 ? '1 ' : ''}÷ ${exact(value)}`
  return index === 0 ? exact(value) : `× ${exact(value)}`
}

/** Names the values that are older than the day, or were rounded by the source. */
function Notes({ link, legs }: { link: CertificateLink; legs: readonly StatedLeg[] }) {
  const words = pageTexts(CERTIFICATE)
  const { date, sides } = texts.value
  const { day } = formats.value
  const seriesIds = new Set<number>()
  const notes: string[] = []
  for (const leg of legs) {
    if (seriesIds.has(leg.series_id)) continue
    seriesIds.add(leg.series_id)
    const { pair, rate_date, rounded_to, covered_to } = leg
    if (rate_date < link.on) {
      const name = pair === 'USD/CRC' || pair === 'EUR/USD' ? date.pairs[pair] : date.otherPair(pair)
      const isClosed = pair !== 'USD/CRC' && isWeekend(rate_date, link.on) // the dollar has a value for each day
      notes.push(
        covered_to === undefined
          ? words.older(day(link.on), name, isClosed, day(rate_date))
          : date.notStored(day(link.on), name, day(rate_date)),
      )
    }
    if (rounded_to !== undefined) notes.push(words.rounded(legName(leg, sides), rounded_to))
  }
  return (
    <ul class="paper-notes above-8">
      {[...new Set(notes)].map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  )
}

function usedLegs(conversions: readonly StatedConversion[]): readonly StatedLeg[] {
  return conversions.flatMap(({ legs }) => legs)
}

function indicatorCode(seriesId: number, series: readonly Series[]): string {
  return series.find(({ id }) => id === seriesId)?.external_code ?? ''
}
