// Confirms a one-time link. An attacker may send one, so that the user uploads documents into the attacker's company.
// The page therefore names the person, the rights and the session to replace, and waits for a click.

import { useEffect, useState } from 'preact/hooks'
import { session } from '../api/session.ts'
import { type LinkFacts, queryCode, type Refusal, requestSession } from '../api/sign-in.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { FailureNotice } from '../components/notice.tsx'
import { refreshCount } from '../components/use-api.ts'
import { formats, language, pageTexts, texts } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'
import { costaRicaDay } from '../model/days.ts'
import { visibleText } from '../model/visible.ts'
import { Remember } from './remember.tsx'
import { refusalText } from './secret-form.tsx'
import { sessionName } from './session-name.ts'

type CodeResult = Awaited<ReturnType<typeof queryCode>>

export function OneTimeLink({ code, onDone }: { code: string; onDone: () => void }) {
  const words = pageTexts(DOORS)
  const [result, setResult] = useState<CodeResult | undefined>(undefined)
  const refresh = refreshCount.value
  useEffect(() => {
    let isCancelled = false
    void queryCode(code).then((answer) => {
      if (!isCancelled) setResult(answer)
    })
    return () => {
      isCancelled = true
    }
  }, [code, refresh])
  if (!result) return <p class="loading">{texts.value.loading}</p>
  if (result.failure && !isGone(result.failure.status)) {
    return (
      <>
        <FailureNotice failure={result.failure} />
        <Button class="link" onClick={onDone}>
          {words.cancel}
        </Button>
      </>
    )
  }
  return (
    <div class="door">
      <section class="card door-card" aria-labelledby="one-time-link">
        <div class="door-mark">{icons.mark}</div>
        {result.value ? (
          <Confirmation code={code} facts={result.value} onDone={onDone} />
        ) : (
          <>
            <h1 id="one-time-link">{words.link.gone}</h1>
            <Button class="button main wide" onClick={onDone}>
              {words.enter}
            </Button>
          </>
        )}
      </section>
    </div>
  )
}

function Confirmation(props: { code: string; facts: LinkFacts; onDone: () => void }) {
  const { code, facts, onDone } = props
  const words = pageTexts(DOORS)
  const [isRemembered, setRemembered] = useState(facts.remember)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const enter = async () => {
    setBusy(true)
    const error = await requestSession({ code, remember: isRemembered })
    setBusy(false)
    setRefusal(error)
    if (!error) onDone()
  }
  const { day, time } = formats.value
  return (
    <>
      <h1 id="one-time-link">{words.link.title(sessionName(facts))}</h1>
      <p>{words.link.opens(rightsText(facts))}</p>
      <ReplacedSession />
      <Remember isChecked={isRemembered} onChange={setRemembered} />
      <p class="refusal" role="alert">
        {refusal &&
          (isGone((refusal as { status?: number }).status) ? words.link.gone : refusalText(refusal))}
      </p>
      <div class="buttons">
        <Button class="button main" disabled={isBusy} onClick={enter}>
          {isBusy ? words.entering : words.enter}
        </Button>
        <Button onClick={onDone}>{words.cancel}</Button>
      </div>
      <p class="quiet small">
        {words.link.until(day(costaRicaDay(Date.parse(facts.ends_at))), time(facts.ends_at))}
      </p>
    </>
  )
}

/** Rights of a link in words. */
function rightsText({ key, token, company }: LinkFacts): string {
  const { link } = pageTexts(DOORS)
  const list = new Intl.ListFormat(language.value)
  const owner = company ? visibleText(company.name) : link.allCompanies
  const allows = (right: string) => token?.allow.includes(right) ?? false
  const isReader = allows('documents:GET')
  const things = [...(key ? [link.rates] : []), ...(isReader ? [link.documents(owner)] : [])]
  const { send, sendOthers, claim, retry, remove } = link.actions
  const actions = [
    ...(allows('documents:POST') ? [isReader ? sendOthers : send(owner)] : []),
    ...(allows('documents:CLAIM') ? [claim] : []),
    ...(allows('documents:RETRY') ? [retry] : []),
    ...(allows('documents:DELETE') ? [remove] : []),
  ]
  const sight = things.length > 0 ? link.sees(list.format(things)) : ''
  const possible = actions.length > 0 ? link.can(list.format(actions)) : ''
  return sight && possible ? link.both(sight, possible) : sight || possible
}

function isGone(status: number | undefined): boolean {
  return status === 401 || status === 404 || status === 410
}

function ReplacedSession() {
  const current = session.value
  if (current.state !== 'in') return null
  return <p class="caution">{pageTexts(DOORS).link.replaces(sessionName(current))}</p>
}
