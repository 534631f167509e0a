// A one-time link is never taken by itself: it may come from an attacker, for documents to be uploaded into a company of
// theirs. The page names the key or token that it signs in with and the session that it replaces, and waits for a click.

import { computed } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { refreshes } from '../parts/answer.ts'
import { FailureNotice } from '../parts/notice.tsx'
import { language, texts } from '../parts/view.ts'
import { session } from '../server/session.ts'
import { lookAtCode, type Refusal, signInByCode } from '../server/sign-in.ts'
import { EN_LINK } from '../texts/en-link.ts'
import { ES_LINK, type LinkTexts } from '../texts/es-link.ts'
import { visibleText } from '../words/visible.ts'
import { refusalWords } from './secret-field.tsx'

const linkTexts = computed<LinkTexts>(() => (language.value === 'en' ? EN_LINK : ES_LINK))

const NOTHING = { key: null, token: null }

type Found = Awaited<ReturnType<typeof lookAtCode>>

export function OneTimeLink({ code, onDone }: { code: string; onDone: () => void }) {
  const words = texts.value.session
  const [found, setFound] = useState<Found | undefined>(undefined)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const refresh = refreshes.value
  useEffect(() => {
    lookAtCode(code).then(setFound)
  }, [code, refresh])
  if (!found) return <p class="loading">{texts.value.loading}</p>
  if (found.failure && !isGone(found.failure.status)) {
    return (
      <>
        <FailureNotice failure={found.failure} />
        <button type="button" class="link" onClick={onDone}>
          {linkTexts.value.cancel}
        </button>
      </>
    )
  }
  const { key, token } = found.value ?? NOTHING
  const names = [key?.name, token?.name].filter((name) => name !== undefined)
  const company = found.value?.company ? `«${visibleText(found.value.company.name)}»` : words.allCompanies
  const enter = async () => {
    setBusy(true)
    const refused = await signInByCode(code)
    setBusy(false)
    setRefusal(refused)
    if (!refused) onDone()
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
            <Replaced />
            <p class="quiet">{linkTexts.value.askCare}</p>
            <p class="refusal" role="alert">
              {refusal &&
                (isGone((refusal as { status?: number }).status)
                  ? linkTexts.value.codeGone
                  : refusalWords(refusal, texts.value))}
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

function Replaced() {
  const current = session.value
  if (current.state !== 'in') return null
  const names = [current.key?.name, current.token?.name].filter((name) => name !== undefined)
  return <p class="caution">{linkTexts.value.askReplaces(visibleText(names.join(' + ')))}</p>
}
