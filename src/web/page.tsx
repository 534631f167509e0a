import { useEffect, useState } from 'preact/hooks'
import { refreshes } from './parts/answer.ts'
import { Footer } from './parts/footer.tsx'
import { Header } from './parts/header.tsx'
import { lazily } from './parts/lazily.tsx'
import { FailureNotice } from './parts/notice.tsx'
import { texts, view } from './parts/view.ts'
import { RatesScreen } from './rates/rates-screen.tsx'
import type { Failure } from './server/ask.ts'
import { session } from './server/session.ts'
import { resumeSession } from './server/sign-in.ts'
import { SignIn } from './session/sign-in.tsx'

const AddSecret = lazily(() => import('./other-screens.ts').then((file) => file.AddSecret))
const OneTimeLink = lazily(() => import('./other-screens.ts').then((file) => file.OneTimeLink))
const DocumentsScreen = lazily(() => import('./other-screens.ts').then((file) => file.DocumentsScreen))
const StatusScreen = lazily(() => import('./other-screens.ts').then((file) => file.StatusScreen))
const BELOW_RATES = {
  MonthEnds: lazily(() => import('./other-screens.ts').then((file) => file.MonthEnds)),
  EmptyBox: lazily(() => import('./other-screens.ts').then((file) => file.EmptyBox)),
  LeftOut: lazily(() => import('./other-screens.ts').then((file) => file.LeftOut)),
  MissingDaysNote: lazily(() => import('./other-screens.ts').then((file) => file.MissingDaysNote)),
  NeedsSecret: lazily(() => import('./other-screens.ts').then((file) => file.NeedsSecret)),
  ExportAll: lazily(() => import('./other-screens.ts').then((file) => file.ExportAll)),
}

export function Page() {
  const [code, setCode] = useState(takeLoginCode)
  const [adding, setAdding] = useState<'key' | 'token' | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const refresh = refreshes.value
  const current = session.value
  useEffect(() => {
    if (session.value.state === 'asking') void resumeSession().then(setFailure)
  }, [refresh, current.state])
  useEffect(() => {
    const arrived = () => {
      const next = takeLoginCode()
      if (next !== undefined) setCode(next)
    }
    addEventListener('hashchange', arrived)
    return () => removeEventListener('hashchange', arrived)
  }, [])
  return (
    <>
      <button type="button" class="skip button" onClick={skip}>
        {texts.value.skip}
      </button>
      <Header onAdd={setAdding} />
      <main id="main" tabIndex={-1}>
        {failure && current.state === 'asking' && (
          <>
            <h1 class="unseen">cambista</h1>
            <FailureNotice failure={failure} />
          </>
        )}
        {current.state !== 'asking' && code !== undefined && (
          <OneTimeLink code={code} onDone={() => setCode(undefined)} />
        )}
        {current.state === 'out' && code === undefined && <SignIn />}
        {current.state === 'in' && code === undefined && <Screen />}
      </main>
      {(current.state !== 'asking' || failure) && <Footer />}
      {adding && current.state === 'in' && <AddSecret what={adding} onDone={() => setAdding(undefined)} />}
    </>
  )
}

function Screen() {
  const { screen } = view.value
  if (screen === 'documents') return <DocumentsScreen />
  if (screen === 'status') return <StatusScreen />
  return <RatesScreen below={BELOW_RATES} />
}

function skip() {
  document.getElementById('main')?.focus()
}

/** The code of a one-time link, which boot.ts took out of the address; one that is pasted later comes from there. */
function takeLoginCode(): string | undefined {
  const [, pasted] = /^#login=([\w-]{1,100})$/.exec(location.hash) ?? []
  if (pasted !== undefined) history.replaceState(null, '', location.pathname)
  const holder = window as { cambistaLoginCode?: string }
  const code = pasted ?? holder.cambistaLoginCode
  delete holder.cambistaLoginCode
  return code
}
