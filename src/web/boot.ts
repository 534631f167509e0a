// Sets theme, language and the first picture before the first paint. Moves the code of a one-time link from the address
// into a variable for page.tsx. Later requests therefore never carry the code.

const root = document.documentElement
let hasSession = false
try {
  const theme = localStorage.getItem('cambista-theme')
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  const language = localStorage.getItem('cambista-language')
  root.lang = (language ?? navigator.language).startsWith('en') ? 'en' : 'es'
  hasSession = localStorage.getItem('cambista-page') !== null
} catch {
  root.lang = 'es' // the browser forbids storage; sign-in reports it
}

const [, code] = /^#login=([\w-]{1,100})$/.exec(location.hash) ?? []
if (code !== undefined) {
  history.replaceState(null, '', location.href.replace(/#.*/, ''))
  Object.assign(window, { cambistaLoginCode: code })
}

const isRates = !/^#(documents|status)/.test(location.hash)
const isDoor = !hasSession && (root.dataset.open === undefined || !isRates)
const isCard = isRates && !location.hash.startsWith('#rates/')
root.dataset.first = code === undefined && isDoor ? 'door' : code === undefined && isCard ? 'rates' : 'other'
