import type { Health } from '../server/answers.ts'
import type { Failure } from '../server/ask.ts'
import { session } from '../server/session.ts'
import { signOut } from '../server/sign-in.ts'
import type { Texts } from '../texts/es.ts'
import { fragmentOf, SCREENS } from '../words/fragment.ts'
import { visibleText } from '../words/visible.ts'
import { useAnswer } from './answer.ts'
import { icons } from './icons.tsx'
import { chooseLanguage, chooseTheme, formats, language, texts, theme, view } from './view.ts'

const HEALTH_EVERY_MS = 60_000

export function Header({ onAdd }: { onAdd: (what: 'key' | 'token') => void }) {
  const words = texts.value
  const current = session.value
  return (
    <header class="header">
      <div class="header-inside">
        <a class="brand" href={fragmentOf({ ...view.value, screen: 'rates' })}>
          {icons.mark}
          <span>cambista</span>
        </a>
        {current.state === 'in' && (
          <nav class="tabs" aria-label={words.sections}>
            {SCREENS.map((screen) => (
              <a
                key={screen}
                href={fragmentOf({ ...view.value, screen })}
                aria-current={view.value.screen === screen ? 'page' : undefined}
              >
                {words.screens[screen]}
              </a>
            ))}
          </nav>
        )}
        <div class="header-tools">
          {current.state === 'in' && current.key && <Freshness />}
          <Switches />
          {current.state === 'in' && <SessionMenu onAdd={onAdd} />}
        </div>
      </div>
    </header>
  )
}

function Switches() {
  const words = texts.value
  const isDark = theme.value === 'dark'
  const other = language.value === 'es' ? 'en' : 'es'
  return (
    <>
      <button type="button" class="plain language" lang={other} onClick={() => chooseLanguage(other)}>
        <span class="long">{words.otherLanguage}</span>
        <span class="short">{other.toUpperCase()}</span>
        <span class="unseen">: {words.inOtherLanguage}</span>
      </button>
      <button
        type="button"
        class="plain round"
        aria-label={isDark ? words.theme.light : words.theme.dark}
        title={isDark ? words.theme.light : words.theme.dark}
        onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? icons.sun : icons.moon}
      </button>
    </>
  )
}

/** Whether the data are fresh, on every screen. */
function Freshness() {
  const words = texts.value.health
  const { value, failure } = useAnswer<Health>('/api/v1/health', HEALTH_EVERY_MS)
  const [kind, text] = stateOf(value, failure, words)
  return (
    <a class={`pill ${kind}`} href="#status" title={texts.value.screens.status}>
      {text}
    </a>
  )
}

function stateOf(health: Health | undefined, failure: Failure | undefined, words: Texts['health']) {
  if (failure) return ['bad', failure.kind === 'offline' ? words.offline : words.broken]
  if (!health) return ['waiting', '…']
  if (health.rates === 0) return ['waiting', words.unknown]
  return health.status === 'ok' ? ['good', words.fresh] : ['warn', words.stale]
}

function SessionMenu({ onAdd }: { onAdd: (what: 'key' | 'token') => void }) {
  const words = texts.value.session
  const current = session.value
  if (current.state !== 'in') return null
  const { key, token } = current
  const company = token?.company_id == null ? words.allCompanies : words.company(token.company_id)
  return (
    <details class="menu" onKeyDown={closesOnEscape} onFocusOut={closesWhenLeft}>
      <summary class="plain round" aria-label={words.menu} title={words.menu}>
        {icons.person}
      </summary>
      <div class="menu-inside">
        <dl>
          <dt>{words.key}</dt>
          <dd>{key ? visibleText(key.name) : <Adding text={words.addKey} onClick={() => onAdd('key')} />}</dd>
          <dt>{words.token}</dt>
          <dd>
            {token ? (
              visibleText(token.name)
            ) : (
              <Adding text={words.addToken} onClick={() => onAdd('token')} />
            )}
            {token && <small>{company}</small>}
            {token?.expires_at && <small>{words.expires(formats.value.day(token.expires_at))}</small>}
          </dd>
        </dl>
        <button type="button" class="button wide" onClick={() => void signOut()}>
          {words.leave}
        </button>
      </div>
    </details>
  )
}

function Adding({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {text}
    </button>
  )
}

function closesOnEscape(event: KeyboardEvent & { currentTarget: HTMLDetailsElement }) {
  if (event.key !== 'Escape') return
  event.currentTarget.open = false
  event.currentTarget.querySelector('summary')?.focus()
}

function closesWhenLeft(event: FocusEvent & { currentTarget: HTMLDetailsElement }) {
  const { relatedTarget, currentTarget } = event
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false
}
