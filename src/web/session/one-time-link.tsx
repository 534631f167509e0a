// Confirms a one-time link. An attacker may send one, so that the user uploads documents into the attacker's company.
// The page therefore names the key or token and the session to replace, and waits for a click.

import { computed } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { session } from '../api/session.ts'
import { queryCode, type Refusal, requestSession } from '../api/sign-in.ts'
import { FailureNotice } from '../components/notice.tsx'
import { refreshCount } from '../components/use-api.ts'
import { language, texts } from '../components/view.ts'
import { LINK } from '../i18n/link.ts'
import { inLanguage } from '../i18n/table.ts'
import { visibleText } from '../model/visible.ts'
import { refusalText } from './secret-form.tsx'

const linkTexts = computed(() => inLanguage(LINK, language.value))

const NO_SECRETS = { key: null, token: null }

type CodeResult = Awaited<ReturnType<typeof queryCode>>

export function OneTimeLink({ code, onDone }: { code: string; onDone: () => void }) {
  const words = texts.value.session
  const [result, setResult] = useState<CodeResult | undefined>(undefined)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const refresh = refreshCount.value
  useEffect(() => {
    queryCode(code).then(setResult)
  }, [code, refresh])
  if (!result) return <p class="loading">{texts.value.loading}</p>
  if (result.failure && !isGone(result.failure.status)) {
    return (
      <>
        <FailureNotice failure={result.failure} />
        <button type="button" class="link" onClick={onDone}>
          {linkTexts.value.cancel}
        </button>
      </>
    )
  }
  const { key, token } = result.value ?? NO_SECRETS
  const names = [key?.name, token?.name].filter((name) => name !== undefined)
  const company = result.value?.company ? `«${visibleText(result.value.company.name)}»` : words.allCompanies
  const enter = async () => {
    setBusy(true)
    const error = await requestSession({ code })
    setBusy(false)
    setRefusal(error)
    if (!error) onDone()
  }
  return (
    <div class="door">
      <section class="card door-card" aria-labelledby="one-time-link">
        {names.length === 0 ? (
          <>
            <h1 id="one-time-link">{linkTexts.value.codeGone}</h1>
            <button type="button" class="button main wide" onClick={onDone}>
              {words.title}
            </button>
          </>
        ) : (
          <>
            <h1 id="one-time-link">
              {linkTexts.value.askTitle(visibleText([...new Set(names)].join(' + ')))}
            </h1>
            {key && <p>{linkTexts.value.askKey}</p>}
            {token && <p>{linkTexts.value.askToken(company)}</p>}
            <ReplacedSession />
            <p class="quiet">{linkTexts.value.askCare}</p>
            <p class="refusal" role="alert">
              {refusal &&
                (isGone((refusal as { status?: number }).status)
                  ? linkTexts.value.codeGone
                  : refusalText(refusal, texts.value))}
            </p>
            <div class="buttons">
              <button type="button" class="button main" disabled={isBusy} onClick={enter}>
                {isBusy ? words.entering : words.enter}
              </button>
              <button type="button" class="button" onClick={onDone}>
                {linkTexts.value.cancel}
              </button>
            </div>
          </>
        )}
      </section>
    </div>
  )
}

function isGone(status: number | undefined): boolean {
  return status === 401 || status === 404 || status === 410
}

function ReplacedSession() {
  const current = session.value
  if (current.state !== 'in') return null
  const names = [current.key?.name, current.token?.name].filter((name) => name !== undefined)
  return <p class="caution">{linkTexts.value.askReplaces(visibleText(names.join(' + ')))}</p>
}
