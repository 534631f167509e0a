// Letter page of a certificate: letterhead, equation, legs, calculation, and how to verify it.

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Series, StatedConversion, StatementResponse } from '../../api/responses.ts'
import { session } from '../../api/session.ts'
import { icons } from '../../components/icons.tsx'
import { SignedFigure } from '../../components/signed-figure.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import { type CertificateLink, certificateCode, digestGroups } from '../../model/certificate-link.ts'
import { decimalSign } from '../../model/decimal.ts'
import { qrCode } from '../../model/qr-code.ts'
import { indicatorCodes, LegsTable } from './legs-table.tsx'

type PaperProps = {
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

export function Paper(props: PaperProps) {
  const { series, link, answer, address } = props
  const words = pageTexts(CERTIFICATE)
  const conversions = statedConversions(answer)
  return (
    <article class="paper">
      <PaperHead sha256={answer.sha256} />
      <h2 id="certificate">{words.title}</h2>
      <p class="paper-hint">{words.according}</p>
      <Equation link={link} conversions={conversions} />
      <LegsTable series={series} link={link} conversions={conversions} />
      <Calculation {...props} conversions={conversions} />
      <h3>{words.howToVerify}</h3>
      <div class="verification flex">
        <QrCode text={address} label={words.code} />
        <ol>
          <li>{words.byLink}</li>
          <li>{words.byCommand}</li>
          {conversions.some(({ legs }) => legs.length > 0) && (
            <li>{words.byHand(words.indicators(indicatorCodes(conversions, series)))}</li>
          )}
        </ol>
      </div>
      <p class="digest flex tiny">
        <span>{words.digest}</span>
        <span class="digest-groups">
          {digestGroups(answer.sha256).map((group, index) => (
            <span key={index}>{group} </span>
          ))}
        </span>
      </p>
      <footer class="paper-foot flex">
        <p>
          {words.closing}
          <br />
          {address.replace(/^https?:\/\/|\/?#.*$/g, '')}
        </p>
        <p class="nowrap">{words.onePage}</p>
      </footer>
    </article>
  )
}

function PaperHead({ sha256 }: { sha256: string }) {
  const words = pageTexts(CERTIFICATE)
  const current = session.value
  const organization = 'organization' in current ? current.organization : null
  const taxId = organization?.tax_id
  return (
    <header class="row paper-head">
      {icons.mark}
      <p>
        <strong>{organization?.name ?? 'cambista'}</strong>
        <span>{organization ? (taxId ? words.taxId(taxId) : '') : words.product}</span>
      </p>
      <p class="paper-code">
        <span>{words.kind}</span>
        <strong class="nowrap">{certificateCode(sha256)}</strong>
      </p>
    </header>
  )
}

function Equation({
  link,
  conversions,
}: {
  link: CertificateLink
  conversions: readonly StatedConversion[]
}) {
  const words = pageTexts(CERTIFICATE)
  const { exact, longDay } = formats.value
  const sign = decimalSign(link.amount) < 0 ? '-' : ''
  return (
    <div class="equation grid">
      <p class="equation-side">
        <span>{words.amount}</span>
        <strong>
          <SignedFigure value={link.amount} format={exact} unit={link.source} />
        </strong>
      </p>
      <p class="equation-sign quiet">
        <span aria-hidden="true">=</span>
        <span class="unseen">{words.equals}</span>
      </p>
      <div class="equation-results grid gap-10 text-end">
        {conversions.map(({ rate_type, result }) => (
          <p key={rate_type} class="equation-side">
            <span>
              {words.atDay(longDay(link.on))}
              {rate_type === 'referencia' ? '' : `, ${texts.value.sides[rate_type].toLowerCase()}`}
            </span>
            <strong>
              <SignedFigure value={sign + result} format={formats.value.result} unit={link.target} />
            </strong>
          </p>
        ))}
      </div>
    </div>
  )
}

function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => qrCode(text), [text])
  const box = `0 0 ${size} ${size}`
  return (
    <svg class="qr-code" viewBox={box} shape-rendering="crispEdges" role="img" aria-label={label}>
      <rect class="qr-ground" width={size} height={size} />
      <path d={path} />
    </svg>
  )
}

function statedConversions({ conversion }: StatementResponse): readonly StatedConversion[] {
  return 'legs' in conversion ? [conversion] : conversion
}

function Calculation(props: PaperProps & { conversions: readonly StatedConversion[] }) {
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
