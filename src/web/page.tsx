import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { isOffline } from './api/connection.ts'
import type { Failure } from './api/request.ts'
import { session, unendedSecret } from './api/session.ts'
import { endSession, enterOpenNetwork, resumeSession } from './api/sign-in.ts'
import { Button } from './components/button.tsx'
import { Header } from './components/header.tsx'
import { icons } from './components/icons.tsx'
import { lazyView } from './components/lazy-view.tsx'
import { FailureNotice } from './components/notice.tsx'
import { Letterhead } from './components/output/letterhead.tsx'
import { isTransient, oldestArrival, RETRY_MS, refreshCount } from './components/use-api.ts'
import { formats, texts, view } from './components/view.ts'
import { source } from './i18n/table-texts.ts'
import { RatesScreen } from './rates/rates-screen.tsx'
import { AddSecret, OneTimeLink, SignIn } from './session/lazy-doors.ts'
import { SessionMenu } from './session/session-menu.tsx'

const DocumentsScreen = lazyView(() => import('./documents/documents-screen.tsx'), 'DocumentsScreen')
const StatusScreen = lazyView(() => import('./status/status-screen.tsx'), 'StatusScreen')

export function Page() {
  const [code, setCode] = useState(takeLoginCode)
  const [missingSecret, setMissingSecret] = useState<'key' | 'token' | undefined>(undefined)
  const [isSigningIn, setSigningIn] = useState(false)
  const failure = useSession()
  const current = session.value
  const { state } = current
  useEffect(() => {
    const readCode = () => {
      const next = takeLoginCode()
      if (next !== undefined) setCode(next)
    }
    addEventListener('hashchange', readCode)
    return () => removeEventListener('hashchange', readCode)
  }, [])
  const leaveDoor = () => {
    setSigningIn(false)
    if (session.value.state === 'out') void enterOpenNetwork()
    if (session.value.state === 'open' && view.value.screen !== 'rates') location.hash = '#rates'
  }
  const isLoading = state === 'loading' && !failure
  useLayoutEffect(() => {
    if (!isLoading) document.getElementById('first')?.remove()
  }, [isLoading])
  // The first picture of the HTML stays until there is more.
  if (isLoading && document.getElementById('first')) return null
  const isOpenView = state === 'open' && !isSigningIn && view.value.screen === 'rates'
  const isDoor = state === 'out' || (state === 'open' && !isOpenView)
  return (
    <>
      {source.isInvented && <aside class="invented bold">{texts.value.invented}</aside>}
      <Button class="skip button" onClick={skip}>
        {texts.value.skip}
      </Button>
      <Header>
        {current.state === 'in' && <SessionMenu facts={current} onAdd={setMissingSecret} />}
        {state === 'open' && (
          <Button class="button sign-in" onClick={() => setSigningIn(true)}>
            {texts.value.session.title}
          </Button>
        )}
      </Header>
      <main id="main" tabIndex={-1} class={isOffline.value ? 'offline' : undefined}>
        <LostBanner />
        <UnendedSession />
        {state === 'loading' && (failure ? <UnknownSession failure={failure} /> : <Loading />)}
        {state !== 'loading' && code !== undefined && (
          <OneTimeLink key={code} code={code} onDone={() => setCode(undefined)} />
        )}
        {isDoor && code === undefined && <Door onCancel={leaveDoor} />}
        {isOpenView && code === undefined && (
          <p class="open-network quiet">{texts.value.session.openNetwork}</p>
        )}
        {(state === 'in' || isOpenView) && code === undefined && <Screen />}
      </main>
      {(state !== 'loading' || failure) && <Footer />}
      {missingSecret && state === 'in' && (
        <AddSecret kind={missingSecret} onDone={() => setMissingSecret(undefined)} />
      )}
    </>
  )
}

/** Loads the session, again after each transient failure. @returns the failure */
function useSession(): Failure | undefined {
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const refresh = refreshCount.value
  const { state } = session.value
  useEffect(() => {
    if (state !== 'loading') return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isCancelled = false
    void resumeSession().then((result) => {
      if (isCancelled) return
      setFailure(result)
      if (result && isTransient(result)) timer = setTimeout(() => setAttempt((count) => count + 1), RETRY_MS)
    })
    return () => {
      isCancelled = true
      clearTimeout(timer)
    }
  }, [refresh, state, attempt])
  return state === 'loading' ? failure : undefined
}

function UnknownSession({ failure }: { failure: Failure }) {
  return (
    <>
      <h1 class="unseen">cambista</h1>
      <FailureNotice failure={failure} />
    </>
  )
}

/** Warns of a session that the user left and the server has not ended. Tries again until it has. */
function UnendedSession() {
  const secret = unendedSecret.value
  useEffect(() => {
    if (secret === undefined) return
    const request = new AbortController()
    const timer = setInterval(() => void endSession(secret, request.signal), RETRY_MS)
    return () => {
      clearInterval(timer)
      request.abort()
    }
  }, [secret])
  if (secret === undefined) return null
  return (
    <p class="line banner lost" role="status">
      {icons.clock}
      <span>
        <strong>{texts.value.session.unended}</strong> {texts.value.session.unendedAgain}
      </span>
    </p>
  )
}

function Loading() {
  return <p class="loading">{texts.value.loading}</p>
}

function Screen() {
  const { screen } = view.value
  if (screen === 'documents') return <DocumentsScreen />
  return <Letterhead>{screen === 'status' ? <StatusScreen /> : <RatesScreen />}</Letterhead>
}

function Door({ onCancel }: { onCancel: () => void }) {
  return (
    <div class="door">
      <section class="card door-card" aria-labelledby="sign-in">
        <div class="door-mark">{icons.mark}</div>
        <h1 id="sign-in">{texts.value.session.title}</h1>
        <SignIn onCancel={onCancel} />
      </section>
    </div>
  )
}

function Footer() {
  const words = texts.value
  return (
    <footer class="footer flex quiet tiny full">
      <p>{source.isInvented ? words.inventedSource : words.manualNote}</p>
      <p>{words.zone}</p>
      <a href="docs">{words.reference}</a>
    </footer>
  )
}

function skip() {
  document.getElementById('main')?.focus()
}

/** Removes and returns the code of a one-time link: from the address, or as boot.ts stored it. */
function takeLoginCode(): string | undefined {
  const [, newCode] = /^#login=([\w-]{1,100})$/.exec(location.hash) ?? []
  if (newCode !== undefined) history.replaceState(null, '', location.href.replace(/#.*/, ''))
  const globals = window as { cambistaLoginCode?: string }
  const code = newCode ?? globals.cambistaLoginCode
  delete globals.cambistaLoginCode
  return code
}

/** Warns on every screen that the server is gone, and since when the values are known. */
function LostBanner() {
  const words = texts.value.failures
  if (!isOffline.value) return null
  const arrival = oldestArrival()
  return (
    <p class="line banner lost" role="status">
      {icons.offline}
      <span>
        <strong>{words.lost}</strong> {arrival !== undefined && words.lastShown(formats.value.time(arrival))}{' '}
        {words.again}
      </span>
    </p>
  )
}
