// Certificate of a conversion: issues it, or verifies the one of a link. The server makes its statement; the page only
// shows it (decisions#statements).

import { useEffect, useState } from 'preact/hooks'
import { serverTime } from '../../api/clock.ts'
import type { Failure } from '../../api/request.ts'
import type { Series, StatementResponse } from '../../api/responses.ts'
import { session } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { icons } from '../../components/icons.tsx'
import { FailureDetails, FailureNotice, Notice } from '../../components/notice.tsx'
import { CopyButton } from '../../components/output/copy-button.tsx'
import { useApi } from '../../components/use-api.ts'
import { formats, pageTexts, setView, texts, view } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import {
  type CertificateLink,
  certificateCode,
  changeLogLimits,
  encodeCertificateLink,
  parseCertificateLink,
  statementPath,
} from '../../model/certificate-link.ts'
import { addDays, costaRicaDay } from '../../model/days.ts'
import { encodeFragment } from '../../model/fragment.ts'
import { Paper } from './paper.tsx'
import { LimitsVerdict, Verdict } from './verdict.tsx'

type NewCertificate = { query: string; answer: StatementResponse; at: number }

export function Certificate({ series }: { series: readonly Series[] }) {
  const words = pageTexts(CERTIFICATE)
  const { certificate: query } = view.value
  const link = parseCertificateLink(query)
  const { answer, failure, isIssued, at } = useStatement(link, query)
  const current = session.value
  const publicUrl = 'public_url' in current ? current.public_url : undefined
  const code = answer && answer.matches !== false ? certificateCode(answer.sha256) : ''
  useTitle(code === '' ? words.title : `${words.kind} ${code}`)
  return (
    <section class="certificate" aria-labelledby="certificate" aria-busy={link && !answer && !failure}>
      <div class="row certificate-tools gap-8">
        <a class="plain tool gap-8" href={encodeFragment({ ...view.value, ratesView: 'query' })}>
          {icons.previous}
          {words.back}
        </a>
        <Button class="button main" disabled={code === ''} onClick={() => print()}>
          {icons.print}
          {words.print}
        </Button>
        <CopyButton class="button" icon={icons.link} content={() => viewAddress(query)} isOff={code === ''}>
          {words.copyLink}
        </CopyButton>
      </div>
      {link && answer ? (
        <>
          {!isIssued && <Verdict link={link} answer={answer} />}
          {code === '' ? (
            <StatementText answer={answer} />
          ) : (
            <Paper
              series={series}
              link={link}
              answer={answer}
              address={viewAddress(query, publicUrl)}
              at={at}
              isIssued={isIssued}
            />
          )}
          {code !== '' && <StatementText answer={answer} isClosed />}
        </>
      ) : (
        <>
          <h2 id="certificate">{words.title}</h2>
          {!link ? (
            <Notice title={words.damaged} text={words.damagedText} />
          ) : failure ? (
            <Refusal failure={failure} day={link.on} />
          ) : (
            <p class="loading">{words.loading}</p>
          )}
        </>
      )}
    </section>
  )
}

/** Requests a statement. Once a new certificate is issued, the address of the view is its link. */
function useStatement(link: CertificateLink | undefined, query: string) {
  const [issued, setIssued] = useState<NewCertificate | undefined>(undefined)
  const isIssued = issued?.query === query
  const { value, failure } = useApi<StatementResponse>(link && !isIssued ? statementPath(link) : undefined)
  useEffect(() => {
    if (!link || link.issue || !value) return
    const { as_of: asOf, sha256 } = value
    const complete = encodeCertificateLink({ ...link, issue: { asOf, sha256 } })
    setIssued({ query: complete, answer: value, at: serverTime() })
    setView({ certificate: complete })
  }, [value])
  if (isIssued) return { answer: issued.answer, at: issued.at, isIssued }
  // The answer to a new certificate waits for its link.
  return { answer: link?.issue && value, failure, at: serverTime(), isIssued: false }
}

/** Sets the title of the window, which browsers propose as the name of the PDF. */
function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · cambista`
  })
  useEffect(
    () => () => {
      document.title = `${texts.value.screens[view.value.screen]} · cambista`
    },
    [],
  )
}

function viewAddress(query: string, page = location.origin + location.pathname): string {
  return `${page}#rates/certificate?${query}`
}

/** Lines whose SHA-256 is the digest: to compare them with a paper, or to compute the digest by hand. */
function StatementText({ answer, isClosed = false }: { answer: StatementResponse; isClosed?: boolean }) {
  const words = pageTexts(CERTIFICATE)
  return (
    <details class="statement rounded" open={!isClosed}>
      <summary>{words.statement}</summary>
      <pre>{answer.statement}</pre>
      <p class="hint">{words.statementHint}</p>
      <CopyButton class="button" content={() => answer.statement}>
        {words.copyStatement}
      </CopyButton>
    </details>
  )
}

function Refusal({ failure, day }: { failure: Failure; day: string }) {
  const words = pageTexts(CERTIFICATE)
  const limits = changeLogLimits(failure.body)
  if (limits) return <LimitsVerdict limits={limits} />
  if (failure.kind === 'invalid' && day > addDays(costaRicaDay(serverTime()), 1)) {
    return <Notice title={words.tooLate(formats.value.day(day))} text={words.tooLateText} />
  }
  if (failure.kind !== 'not-found') return <FailureNotice failure={failure} />
  return (
    <Notice title={words.none}>
      <FailureDetails failure={failure} />
    </Notice>
  )
}
