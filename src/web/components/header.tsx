import type { ComponentChildren } from 'preact'
import { bankHealthStatus } from '../api/bank-status.ts'
import { serverTime } from '../api/clock.ts'
import { isOffline } from '../api/connection.ts'
import type { Health, Series } from '../api/responses.ts'
import { session } from '../api/session.ts'
import type { Texts } from '../i18n/page.ts'
import { addDays, costaRicaDay } from '../model/days.ts'
import { encodeFragment, SCREENS } from '../model/fragment.ts'
import { IconButton } from './icon-button.tsx'
import { icons } from './icons.tsx'
import { useApi } from './use-api.ts'
import { chooseLanguage, chooseTheme, language, texts, theme, view } from './view.ts'

const HEALTH_EVERY_MS = 60_000
const STALE_DAYS = 2 // as of the central bank (src/providers/bccr)
const OPEN_SCREENS = ['rates'] as const

/** @param children menu of the session, or button to sign in */
export function Header({ children }: { children: ComponentChildren }) {
  const words = texts.value
  const current = session.value
  return (
    <header class="header">
      <div class="header-inside line">
        <a
          class="brand gap-10"
          aria-label="cambista"
          href={encodeFragment({ ...view.value, screen: 'rates' })}
        >
          {icons.mark}
          <span>cambista</span>
        </a>
        {(current.state === 'in' || current.state === 'open') && (
          <nav class="tabs flex gap-4" aria-label={words.sections}>
            {(current.state === 'in' ? SCREENS : OPEN_SCREENS).map((screen) => (
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
        <div class="header-tools line gap-4">
          {current.state === 'in' && current.key && <FreshnessBadge />}
          {current.state === 'open' && <OpenFreshnessBadge />}
          <Switches />
          {children}
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
        <span class="on-desk">{words.otherLanguage}</span>
        <span class="on-phone" aria-hidden="true">
          {other.toUpperCase()}
        </span>
        <span class="unseen on-phone">{words.otherLanguage}</span>
        <span class="unseen" lang={language.value}>
          , {words.changeLanguage}
        </span>
      </a>
      <IconButton
        label={isDark ? words.theme.light : words.theme.dark}
        onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? icons.sun : icons.moon}
      </IconButton>
    </>
  )
}

/** Link to the status screen that shows whether the data are fresh. */
function FreshnessBadge() {
  const words = texts.value
  const { value, failure } = useApi<Health>('/api/v1/health', HEALTH_EVERY_MS)
  const [kind, text] = isOffline.value
    ? (['bad', words.health.offline] as const)
    : failure
      ? (['bad', words.health.broken] as const)
      : healthPill(value, words.health)
  return (
    <a class={`pill ${kind}`} href="#status" title={words.screens.status}>
      {text}
    </a>
  )
}

function healthPill(health: Health | undefined, words: Texts['health']) {
  if (!health) return ['waiting', '…'] as const
  if (health.rates === 0) return ['waiting', words.unknown] as const
  return bankHealthStatus(health) === 'ok'
    ? (['good', words.fresh] as const)
    : (['warn', words.stale] as const)
}

/** Pill of an open network, which may not read the health of the server. The newest day decides, as it does there. */
function OpenFreshnessBadge() {
  const words = texts.value.health
  const { value } = useApi<readonly Series[]>('/api/v1/series?details=true&provider=bccr', HEALTH_EVERY_MS)
  const due = addDays(costaRicaDay(serverTime()), -STALE_DAYS)
  const days = value?.filter(isDollar).map(({ last_data_date }) => last_data_date ?? '')
  const [kind, text] = isOffline.value
    ? ['bad', words.offline]
    : !days
      ? ['waiting', '…']
      : days.every((day) => day === '')
        ? ['waiting', words.unknown]
        : days.every((day) => day >= due)
          ? ['good', words.fresh]
          : ['warn', words.stale]
  return <span class={`pill ${kind}`}>{text}</span>
}

function isDollar({ base_currency, quote_currency }: Series): boolean {
  return base_currency === 'USD' && quote_currency === 'CRC'
}
