// Verdict about the certificate of a link, and the values that changed since.

import type { ComponentChildren } from 'preact'
import type { CorrectedValue, StatementResponse } from '../../api/responses.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import type { CertificateLink, changeLogLimits } from '../../model/certificate-link.ts'
import { decimalSign } from '../../model/decimal.ts'
import { legName } from '../../model/rates/support.ts'

export function Verdict({ link, answer }: { link: CertificateLink; answer: StatementResponse }) {
  const words = pageTexts(CERTIFICATE)
  if (answer.matches) {
    return (
      <VerdictBox kind="good" title={words.matches}>
        {answer.now && <LaterAnswer link={link} now={answer.now} />}
      </VerdictBox>
    )
  }
  return (
    <VerdictBox kind="bad" title={words.differs} id="certificate">
      <dl class="digests grid">
        <div>
          <dt class="small">{words.linkDigest}</dt>
          <dd>{link.issue?.sha256}</dd>
        </div>
        <div>
          <dt class="small">{words.ownDigest}</dt>
          <dd>{answer.sha256}</dd>
        </div>
      </dl>
      <p>{words.differsHint}</p>
    </VerdictBox>
  )
}

/** The instant is outside the change log of the server. */
export function LimitsVerdict({ limits }: { limits: NonNullable<ReturnType<typeof changeLogLimits>> }) {
  const words = pageTexts(CERTIFICATE)
  const { instant } = formats.value
  if ('from' in limits) {
    return (
      <VerdictBox kind="warn" title={words.before(instant(limits.from))}>
        <p>{words.beforeHint}</p>
      </VerdictBox>
    )
  }
  return <VerdictBox kind="warn" title={words.gap(instant(limits.gap.from), instant(limits.gap.to))} />
}

function VerdictBox(props: {
  kind: 'good' | 'warn' | 'bad'
  title: string
  id?: string
  children?: ComponentChildren
}) {
  return (
    <div class={`verdict grid rounded ${props.kind}`} role="status">
      <p class="verdict-title bold" id={props.id}>
        {props.title}
      </p>
      {props.children}
    </div>
  )
}

function LaterAnswer({ link, now }: { link: CertificateLink; now: NonNullable<StatementResponse['now']> }) {
  const words = pageTexts(CERTIFICATE)
  const { corrections, result } = now
  const byKind = Object.groupBy(corrections, ({ kind }) => kind)
  const reasons = Object.entries(words.changes).flatMap(([kind, sentence]) => {
    const names = byKind[kind as CorrectedValue['kind']]?.map(valueName)
    return names ? `${sentence(names)} ` : []
  })
  const results = typeof result === 'string' ? [result] : (result ?? [])
  const sum = words.joinResults(results.map((one) => money(one, link)))
  return (
    <>
      <p>
        {reasons}
        {result === null ? (
          <>
            {words.noAnswerNow} {now.detail !== undefined && <q lang="en">{now.detail}</q>}
          </>
        ) : (
          words.changedNow(sum)
        )}
      </p>
      <ul>
        {corrections.map((one) => (
          <li key={valueName(one)}>{changeText(one)}</li>
        ))}
      </ul>
    </>
  )
}

/** Writes a result with the sign of the amount. */
function money(result: string, { amount, target }: CertificateLink): string {
  const { accounting } = formats.value
  const signedResult = decimalSign(amount) < 0 ? `-${result}` : result
  const figure = accounting(signedResult, formats.value.result)
  return target === 'CRC' ? `₡${figure}` : `${figure} ${target}`
}

/** Name of a value, such as `USD/CRC venta del 22/11/2026`. */
function valueName({ pair, rate_type, rate_date }: CorrectedValue): string {
  const name = legName({ pair, rate_type, rate_date, value: '', inverse: false }, texts.value.sides)
  return pageTexts(CERTIFICATE).valueOfDay(name, formats.value.day(rate_date))
}

function changeText(value: CorrectedValue): string {
  const words = pageTexts(CERTIFICATE)
  const { exact, instant } = formats.value
  const figure = (text: string | null) => (text === null ? words.noValue : exact(text))
  const at = value.at === null ? '' : instant(value.at)
  return words.change(valueName(value), figure(value.was), figure(value.is), at)
}
