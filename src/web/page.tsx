import { useEffect, useState } from 'preact/hooks'
import type { Failure } from './api/request.ts'
import { session } from './api/session.ts'
import { resumeSession } from './api/sign-in.ts'
import { Header } from './components/header.tsx'
import { icons } from './components/icons.tsx'
import { lazyView } from './components/lazy-view.tsx'
import { FailureNotice } from './components/notice.tsx'
import { refreshCount } from './components/use-api.ts'
import { texts, view } from './components/view.ts'
import { RatesScreen } from './rates/rates-screen.tsx'
import { leave } from './session/leave.ts'
import { SecretForm } from './session/secret-form.tsx'

const AddSecret = lazyView(() => import('./small-parts.ts').then((file) => file.AddSecret))
const OneTimeLink = lazyView(() => import('./small-parts.ts').then((file) => file.OneTimeLink))
const DocumentsScreen = lazyView(() =>
  import('./documents/documents-screen.tsx').then((file) => file.DocumentsScreen),
)
const StatusScreen = lazyView(() => import('./status/status-screen.tsx').then((file) => file.StatusScreen))
const BELOW_RATES = {
  MonthEnds: lazyView(() => import('./rates/closes/month-ends.tsx').then((file) => file.MonthEnds)),
  ConvertList: lazyView(() => import('./rates/list/convert-list.tsx').then((file) => file.ConvertList)),
  Differential: lazyView(() =>
    import('./rates/differential/differential.tsx').then((file) => file.Differential),
  ),
  EmptyDatabase: lazyView(() => import('./small-parts.ts').then((file) => file.EmptyDatabase)),
  LeftOutNote: lazyView(() => import('./small-parts.ts').then((file) => file.LeftOutNote)),
  MissingDaysNote: lazyView(() => import('./small-parts.ts').then((file) => file.MissingDaysNote)),
  NeedsSecret: lazyView(() => import('./small-parts.ts').then((file) => file.NeedsSecret)),
  ExportAll: lazyView(() => import('./small-parts.ts').then((file) => file.ExportAll)),
}

export function Page() {
  const [code, setCode] = useState(takeLoginCode)
  const [missingSecret, setMissingSecret] = useState<'key' | 'token' | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const refresh = refreshCount.value
  const current = session.value
  useEffect(() => {
    if (session.value.state === 'loading') void resumeSession().then(setFailure)
  }, [refresh, current.state])
  useEffect(() => {
    const readCode = () => {
      const next = takeLoginCode()
      if (next !== undefined) setCode(next)
    }
    addEventListener('hashchange', readCode)
    return () => removeEventListener('hashchange', readCode)
  }, [])
  return (
    <>
      <button type="button" class="skip button" onClick={skip}>
        {texts.value.skip}
      </button>
      <Header onAdd={setMissingSecret} onLeave={() => void leave()} />
      <main id="main" tabIndex={-1}>
        {failure && current.state === 'loading' && (
          <>
            <h1 class="unseen">cambista</h1>
            <FailureNotice failure={failure} />
          </>
        )}
        {current.state !== 'loading' && code !== undefined && (
          <OneTimeLink code={code} onDone={() => setCode(undefined)} />
        )}
        {current.state === 'out' && code === undefined && <SignIn />}
        {current.state === 'in' && code === undefined && <Screen />}
      </main>
      {(current.state !== 'loading' || failure) && <Footer />}
      {missingSecret && current.state === 'in' && (
        <AddSecret kind={missingSecret} onDone={() => setMissingSecret(undefined)} />
      )}
    </>
  )
}

function Screen() {
  const { screen } = view.value
  if (screen === 'documents') return <DocumentsScreen />
  if (screen === 'status') return <StatusScreen />
  return <RatesScreen below={BELOW_RATES} />
}

function SignIn() {
  const words = texts.value.session
  const current = session.value
  return (
    <div class="door">
      <section class="card door-card" aria-labelledby="sign-in">
        <div class="door-mark">{icons.mark}</div>
        <h1 id="sign-in">{words.title}</h1>
        {current.state === 'out' && current.reason === 'ended' && (
          <p class="refusal" role="status">
            {words.ended}
          </p>
        )}
        <SecretForm button={words.enter} hint={words.hint} />
        <p class="quiet">{words.linkHint}</p>
      </section>
    </div>
  )
}

function Footer() {
  const words = texts.value
  return (
    <footer class="footer">
      <p>{words.manualNote}</p>
      <a href="/docs">{words.reference}</a>
    </footer>
  )
}

function skip() {
  document.getElementById('main')?.focus()
}

/** Removes and returns the code of a one-time link: from the address, or as boot.ts stored it. */
function takeLoginCode(): string | undefined {
  const [, newCode] = /^#login=([\w-]{1,100})$/.exec(location.hash) ?? []
  if (newCode !== undefined) history.replaceState(null, '', location.pathname)
  const globals = window as { cambistaLoginCode?: string }
  const code = newCode ?? globals.cambistaLoginCode
  delete globals.cambistaLoginCode
  return code
}
