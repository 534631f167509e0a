// Unrounded and rounded result, the instant of the data in both zones, and the person.

import type { ComponentChildren } from 'preact'
import type { Series, StatedConversion, StatementResponse } from '../../api/responses.ts'
import { session } from '../../api/session.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import type { CertificateLink } from '../../model/certificate-link.ts'
import { decimalSign } from '../../model/decimal.ts'

export type PaperProps = {
  series: readonly Series[]
  link: CertificateLink
  answer: StatementResponse
  /** Address that verifies the certificate. */
  address: string
  /** Milliseconds: time of issue, or of verification. */
  at: number
  isIssued: boolean
}

const SECONDS = new Intl.DateTimeFormat('en-GB', {
  // 22/11/2026, 23:52:10
  ...{ timeZone: 'America/Costa_Rica', dateStyle: 'short', timeStyle: 'medium' },
})

export function Calculation(props: PaperProps & { conversions: readonly StatedConversion[] }) {
  const { link, answer, at, isIssued, conversions } = props
  const words = pageTexts(CERTIFICATE)
  const { accounting, exact, whole } = formats.value
  const current = session.value
  const person = current.state === 'in' ? (current.person ?? '') : ''
  const sign = decimalSign(link.amount) < 0 ? '-' : ''
  const sideName = ({ rate_type }: StatedConversion) =>
    conversions.length > 1 ? `, ${texts.value.sides[rate_type].toLowerCase()}` : ''
  const isSmall = (result: string) => /^0\.00/.test(result)
  const labels = isIssued
    ? { alone: words.issued, by: words.issuedBy }
    : { alone: words.verified, by: words.verifiedBy }
  const [day = '', time = ''] = formats.value.instant(at).split(', ')
  return (
    <>
      <h3>{words.calculation}</h3>
      <dl class="calculation grid quiet">
        {conversions.map((conversion) => (
          <Row key={conversion.rate_type} label={words.unrounded + sideName(conversion)}>
            <Figure text={accounting(link.amount, whole)} /> × <Figure text={exact(conversion.rate)} /> ={' '}
            <Figure text={accounting(sign + conversion.result, whole)} />
          </Row>
        ))}
        {conversions.map((conversion) => (
          <Row key={conversion.rate_type} label={words.roundedResult + sideName(conversion)}>
            <Figure text={accounting(sign + conversion.result, formats.value.result)} /> (
            {isSmall(conversion.result) ? words.sixDigits : words.twoPlaces})
          </Row>
        ))}
        <Row label={words.dataAsOf} detail={`(${answer.as_of})`}>
          {words.costaRica(SECONDS.format(new Date(answer.as_of)))}
        </Row>
        <Row label={person === '' ? labels.alone : labels.by}>{words.personAt(person, day, time)}</Row>
      </dl>
    </>
  )
}

function Row(props: { label: string; detail?: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>
        <strong>{props.children}</strong> {props.detail && <span class="nowrap">{props.detail}</span>}
      </dd>
    </div>
  )
}

/** Figure on one line; only one of more than 24 characters may wrap. */
function Figure({ text }: { text: string }) {
  return <span class={text.length > 24 ? 'figure longest' : 'figure'}>{text}</span>
}
