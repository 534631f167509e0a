import { EN_RATES } from './en-rates.ts'
import type { Texts } from './es.ts'

export const EN: Texts = {
  screens: { rates: 'Exchange rates', documents: 'Documents', status: 'Status' },
  sections: 'Sections',
  skip: 'Skip to content',
  otherLanguage: 'Español',
  inOtherLanguage: 'mostrar la página en español',
  theme: { light: 'Use light colours', dark: 'Use dark colours' },
  sides: { compra: 'Buy', venta: 'Sell', referencia: 'Reference' },
  today: 'Today',
  reference: 'API reference',
  manualNote: 'cambista keeps and shows the values as the central bank publishes them.',

  session: {
    menu: 'Session',
    title: 'Sign in',
    secret: 'API key or token',
    hint: 'Paste the key that “cambista key create” printed (cbk_…) or a token for documents (cbt_…).',
    show: 'Show',
    hide: 'Hide',
    enter: 'Sign in',
    entering: 'Signing in…',
    linkHint: 'You can also open the one-time link that “cambista web --key NAME” prints.',
    wrong:
      'This key or token is not valid here. Check that it is complete; it may have expired or been revoked.',
    notASecret: 'A key begins with cbk_ and a token with cbt_. Paste all of it, without spaces.',
    tooMany: 'Too many failed attempts from this machine. Wait a minute and try again.',
    insecure:
      'The server does not let you sign in over plain HTTP from another machine. Open the page over HTTPS; “cambista cert create --host NAME” makes a certificate.',
    ended: 'The session has ended, or its key was revoked. Sign in again.',
    leave: 'Sign out',
    key: 'Key',
    token: 'Token',
    company: (id) => `company ${id}`,
    allCompanies: 'all companies',
    expires: (day) => `expires on ${day}`,
    addKey: 'Add a key',
    addToken: 'Add a token',
    add: 'Add',
    needsKey: 'Exchange rates and status need a key',
    needsKeyText: 'This session has only a token for documents. Add an API key (cbk_…).',
    needsToken: 'Documents need a token',
    needsTokenText:
      'This session has only a key. Add a token for documents (cbt_…), which “cambista token create” makes.',
    storage: 'The browser does not let the page keep its session: allow storage for this site.',
  },

  failures: {
    offline: 'There is no connection to the server',
    offlineText: 'The page tries again by itself.',
    lastShown: 'The last answer is shown.',
    busy: 'The server cannot answer at the moment',
    busyText: 'It is busy, or starting. The page tries again by itself.',
    tooMany: 'Too many requests a minute. Wait a moment.',
    forbidden: 'This token does not allow that',
    notFound: 'There are no data for this',
    invalid: 'The server does not accept these values',
    server: 'The server had an error',
    serverText: 'The log of the server says why.',
    retry: 'Try again',
    says: 'The server says:',
  },
  loading: 'Loading…',

  ...EN_RATES,

  close: 'Close',
  health: {
    offline: 'No connection',
    fresh: 'Up to date',
    stale: 'Behind',
    broken: 'Failing',
    unknown: 'No data',
  },
}
