import type { Failure } from '../api/request.ts'
import type { Health } from '../api/responses.ts'
import { session } from '../api/session.ts'
import type { Texts } from '../i18n/page.ts'
import { encodeFragment, SCREENS } from '../model/fragment.ts'
import { visibleText } from '../model/visible.ts'
import { icons } from './icons.tsx'
import { useApi } from './use-api.ts'
import { chooseLanguage, chooseTheme, formats, language, texts, theme, view } from './view.ts'

const HEALTH_EVERY_MS = 60_000

export function Header(props: { onAdd: (kind: 'key' | 'token') => void; onLeave: () => void }) {
  const words = texts.value
  const current = session.value
  return (
    <header class="header">
      <div class="header-inside">
        <a class="brand" aria-label="cambista" href={encodeFragment({ ...view.value, screen: 'rates' })}>
          {icons.mark}
          <span>cambista</span>
        </a>
        {current.state === 'in' && (
          <nav class="tabs" aria-label={words.sections}>
            {SCREENS.map((screen) => (
              <a
                key={screen}
                href={encodeFragment({ ...view.value, screen })}
                aria-current={view.value.screen === screen ? 'page' : undefined}
              >
                {words.screens[screen]}
              </a>
            ))}
          </nav>
        )}
        <div class="header-tools">
          {current.state === 'in' && current.key && <FreshnessBadge />}
          <Switches />
          {current.state === 'in' && <SessionMenu {...props} />}
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
      <a
        class="plain language"
        href={encodeFragment(view.value)}
        lang={other}
        onClick={(event) => {
          event.preventDefault()
          chooseLanguage(other)
        }}
      >
        <span class="long">{words.otherLanguage}</span>
        <span class="short" aria-hidden="true">
          {other.toUpperCase()}
        </span>
        <span class="unseen short">{words.otherLanguage}</span>
        <span class="unseen" lang={language.value}>
          , {words.changeLanguage}
        </span>
      </a>
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

/** Link to the status screen that shows whether the data are fresh. */
function FreshnessBadge() {
  const words = texts.value.health
  const { value, failure } = useApi<Health>('/api/v1/health', HEALTH_EVERY_MS)
  const [kind, text] = healthPill(value, failure, words)
  return (
    <a class={`pill ${kind}`} href="#status" title={texts.value.screens.status}>
      {text}
    </a>
  )
}

function healthPill(health: Health | undefined, failure: Failure | undefined, words: Texts['health']) {
  if (failure) return ['bad', failure.kind === 'offline' ? words.offline : words.broken]
  if (!health) return ['waiting', '…']
  if (health.rates === 0) return ['waiting', words.unknown]
  return health.status === 'ok' ? ['good', words.fresh] : ['warn', words.stale]
}

function SessionMenu({ onAdd, onLeave }: { onAdd: (kind: 'key' | 'token') => void; onLeave: () => void }) {
  const words = texts.value.session
  const current = session.value
  if (current.state !== 'in') return null
  const { key, token } = current
  const company = token?.company_id == null ? words.allCompanies : words.company(token.company_id)
  return (
    <details class="menu" onKeyDown={closeOnEscape} onFocusOut={closeOnBlur}>
      <summary class="plain round" aria-label={words.menu} title={words.menu}>
        {icons.person}
      </summary>
      <div class="menu-inside">
        <dl>
          <dt>{words.key}</dt>
          <dd>
            {key ? visibleText(key.name) : <AddButton text={words.addKey} onClick={() => onAdd('key')} />}
          </dd>
          <dt>{words.token}</dt>
          <dd>
            {token ? (
              visibleText(token.name)
            ) : (
              <AddButton text={words.addToken} onClick={() => onAdd('token')} />
            )}
            {token && <small>{company}</small>}
            {token?.expires_at && <small>{words.expires(formats.value.day(token.expires_at))}</small>}
          </dd>
        </dl>
        <button type="button" class="button wide" onClick={onLeave}>
          {words.leave}
        </button>
      </div>
    </details>
  )
}

function AddButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {text}
    </button>
  )
}

function closeOnEscape(event: KeyboardEvent & { currentTarget: HTMLDetailsElement }) {
  if (event.key !== 'Escape') return
  event.currentTarget.open = false
  event.currentTarget.querySelector('summary')?.focus()
}

function closeOnBlur(event: FocusEvent & { currentTarget: HTMLDetailsElement }) {
  const { relatedTarget, currentTarget } = event
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false
}
